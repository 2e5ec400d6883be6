import {
  BY_ID,
  type Facet,
  type FacetField,
  type FacetQuery,
  type Filter,
  type ListPage,
  type ListQuery,
  type Position,
  type RecordTable,
  type Value,
} from '../../../../application/ports/list-query.js';
import type { Logger } from '../../../../application/ports/logger.js';
import { hasOnlyIdFilters, idRange, isAscendingRead } from '../../../../application/records/block-scan.js';
import type { QueryBudget } from '../../../../application/records/lists.js';
import {
  matchesFilter,
  matchesUniqueValues,
  positionOf,
  valuesOf,
} from '../../../../application/records/query-semantics.js';
import type { StoredRecord } from '../../../../application/records/record-json.js';
import { searchedWords } from '../../../../application/search/tokenizer.js';
import type { Id, Versioned } from '../../../../domain/record.js';
import { BACKGROUND, type Task } from '../../../../shared/task-scheduler.js';
import { columnOf, scanOrder } from '../../sql/keyset.js';
import type { Reader, Sql } from '../connection/connection.js';
import type { SqliteDatabase } from '../connection/database.js';
import {
  comparedColumn,
  idsOfRange,
  indexRangesOf,
  isRange,
  narrowed,
  type Range,
  rangeCondition,
  rangeOf,
} from '../sql/filter.js';
import { firstPage, idsIn, idsOf, RecordReader } from '../sql/records.js';
import { allOf, boundOf, ID, indexedBy, sql } from '../sql/schema.js';
import { mayOvermatch, type WordQuery, WordSearch } from '../sql/words.js';
import { COLUMN_TUNING, ColumnIndex, type IndexView } from './column-index.js';
import { ColumnQuery, fieldsOfQuery, isBeyond, listOrder } from './column-query.js';
import { type Column, endOf, keyOf, MAX_COLUMN_ID } from './dictionary-column.js';
import { StatementLists } from './statements.js';

/** How many rows of an order are read at once to find one that did not change. */
const NEIGHBOURS = 64;

/** How often the index in memory is prepared anew if others change much meanwhile. */
const ATTEMPTS = 3;

/** Finds the next rows of a list, at most `count`, behind its position or the last record that was read. */
type NextRows = (
  from: Position | undefined,
  count: number,
) => {
  /** A statement of their ids, in the order of the list. */
  readonly ids: Sql;
  /** Whether its part of the list is over if there are fewer rows than were asked for. */
  readonly isLast: boolean;
};

/**
 * Reads lists, counts and facets, each in one of three ways:
 *
 * 1. A range of one index has exactly the list, in the order of its first key. Of words it has it block by block.
 * 2. The index in memory finds the records, in a snapshot that reads them (`column-index.ts`, `column-query.ts`).
 * 3. Statements on another thread serve everything else (`statements.ts`).
 */
