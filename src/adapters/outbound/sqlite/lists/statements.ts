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
import { idRange } from '../../../../application/records/block-scan.js';
import { FacetCounter } from '../../../../application/records/facets.js';
import type { QueryBudget } from '../../../../application/records/lists.js';
import { specOf } from '../../../../application/records/query-semantics.js';
import type { StoredRecord } from '../../../../application/records/record-json.js';
import { searchedWords } from '../../../../application/search/tokenizer.js';
import type { Id } from '../../../../domain/record.js';
import { BACKGROUND, type Task } from '../../../../shared/task-scheduler.js';
import { columnOf, orderBy, type ScanKey, scanOrder, valuesTable } from '../../sql/keyset.js';
import type { SqliteDatabase } from '../connection/database.js';
import type { ThreadReader } from '../connection/readers.js';
import {
  type Bound,
  conditionsOf,
  type IndexRange,
  idsOfRange,
  indexRangesOf,
  narrowed,
  orderRange,
  pathOf,
  rangeCondition,
  rangeOfPrefix,
} from '../sql/filter.js';
import { idsIn, type RecordReader } from '../sql/records.js';
import {
  allOf,
  anyOf,
  attributeName,
  beyondPosition,
  boundOf,
  ID,
  indexedBy,
  isAmong,
  ofField,
  type Sql,
  sql,
  storedValue,
} from '../sql/schema.js';
import { WordSearch } from '../sql/words.js';

/** Rows of an index that are read and sorted at once. If they are more, the index of the order is read. */
const SMALL_RANGE = 1_000;
/** A count reads the rows of a filter's index if they are at most this part of the table; else it reads the table. */
const PART = 4;
/** The most filters whose rows are counted to find the smallest index. */
const MAX_COUNTED = 8;

/** The records that match some filters, and how indexes lead to them. */
interface Matches {
  readonly table: RecordTable;
  readonly filters: readonly Filter[];
  readonly indexRanges: readonly IndexRange[];
  /** Absent: the index of each filter has many rows. */
  readonly smallest?: IndexRange;
  /** The number of its rows. */
  readonly size: number;
}

/**
 * Rows of the table, as they follow `FROM`.
 * @param drivingIndex absent: all rows in the order of the column
 * @param more conditions besides those of the filters
 */
function rowsOf(matches: Matches, drivingIndex = matches.smallest, more: readonly Sql[] = [], column = ID): Sql {
  const { table, filters } = matches;
  const { source, where, coveredFilters, ...range } = drivingIndex ?? orderRange(table, column, filters);
  const conditions = [...others(matches, coveredFilters), ...more];
  return range.column === undefined
    ? rowsIn(indexedBy(table, ID), [isAmong(source, where), ...conditions])
    : rowsIn(source, [where, ...conditions]);
}

/** Ids of the records, in the order of a range of another table. */
function streamed(matches: Matches, { source, where, coveredFilters }: IndexRange, more: readonly Sql[]): Sql {
  const { name } = matches.table;
  const own = allOf([where, ...more]);
  const record = allOf([sql(`${name}.id = own.id`), ...others(matches, coveredFilters)]);
  const text = `(SELECT id FROM ${source} WHERE ${own.text}) AS own`;
  return sql(`${text} WHERE EXISTS (SELECT 1 FROM ${name} WHERE ${record.text})`, ...own.values, ...record.values);
}

