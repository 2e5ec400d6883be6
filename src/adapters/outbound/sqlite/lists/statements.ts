import type { QueryBudget } from '../../../../application/maintenance/query-budget.js';
import {
  BY_ID,
  type Facet,
  type FacetCount,
  type FacetField,
  type FacetQuery,
  type FacetValue,
  type Filter,
  type ListPage,
  type ListQuery,
  type RecordTable,
} from '../../../../application/ports/list-query.js';
import { FacetCounter } from '../../../../application/records/facets.js';
import type { StoredRecord } from '../../../../application/records/record-json.js';
import { idRange, isAscendingRead } from '../../../../application/search/id-range.js';
import type { Id } from '../../../../domain/record.js';
import { BACKGROUND, type Task } from '../../../../shared/task-scheduler.js';
import { orderBy, type ScanKey, scanOrder } from '../../sql/keyset.js';
import type { SqliteDatabase } from '../connection/database.js';
import type { ThreadReader } from '../connection/readers.js';
import { searchedWords, WordSearch } from '../full-text/search.js';
import {
  type Bound,
  conditionsOf,
  idsOfSeek,
  isRange,
  narrowed,
  orderSeek,
  pathOf,
  rangeCondition,
  rangeOfPrefix,
  type Seek,
  seeksOf,
} from '../sql/filter.js';
import { idsIn, type RecordReader } from '../sql/records.js';
import {
  allOf,
  anyOf,
  attributeName,
  beyondPosition,
  boundOf,
  columnOf,
  ID,
  indexedBy,
  isAmong,
  ofField,
  type Sql,
  sql,
  storedValue,
  valuesTable,
} from '../sql/schema.js';

/** Rows of an index that are read and sorted at once. If they are more, the index of the order is read. */
const FEW = 1_000;
/** A count reads the rows of a filter's index if they are at most this part of the table; else it reads the table. */
const PART = 4;
/** The most filters whose rows are counted to find the smallest index. */
const MAX_COUNTED = 8;

/** The records that match some filters. Its methods return what follows `FROM` in a statement that reads them. */
class Matches {
  constructor(
    readonly table: RecordTable,
    readonly filters: readonly Filter[],
    readonly seeks: readonly Seek[],
    /** Absent: the index of each filter has many rows. */
    readonly smallest?: Seek | undefined,
    /** The number of its rows. */
    readonly size = Number.POSITIVE_INFINITY,
  ) {}

  /** Rows of the table: by one index; absent: by the smallest if it has few, else all in the order of a column. */
  rows(driver = this.smallest, more: readonly Sql[] = [], column = ID): Sql {
    const seek = driver ?? orderSeek(this.table, column, this.filters);
    const { source, found } = seek;
    const conditions = [...this.others(seek), ...more];
    return seek.column === undefined
      ? rowsIn(indexedBy(this.table, ID), [isAmong(source, found), ...conditions])
      : rowsIn(source, [found, ...conditions]);
  }

  /** Rows of an index of another table as they come. */
  streamed(driver: Seek, more: readonly Sql[] = []): Sql {
    const others = this.others(driver);
    const { text, values } = idsOfSeek({ ...driver, found: allOf([driver.found, ...more]) });
    const own = sql(`(${text}) AS own`, ...values);
    if (others.length === 0) return own;
    const { name } = this.table;
    const record = allOf([sql(`${name}.id = own.id`), ...others]);
    const exists = `${own.text} WHERE EXISTS (SELECT 1 FROM ${name} WHERE ${record.text})`;
    return sql(exists, ...own.values, ...record.values);
  }

  /** What a seek does not decide. */
  private others({ served }: Pick<Seek, 'served'>): Sql[] {
    const rest = this.filters.filter((filter) => !served.includes(filter));
    return conditionsOf(
      this.table,
      rest,
      this.seeks.filter((seek) => seek.served !== served),
    );
  }
}

function rowsIn(source: string, conditions: readonly Sql[]): Sql {
  const { text, values } = allOf(conditions);
  return sql(`${source} WHERE ${text}`, ...values);
}

/**
 * Lists, counts and facets by statements that return one row, on another thread. All statements of one call read one
 * snapshot. SQLite knows nothing of how often values occur, so each statement names its index: that of a filter with few
 * rows, which are sorted; else that of the order.
 */
export class StatementLists<Fields> {
  constructor(
    private readonly database: Pick<SqliteDatabase, 'onThread'>,
    private readonly table: RecordTable,
    private readonly budget: QueryBudget,
    private readonly records: RecordReader<Fields>,
    private readonly few = FEW,
  ) {}

  /**
   * @returns the page in the order in which it is read
   * @throws AppError `query_too_expensive`
   */
  page(query: ListQuery): Promise<ListPage<StoredRecord<Fields>>> {
    return this.onThread(query.task, async (reader) => {
      const matches = await this.match(reader, query, sql('?', this.few + 1));
      const { text, values } = pageIds(matches, query);
      const row = await reader.row<[string | null]>(sql(`SELECT group_concat(id) FROM (${text})`, ...values));
      return this.records.page(reader, idsIn(row?.[0]), query);
    });
  }