export class ListReader<Fields> {
  private readonly records: RecordReader<Fields>;
  private readonly index: ColumnIndex;
  private readonly statements: StatementLists<Fields>;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
    private readonly budget: QueryBudget,
    logger?: Pick<Logger, 'error'>,
    tuning = COLUMN_TUNING,
  ) {
    this.index = new ColumnIndex(database, table, budget, logger, tuning);
    this.records = new RecordReader(table);
    this.statements = new StatementLists(database, table, budget, this.records);
  }

  async page(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    const page = await this.pageAsRead(query);
    return query.from?.side === 'before' ? { ...page, records: page.records.toReversed() } : page;
  }

  private async pageAsRead(query: ListQuery): Promise<ListPage<StoredRecord<Fields>>> {
    const { database, table } = this;
    const { filters, order } = query;
    const task = this.taskOf(query);
    const words = searchedWords(filters);
    if (words && order.length === 1 && filters.every(isOfBlocks) && !mayOvermatch(words))
      return this.byBlocks(query, { words, ids: idRange(query), descending: !isAscendingRead(query) });
    const scan = words ? undefined : indexScanOf(table, query);
    if (scan) {
      const found: StoredRecord<Fields>[] = [];
      return this.fill(found, query, (from, count) => nextRows(database, scan, from, count));
    }
    const keys = filters.find((filter) => matchesUniqueValues(table, filter));
    if (keys) return this.byKeys(query, keys);
    const page = await this.byIndex({ ...query, task }, async (found, reader, view) => {
      const [first] = order;
      const keyAt = (value: Value) => keyIn(reader, table, view, { field: first?.field ?? '' }, value);
      const { ids, changed } = await found.page(query, keyAt);
      return this.merged(reader, query, ids, changed as readonly StoredRecord<Fields>[]);
    });
    return page ?? this.statements.page({ ...query, task });
  }

  async count(filters: readonly Filter[], whose?: Task, distinct?: string): Promise<number> {
    const task = this.taskOf({ filters, task: whose });
    const counted = { filters, order: BY_ID, task };
    const count =
      distinct === undefined
        ? await this.byIndex(counted, (found) => found.count())
        : await this.byIndex(counted, (found) => found.countDistinct({ field: distinct }), [{ field: distinct }]);
    return count ?? this.statements.count(filters, task, distinct);
  }

  /** @throws AppError `query_too_expensive` */
  async facets(query: FacetQuery): Promise<readonly Facet[]> {
    const { filters, fields, distinct } = query;
    const task = this.taskOf(query);
    const isWhole = filters.length === 0 && distinct === undefined;
    const counted = { filters, order: isWhole ? [] : BY_ID, task };
    const shared = distinct === undefined ? [] : [{ field: distinct }];
    const facets = await this.byIndex(counted, (found) => found.facets(query), [...fields, ...shared]);
    return facets ?? this.statements.facets({ ...query, task });
  }

  /** A search that the index of words decides, beside bounds of the id alone, has no time limit. */
  private taskOf({ filters, task = BACKGROUND }: Pick<ListQuery, 'filters' | 'task'>): Task {
    const words = searchedWords(filters);
    const isUnlimited = words && hasOnlyIdFilters(filters) && !mayOvermatch(words);
    return isUnlimited ? task.unlimited() : task;
  }

  /**
   * Runs `use` with the index in memory, in a snapshot.
   * @param more fields whose columns are needed besides those of the query
   * @returns undefined if the index does not serve the query
   */
  private async byIndex<Result>(
    { filters, order, task }: Pick<ListQuery, 'filters' | 'order'> & { readonly task: Task },
    use: (found: ColumnQuery, reader: Reader, view: IndexView) => Promise<Result>,
    more: readonly FacetField[] = [],
  ): Promise<Result | undefined> {
    const { table, index } = this;
    const own = fieldsOfQuery(table, filters, order);
    const fields = own && [...own, ...more];
    for (let attempt = 0; fields && attempt < ATTEMPTS; attempt++) {
      if (!(await index.prepare(fields, task))) return undefined;
      const result = await this.database.inSnapshot(async (reader) => {
        const view = index.view(reader, fields);
        if (!view) return undefined;
        const time = this.budget.start(task);
        const words = searchedWords(filters);
        const search = words && { words, ids: idRange({ filters, order: BY_ID }), descending: false };
        const among = search && (await new WordSearch(reader, table, search).collect(time));
        if ((among?.at(-1) ?? 0) > MAX_COLUMN_ID) return { value: undefined };
        return { value: await use(new ColumnQuery(table, filters, order, view, time, among), reader, view) };
      }, task);
      if (result) return result.value;
    }
    return undefined;
  }

  /** Some values of a unique field lead to few records, which are compared with the filters. */
  private async byKeys(query: ListQuery, keys: Filter): Promise<ListPage<StoredRecord<Fields>>> {
    const { table, database } = this;
    const { filters, order, from, task = BACKGROUND } = query;
    const ids = indexRangesOf(table, [keys]).flatMap((indexRange) => idsOf(database, idsOfRange(indexRange)));
    const matching = (await this.records.all(database, ids, task)).filter(
      (record) =>
        filters.every((filter) => matchesFilter(table, record, filter)) &&
        valuesOf(record, order)[0] !== null &&
        isBeyond(record, order, from),
    );
    return firstPage(query, matching.sort(listOrder(query)));
  }

  /** In order of id no snapshot is needed: ids never move, so each block may be read at its own time. */
  private async byBlocks(query: ListQuery, words: WordQuery): Promise<ListPage<StoredRecord<Fields>>> {
    const search = new WordSearch(this.database, this.table, words);
    const found: StoredRecord<Fields>[] = [];
    for await (const block of search.blocks(this.budget.startUnlimited(query.task))) {
      const page = await this.fill(found, query, (from, count) => {
        const { low, high } = idRange({ filters: [], order: query.order, from });
        const rest = { low: Math.max(block.low, low), high: Math.min(block.high, high) };
        const { text, values } = search.matchingIdsSql(rest);
        return { ids: sql(text, ...values, count), isLast: true };
      });
      if (page.hasMore) return page;
    }
    return firstPage(query, found);
  }

  /** The first records of a page among those with some ids, and those that changed, each in the order of the list. */
  private async merged(
    reader: Reader,
    query: ListQuery,
    ids: readonly Id[],
    changed: readonly StoredRecord<Fields>[],
  ): Promise<ListPage<StoredRecord<Fields>>> {
    const known = await this.records.page(reader, ids, query);
    if (changed.length === 0) return known;
    const page = firstPage(query, [...known.records, ...changed].sort(listOrder(query)));
    return { ...page, hasMore: page.hasMore || known.hasMore };
  }

  /**
   * Reads the records of a part statement by statement, behind the last of those that were found.
   * @returns the page of all records that were found, in all parts
   */
  private async fill(
    found: StoredRecord<Fields>[],
    query: ListQuery,
    next: NextRows,
  ): Promise<ListPage<StoredRecord<Fields>>> {
    const { task = BACKGROUND, order, limit } = query;
    for (;;) {
      const last = found.at(-1);
      const from = last ? positionOf(last, order, query.from?.side ?? 'after') : boundOf(query);
      const count = Math.min(limit + 1 - found.length, this.records.batch);
      const { ids, isLast } = next(from, count);
      const batch = this.records.read(this.database, ids);
      found.push(...batch);
      const page = firstPage(query, found);
      if (page.hasMore || (isLast && batch.length < count)) return page;
      await task.yield();
    }
  }
}