/** What a range of an index does not decide. */
function others({ table, filters, indexRanges }: Matches, coveredFilters: readonly Filter[]): Sql[] {
  const residual = filters.filter((filter) => !coveredFilters.includes(filter));
  return conditionsOf(
    table,
    residual,
    indexRanges.filter((indexRange) => indexRange.coveredFilters !== coveredFilters),
  );
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
    private readonly smallRange = SMALL_RANGE,
  ) {}

  /**
   * @returns the page in the order in which it is read
   * @throws AppError `query_too_expensive`
   */
  page(query: ListQuery): Promise<ListPage<StoredRecord<Fields>>> {
    return this.onThread(query.task, async (reader) => {
      const matches = await this.match(reader, query, this.smallRange);
      const { text, values } = pageIds(matches, query);
      const row = await reader.row<[string | null]>(sql(`SELECT group_concat(id) FROM (${text})`, ...values));
      return this.records.page(reader, idsIn(row?.[0]), query);
    });
  }

  /** @throws AppError `query_too_expensive` */
  count(filters: readonly Filter[], task?: Task, distinct?: string): Promise<number> {
    const all = { filters, order: BY_ID, limit: Number.POSITIVE_INFINITY, task };
    return this.onThread(task, async (reader) => {
      const matches = await this.match(reader, all, await this.part(reader));
      const whole = matches.indexRanges.find(({ coveredFilters }) => coveredFilters.length === filters.length);
      const { text, values } = filters.length === 0 ? sql(this.table.name) : rowsOf(matches, matches.smallest ?? whole);
      const row = await reader.row<[number]>(sql(`SELECT ${countOf(this.table, distinct)} FROM ${text}`, ...values));
      return row?.[0] ?? 0;
    });
  }

  /** @throws AppError `query_too_expensive` */
  facets(query: FacetQuery): Promise<readonly Facet[]> {
    const all = { ...query, order: BY_ID, limit: Number.POSITIVE_INFINITY };
    return this.onThread(query.task, async (reader) => {
      const matches = await this.match(reader, all, await this.part(reader));
      if (matches.size <= this.smallRange) return facetsOfRecords(reader, matches, query);
      const facets: Facet[] = [];
      for (const field of query.fields) facets.push(await facetOf(reader, matches, query, field));
      return facets;
    });
  }

  private onThread<Result>(task = BACKGROUND, work: (reader: ThreadReader) => Promise<Result>) {
    return this.database.onThread(work, task, this.budget.timeoutMs);
  }

  /** The most rows of an index that are read for a count. */
  private async part(reader: ThreadReader): Promise<number> {
    const row = await reader.row<[Id | null]>(sql(`SELECT max(id) FROM ${this.table.name}`));
    return Math.max(this.smallRange, Math.floor((row?.[0] ?? 0) / PART));
  }

  /** @param most the most rows for which the index of a filter is read */
  private async match(reader: ThreadReader, query: ListQuery, most: number): Promise<Matches> {
    const { table } = this;
    const { filters } = query;
    const found = await this.search(reader, query);
    const indexRanges = [...(found ? [searchRange(filters, found)] : []), ...indexRangesOf(table, filters)];
    const matches = { table, filters, indexRanges, size: Number.POSITIVE_INFINITY };
    if (indexRanges.length === 0) return matches;
    const counts = indexRanges.slice(0, MAX_COUNTED).map((indexRange) => {
      const { text, values } = idsOfRange(indexRange);
      return sql(`(SELECT count(*) FROM (${text} LIMIT ?))`, ...values, most + 1);
    });
    const columns = counts.map(({ text }) => text).join(', ');
    const sizes = await reader.row<number[]>(sql(`SELECT ${columns}`, ...counts.flatMap(({ values }) => values)));
    const size = Math.min(...(sizes ?? []));
    const smallest = indexRanges[sizes?.indexOf(size) ?? -1];
    return smallest && size <= most ? { ...matches, smallest, size } : matches;
  }

  /** The ids of the records with the words of all searches. */
  private async search(reader: ThreadReader, { filters, task }: ListQuery): Promise<readonly Id[] | undefined> {
    const words = searchedWords(filters);
    if (!words) return undefined;
    const search = { words, ids: idRange({ filters, order: BY_ID }), descending: false };
    return new WordSearch(reader, this.table, search).collect(this.budget.start(task));
  }
}

/**
 * The term of the number of rows, of which those with one value in a field count once. Texts differ from all ids.
 * @param isOfValues whether the rows are those of {@link valuesTable}
 */
function countOf(table: RecordTable, distinct: string | undefined, isOfValues = false): string {
  if (distinct === undefined) return 'count(*)';
  specOf(table, distinct);
  const { name } = table;
  const own = `coalesce(${columnOf(distinct)}, ${name}.${ID})`;
  const term = isOfValues ? `(SELECT ${own} FROM ${name} WHERE ${name}.${ID} = ${valuesTable(name)}.${ID})` : own;
  return `count(DISTINCT ${term})`;
}

/** @param ids of the records that have the words of all searches */
function searchRange(filters: readonly Filter[], ids: readonly Id[]): IndexRange {
  const coveredFilters = filters.filter(({ operator }) => operator === 'search');
  const where = sql('ids = ?', JSON.stringify(ids));
  return { source: '(SELECT value AS id, json AS ids FROM json_each)', where, coveredFilters };
}

/** A statement of the ids of a page, and one more, in the order in which it is read. */
function pageIds(matches: Matches, query: ListQuery): Sql {
  const { indexRanges, smallest } = matches;
  const order = scanOrder(matches.table, query);
  const isById = order.length === 1;
  const drivingIndex = smallest ?? (isById ? indexRanges.find(({ values }) => values === 1) : undefined);
  const [position, start] = positionOf(query, order);
  // The rows of one value are in the order of ids.
  const isOrdered = isById && drivingIndex?.values === 1;
  const rows = !drivingIndex
    ? rowsOf(matches, undefined, [...start, ...position], order[0]?.column)
    : isOrdered && drivingIndex.column === undefined
      ? streamed(matches, drivingIndex, start)
      : rowsOf(matches, drivingIndex, isOrdered ? start : position);
  return sql(`SELECT id FROM ${rows.text} ORDER BY ${orderBy(order)} LIMIT ?`, ...rows.values, query.limit + 1);
}