  /** @throws AppError `query_too_expensive` */
  count(filters: readonly Filter[], task?: Task): Promise<number> {
    const all = { filters, order: BY_ID, limit: Number.POSITIVE_INFINITY, task };
    return this.onThread(task, async (reader) => {
      const matches = await this.match(reader, all, partOf(this.table, this.few));
      const { seeks, smallest, size } = matches;
      const isWhole = ({ served }: Seek) => filters.every((filter) => served.includes(filter));
      const driver = smallest ?? seeks.find(isWhole);
      const isDistinct = driver && !driver.hasTwins;
      if (smallest && isDistinct && isWhole(smallest)) return size;
      const { text, values } =
        filters.length === 0
          ? sql(this.table.name)
          : isDistinct && driver.column === undefined
            ? matches.streamed(driver)
            : matches.rows(driver);
      const row = await reader.row<[number]>(sql(`SELECT count(*) FROM ${text}`, ...values));
      return row?.[0] ?? 0;
    });
  }

  /** @throws AppError `query_too_expensive` */
  facets(query: FacetQuery): Promise<readonly Facet[]> {
    const all = { ...query, order: BY_ID, limit: Number.POSITIVE_INFINITY };
    return this.onThread(query.task, async (reader) => {
      const matches = await this.match(reader, all, partOf(this.table, this.few));
      if (matches.size <= this.few) return facetsOfRecords(reader, matches, query);
      const facets: Facet[] = [];
      for (const field of query.fields) facets.push(await facetOf(reader, matches, query, field));
      return facets;
    });
  }

  private onThread<Result>(task = BACKGROUND, work: (reader: ThreadReader) => Promise<Result>) {
    return this.database.onThread(work, task, this.budget.timeoutMs);
  }

  /** @param limit the rows that are too many for the index of a filter */
  private async match(reader: ThreadReader, query: ListQuery, limit: Sql): Promise<Matches> {
    const { table } = this;
    const { filters } = query;
    const found = await this.search(reader, query);
    const seeks = [...(found ? [searchSeek(filters, found)] : []), ...seeksOf(table, filters)];
    if (seeks.length === 0) return new Matches(table, filters, seeks);
    const counts = seeks.slice(0, MAX_COUNTED).map((seek) => {
      const { text, values } = idsOfSeek(seek);
      return sql(`(SELECT count(*) FROM (${text} LIMIT ${limit.text}))`, ...values, ...limit.values);
    });
    const row = await reader.row<number[]>(
      sql(
        `SELECT ${[limit, ...counts].map(({ text }) => text).join(', ')}`,
        ...limit.values,
        ...counts.flatMap(({ values }) => values),
      ),
    );
    const [most = 0, ...sizes] = row ?? [];
    const least = Math.min(...sizes);
    return least < most
      ? new Matches(table, filters, seeks, seeks[sizes.indexOf(least)], least)
      : new Matches(table, filters, seeks);
  }

  /** The ids of the records with the words of all searches, or the first of them if nothing else decides. */
  private async search(reader: ThreadReader, query: ListQuery): Promise<readonly Id[] | undefined> {
    const { filters, order, limit, task } = query;
    const words = searchedWords(filters);
    if (!words) return undefined;
    const isAlone =
      order.length === 1 &&
      filters.every((filter) => filter.operator === 'search' || (filter.field === 'id' && isRange(filter)));
    const search = { words, ids: idRange(query), descending: !isAscendingRead(query) };
    const found = new WordSearch(reader, this.table, search);
    return found.collect(this.budget.start(task), isAlone ? limit + 1 : undefined);
  }
}

function partOf({ name }: RecordTable, few: number): Sql {
  return sql(`(SELECT max(?, coalesce(max(id), 0) / ${PART}) FROM ${name})`, few + 1);
}

/** @param ids of the records that have the words of all searches */
function searchSeek(filters: readonly Filter[], ids: readonly Id[]): Seek {
  const served = filters.filter(({ operator }) => operator === 'search');
  const found = sql('ids = ?', JSON.stringify(ids));
  return { source: '(SELECT value AS id, json AS ids FROM json_each)', found, served };
}

/** A statement of the ids of a page, and one more, in the order in which it is read. */
function pageIds(matches: Matches, query: ListQuery): Sql {
  const { seeks, smallest } = matches;
  const order = scanOrder(matches.table, query, columnOf);
  const isById = order.length === 1;
  const driver = smallest ?? (isById ? seeks.find(({ values }) => values === 1) : undefined);
  const [position, start] = positionOf(query, order);
  // The rows of one value are in the order of ids.
  const isOrdered = isById && driver?.values === 1;
  const rows = !driver
    ? matches.rows(undefined, [...start, ...position], order[0]?.column)
    : isOrdered && driver.column === undefined
      ? matches.streamed(driver, start)
      : matches.rows(driver, isOrdered ? start : position);
  return sql(
    `SELECT id FROM ${rows.text} ORDER BY ${orderBy(order)} LIMIT ?`,
    ...rows.values,
    query.limit + 1,
  );
}