/** Whether the words of blocks and a range of ids decide whether a record matches. */
function isOfBlocks(filter: Filter): boolean {
  return filter.operator === 'search' || (filter.field === 'id' && isRange(filter));
}

/**
 * The place of a value among the keys of a column. A column of an order has no values: then the table says which of the
 * records that did not change comes next.
 * @returns half a key less than the next one if the column does not have the value
 */
function keyIn(reader: Reader, table: RecordTable, view: IndexView, field: FacetField, value: Value): number {
  const column: Column = view.column(field);
  if (column.values) {
    const [key, end] = keyOf(column, value);
    return key < end ? key : key - 0.5;
  }
  const name = columnOf(field.field);
  const text = `SELECT group_concat(id), group_concat(${name} = ?1)
    FROM (SELECT id, ${name} FROM ${indexedBy(table, name)} WHERE ${name} >= ?1 ORDER BY 2, 1 LIMIT ?2 OFFSET ?3)`;
  for (let offset = 0; ; offset += NEIGHBOURS) {
    const found = reader.row<[string | null, string | null]>(sql(text, value, NEIGHBOURS, offset));
    const [next, equal] = [idsIn(found?.[0]), idsIn(found?.[1])];
    const at = next.findIndex((id) => !view.isChanged(id));
    if (at >= 0) return (column.keys[next[at] as Id] as number) - (equal[at] === 1 ? 0 : 0.5);
    if (next.length < NEIGHBOURS) return endOf(column) - 0.5;
  }
}