/** The conditions on rows beyond the position: those on each row, and the range of the index of the order. */
function positionOf(query: ListQuery, order: readonly ScanKey[]): [Sql[], Sql[]] {
  const from = boundOf(query);
  const [first] = order;
  const value = from?.values[0];
  if (!from || !first || value === undefined) return [[], []];
  const start: Bound | undefined =
    value === null ? undefined : { value, inclusive: order.length > 1 || from.inclusive };
  return [[beyondPosition(order, from)], [rangeCondition(first.column, narrowed({}, first.descending, start))]];
}

/** Counts the values of few records. As JSON, numbers are exact. */
async function facetsOfRecords(reader: ThreadReader, matches: Matches, query: FacetQuery): Promise<readonly Facet[]> {
  const { text, values } = rowsOf(matches);
  const paths = query.fields.map(({ field, key }) => (key === undefined ? `$.${field}` : pathOf(key)));
  if (query.distinct !== undefined) paths.push(`$.${query.distinct}`);
  const row = await reader.row<[string | null]>(
    sql(
      `SELECT group_concat(json_array(${paths.map(() => 'fields -> ?').join(', ')})) FROM ${text}`,
      ...paths,
      ...values,
    ),
  );
  const counter = new FacetCounter(query);
  for (const record of JSON.parse(`[${row?.[0] ?? ''}]`) as (FacetValue | FacetValue[] | null)[][]) {
    const shared = (record[query.fields.length] ?? undefined) as FacetValue | undefined;
    for (const [at, own] of record.slice(0, query.fields.length).entries())
      if (own !== null) counter.addValues(at, Array.isArray(own) ? own : [own], shared);
  }
  return counter.facets();
}

/** The order of values: texts, numbers, booleans. SQLite has the numbers first. */
const RANK = "CASE typeof(value) WHEN 'text' THEN 0 WHEN 'blob' THEN 2 ELSE 1 END";

/** Counts the values of one field, by its index if those of the filters have many rows. */
async function facetOf(reader: ThreadReader, matches: Matches, query: FacetQuery, field: FacetField): Promise<Facet> {
  const { limit, after, distinct } = query;
  const { key } = field;
  const [value, rows] = valuesOf(matches, query, field);
  const count = countOf(matches.table, distinct, value === 'value');
  const behind = after ? isBehind(after) : sql('TRUE');
  // As JSON, numbers and booleans are exact.
  const attribute = `json((SELECT fields -> ? FROM ${matches.table.name} WHERE id = any_id))`;
  const row = await reader.row<[string]>(
    sql(
      `SELECT json_group_array(json_array(${key === undefined ? 'value' : attribute}, count)) FROM (
        SELECT * FROM (SELECT ${value} AS value, ${count} AS count, min(id) AS any_id
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
function valuesOf(matches: Matches, { prefix }: Pick<FacetQuery, 'prefix'>, { field, key }: FacetField): [string, Sql] {
  const { table, filters, smallest } = matches;
  if (key === undefined && !table.fields[field]?.isList) {
    const column = columnOf(field);
    const term = smallest ? `+${column}` : column;
    const conditions = [sql(`${term} IS NOT NULL`), ...begins(term, prefix)];
    return [column, rowsOf(matches, smallest, conditions, column)];
  }
  const conditions = [ofField(key === undefined ? field : attributeName(field, key)), ...begins('value', prefix)];
  if (filters.length > 0) {
    const { text, values } = rowsOf(matches);
    conditions.push(sql(`+id IN (SELECT id FROM ${text})`, ...values));
  }
  return ['value', rowsIn(valuesTable(table.name), conditions)];
}

/** The condition that a value is a text that begins so. */
function begins(term: string, prefix: string | undefined): Sql[] {
  return prefix === undefined ? [] : [rangeCondition(term, rangeOfPrefix(prefix)), sql(`typeof(${term}) = 'text'`)];
}

/** The condition that a value comes behind a place of the facet. */
function isBehind({ value, count }: FacetCount): Sql {
  const rank = typeof value === 'string' ? 0 : typeof value === 'number' ? 1 : 2;
  return anyOf([
    sql('count < ?', count),
    sql(`count = ? AND (${RANK}, value) > (?, ?)`, count, rank, storedValue(value)),
  ]);
}