/** The conditions on rows beyond the position: those on each row, and the range of the index of the order. */
function positionOf(query: ListQuery, order: readonly ScanKey[]): [Sql[], Sql[]] {
  const from = boundOf(query);
  const [first] = order;
  const value = from?.values[0];
  if (!from || !first || value === undefined) return [[], []];
  const start: Bound | undefined =
    value === null ? undefined : { value, inclusive: order.length > 1 || from.inclusive };
  return [
    [beyondPosition(order, from)],
    [rangeCondition(first.column, narrowed({}, first.descending, start))],
  ];
}

/** Counts the values of few records. As JSON, numbers are exact. */
async function facetsOfRecords(
  reader: ThreadReader,
  matches: Matches,
  query: FacetQuery,
): Promise<readonly Facet[]> {
  const { text, values } = matches.rows();
  const paths = query.fields.map(({ field, key }) => (key === undefined ? `$.${field}` : pathOf(key)));
  const row = await reader.row<[string | null]>(
    sql(
      `SELECT group_concat(json_array(${paths.map(() => 'fields -> ?').join(', ')})) FROM ${text}`,
      ...paths,
      ...values,
    ),
  );
  const counter = new FacetCounter(query);
  for (const record of JSON.parse(`[${row?.[0] ?? ''}]`) as (FacetValue | FacetValue[] | null)[][])
    for (const [at, own] of record.entries())
      if (own !== null) counter.addValues(at, Array.isArray(own) ? own : [own]);
  return counter.facets();
}

/** The order of values: texts, numbers, booleans. SQLite has the numbers first. */
const RANK = "CASE typeof(value) WHEN 'text' THEN 0 WHEN 'blob' THEN 2 ELSE 1 END";

/** Counts the values of one field, by its index if those of the filters have many rows. */
async function facetOf(
  reader: ThreadReader,
  matches: Matches,
  query: FacetQuery,
  field: FacetField,
): Promise<Facet> {
  const { limit, after } = query;
  const { key } = field;
  const [value, rows] = valuesOf(matches, query, field);
  const behind = after ? isBehind(after) : sql('TRUE');
  // As JSON, numbers and booleans are exact.
  const attribute = `json((SELECT fields -> ? FROM ${matches.table.name} WHERE id = any_id))`;
  const row = await reader.row<[string]>(
    sql(
      `SELECT json_group_array(json_array(${key === undefined ? 'value' : attribute}, count)) FROM (
        SELECT * FROM (SELECT ${value} AS value, count(*) AS count, min(id) AS any_id
          FROM ${rows.text} GROUP BY 1) WHERE ${behind.text}
        ORDER BY count DESC, ${RANK}, value LIMIT ?)`,
      ...(key === undefined ? [] : [pathOf(key)]),
      ...rows.values,
      ...behind.values,
      limit + 1,
    ),
  );
  const found = JSON.parse(row?.[0] ?? '[]') as [FacetValue, number][];
  const values = found.slice(0, limit).map(([value, count]) => ({ value, count }));
  return { values, hasMore: found.length > limit };
}

/** The term of a value, and the rows that have the values of a field in the records that match. */
function valuesOf(
  matches: Matches,
  { prefix }: Pick<FacetQuery, 'prefix'>,
  { field, key }: FacetField,
): [string, Sql] {
  const { table, filters, smallest } = matches;
  if (key === undefined && !table.fields[field]?.isList) {
    const column = columnOf(field);
    const term = smallest ? `+${column}` : column;
    const conditions = [sql(`${term} IS NOT NULL`), ...begins(term, prefix)];
    return [column, matches.rows(smallest, conditions, column)];
  }
  const conditions = [
    ofField(key === undefined ? field : attributeName(field, key)),
    ...begins('value', prefix),
  ];
  if (filters.length > 0) {
    const { text, values } = matches.rows();
    conditions.push(sql(`+id IN (SELECT id FROM ${text})`, ...values));
  }
  return ['value', rowsIn(valuesTable(table.name), conditions)];
}

/** The condition that a value is a text that begins so. */
function begins(term: string, prefix: string | undefined): Sql[] {
  return prefix === undefined
    ? []
    : [rangeCondition(term, rangeOfPrefix(prefix)), sql(`typeof(${term}) = 'text'`)];
}

/** The condition that a value comes behind a place of the facet. */
function isBehind({ value, count }: FacetCount): Sql {
  const rank = typeof value === 'string' ? 0 : typeof value === 'number' ? 1 : 2;
  return anyOf([
    sql('count < ?', count),
    sql(`count = ? AND (${RANK}, value) > (?, ?)`, count, rank, storedValue(value)),
  ]);
}