/** A part of one index that has exactly the records of a list, in the order of its values. Rows with the same value tie. */
interface IndexScan {
  /** The table and the index, or the table with the values of lists. */
  readonly source: string;
  readonly column: string;
  readonly descending: boolean;
  /** The order of ids among ties. The index has the order of the scan if both directions are the same. */
  readonly idDescending: boolean;
  /** The values of the column. */
  readonly range: Range;
  /** A condition on every row of the scan that the index serves. Only for scans by id. */
  readonly where?: Sql;
}

/** @returns undefined if no index has exactly the records of the list, in their order */
function indexScanOf(table: RecordTable, query: Pick<ListQuery, 'filters' | 'order' | 'from'>): IndexScan | undefined {
  const [first, second = first, ...more] = scanOrder(table, query);
  if (!first || !second || more.length > 0) return undefined;
  const { field, column, descending } = first;
  const isOwn = (filter: Filter) => isRange(filter) && comparedColumn(table, filter) === column;
  const own = query.filters.filter(isOwn);
  const [other, ...others] = query.filters.filter((filter) => !isOwn(filter));
  const spec = table.fields[field];
  // The index of a field that records may lack has only those that have a value, as has the list.
  const having: Filter[] = !spec || spec.required ? [] : [{ field, operator: 'exists', value: true }];
  const scan = { column, descending, idDescending: second.descending, range: rangeOf(table, [...own, ...having]) };
  if (!other) return { ...scan, source: indexedBy(table, column) };
  const [indexRange] = others.length === 0 && column === ID ? indexRangesOf(table, [other]) : [];
  return indexRange?.values === 1 ? { ...scan, source: indexRange.source, where: indexRange.where } : undefined;
}

/**
 * The rows behind a position: its other ties, and what lies beyond. Each part is one range of the index, and SQLite merges
 * them; `(value, id) > (?, ?)` would read all ties. If values and ids have opposite directions, it would read and sort all
 * ties of each value: so it gets the value of the last row, and sorts only what comes before its ties.
 */
function nextRows(reader: Reader, scan: IndexScan, from: Position | undefined, count: number): ReturnType<NextRows> {
  const { source, column, descending, idDescending, range, where } = scan;
  const [value, id] = (from?.values ?? []) as Value[];
  const isById = column === ID;
  const start = from && value !== undefined ? { value, inclusive: isById && from.inclusive } : undefined;
  const beyond = narrowed(range, descending, start);
  const last = descending === idDescending ? undefined : lastValue(reader, scan, beyond, count);
  const end = last === undefined ? undefined : { value: last, inclusive: false };
  const tied = (one: Value, ...more: Sql[]) => allOf([sql(`${column} = ?`, one), ...more]);
  const parts = [
    allOf([...(where ? [where] : []), rangeCondition(column, narrowed(beyond, descending, undefined, end))]),
    ...(last === undefined ? [] : [tied(last)]),
  ];
  if (start && !isById) {
    const behind = sql(`${ID} ${idDescending ? '<' : '>'}${from?.inclusive ? '=' : ''} ?`, Number(id));
    parts.push(tied(start.value, rangeCondition(column, range), behind));
  }
  const rows = parts.map(({ text }) => `SELECT ${ID}, ${column} FROM ${source} WHERE ${text}`);
  const order = `${isById ? '' : `2${descending ? ' DESC' : ''}, `}1${idDescending ? ' DESC' : ''}`;
  const values = parts.flatMap((part) => part.values);
  const ids = sql(`${rows.join(' UNION ALL ')} ORDER BY ${order} LIMIT ?`, ...values, count);
  return { ids, isLast: last === undefined };
}

/** The value of the row with this number in a range; undefined if there are fewer. */
function lastValue(reader: Reader, { source, column, descending }: IndexScan, range: Range, number: number) {
  const { text, values } = rangeCondition(column, range);
  const order = `${column}${descending ? ' DESC' : ''}`;
  const found = `SELECT ${column} FROM ${source} WHERE ${text} ORDER BY ${order} LIMIT 1 OFFSET ?`;
  return reader.row<[Value]>(sql(found, ...values, number - 1))?.[0];
}
