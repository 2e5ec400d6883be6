import type { QueryBudget, QueryTime } from '../../../../application/maintenance/query-budget.js';
import {
  BY_ID,
  type Facet,
  type FacetField,
  type FacetQuery,
  type Filter,
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
  type Position,
  type RecordTable,
  type SortOrder,
  type Value,
} from '../../../../application/ports/list-query.js';
import type { Logger } from '../../../../application/ports/logger.js';
import { matchesFilter, positionOf, valuesOf } from '../../../../application/records/query-semantics.js';
import type { StoredRecord } from '../../../../application/records/record-json.js';
import {
  hasOnlyIdFilters,
  type IdRange,
  idRange,
  isAscendingRead,
} from '../../../../application/search/id-range.js';
import type { Id, Versioned } from '../../../../domain/record.js';
import { BACKGROUND, type Task } from '../../../../shared/task-scheduler.js';
import type { Reader, Sql } from '../connection/connection.js';
import type { SqliteDatabase } from '../connection/database.js';
import { hasIndex, searchedWords, type WordQuery, WordSearch } from '../full-text/search.js';
import {
  boundOf,
  columnOf,
  idsIn,
  idsOf,
  indexedBy,
  type RecordTexts,
  recordsOf,
  selectRecords,
  sql,
} from '../sql/schema.js';
import { idsOfSeek, type Seek, seeksOf } from '../sql/seeks.js';
import { COLUMN_TUNING, ColumnIndex, type IndexView } from './column-index.js';
import { ColumnQuery, fieldsOfQuery, isBeyond, listOrder } from './column-query.js';
import { type Column, endOf, keyOf, MAX_COLUMN_ID } from './dictionary-column.js';
import { indexScanOf, type NextRows, nextRows } from './index-scan.js';
import { StatementLists } from './statements.js';

/** The most rows, and approximately the most bytes, that one statement reads. */
const MAX_BATCH_ROWS = 128;
const MAX_BATCH_BYTES = 262_144;
/** The most by which a batch grows from one statement to the next: large records may follow small ones. */
const MAX_GROWTH = 1.25;

/** How many rows of an order are read at once to find one that did not change. */
const NEIGHBOURS = 64;

/** How often the index in memory is prepared anew if others change much meanwhile. */
const ATTEMPTS = 3;

/**
 * Returns a statement of the ids of the next rows, at most `count`.
 * @param from the position of the list, or after the last record that was read
 */
type NextIds = (from: Position | undefined, count: number) => NextRows;

/**
 * Reads lists, counts and facets, each in one of three ways:
 *
 * 1. A range of one index has exactly the list, in its order (`index-scan.ts`). Of words it has it block by block.
 * 2. The index in memory finds the records, in a snapshot that reads them (`column-index.ts`, `column-query.ts`).
 * 3. Statements on another thread serve everything else (`statements.ts`).
 */
export class ListReader<Fields> {
  /** Learned from the size of the rows that were read last. */
  private batchRows = MAX_BATCH_ROWS;
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
    this.statements = new StatementLists(database, table, budget);
  }

  async page(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    const { database, table } = this;
    const { filters, order } = query;
    const task = this.taskOf(query);
    const words = searchedWords(filters);
    if (words && order.length === 1 && hasOnlyIdFilters(filters) && hasIndex(database, table, words))
      return this.byBlocks(query, { words, ids: idRange(query), descending: !isAscendingRead(query) });
    const scan = words ? undefined : indexScanOf(table, query);
    if (scan) {
      const page = new Page<Fields>(query);
      const hasMore = await this.fill(page, database, query, (from, count) =>
        nextRows(database, scan, from, count),
      );
      return inListOrder(query, page.records, hasMore);
    }
    const keys = seeksOf(table, filters).find(({ served }) => served.some((one) => isOfKeys(table, one)));
    if (keys) return this.byKeys(query, keys);
    const fields = fieldsOfQuery(table, filters, order);
    const page = await this.byIndex(fields, filters, order, task, async (found, reader, view) => {
      const [first] = order;
      const keyAt = (value: Value) => keyIn(reader, table, view, { field: first?.field ?? '' }, value);
      const { ids, changed } = await found.page(query, keyAt);
      return this.merged(reader, query, ids, changed as readonly StoredRecord<Fields>[]);
    });
    return page ?? this.statements.page({ ...query, task });
  }

  async count(filters: readonly Filter[], whose?: Task): Promise<number> {
    const task = this.taskOf({ filters, task: whose });
    const fields = fieldsOfQuery(this.table, filters, BY_ID);
    const count = await this.byIndex(fields, filters, BY_ID, task, (found) => found.count());
    return count ?? this.statements.count(filters, task);
  }

  /** @throws AppError `query_too_expensive` */
  async facets(query: FacetQuery): Promise<readonly Facet[]> {
    const { filters } = query;
    const task = this.taskOf(query);
    const order = filters.length === 0 ? [] : BY_ID;
    const filtered = fieldsOfQuery(this.table, filters, order);
    const fields = filtered && [...filtered, ...query.fields];
    const facets = await this.byIndex(fields, filters, order, task, (found) => found.facets(query));
    return facets ?? this.statements.facets({ ...query, task });
  }

  /** A search that the index of words decides, beside bounds of the id alone, has no time limit. */
  private taskOf({ filters, task = BACKGROUND }: Pick<ListQuery, 'filters' | 'task'>): Task {
    const words = searchedWords(filters);
    const isUnlimited = words && hasOnlyIdFilters(filters) && hasIndex(this.database, this.table, words);
    return isUnlimited ? task.unlimited() : task;
  }

  /**
   * Runs `use` with the index in memory, in a snapshot.
   * @param fields whose columns are needed; absent: it does not serve the query
   * @returns undefined if it does not
   */
  private async byIndex<Result>(
    fields: readonly FacetField[] | undefined,
    filters: readonly Filter[],
    order: SortOrder,
    task: Task,
    use: (found: ColumnQuery, reader: Reader, view: IndexView) => Promise<Result>,
  ): Promise<Result | undefined> {
    for (let attempt = 0; fields && attempt < ATTEMPTS; attempt++) {
      if (!(await this.index.prepare(fields, task))) return undefined;
      const result = await this.database.inSnapshot(async (reader) => {
        const view = this.index.view(reader, fields);
        if (!view) return undefined;
        const time = this.budget.start(task);
        const among = await this.idsOfWords(reader, filters, time);
        if ((among?.at(-1) ?? 0) > MAX_COLUMN_ID) return { value: undefined };
        const found = new ColumnQuery(this.table, filters, order, view, time, among);
        return { value: await use(found, reader, view) };
      }, task);
      if (result) return result.value;
    }
    return undefined;
  }

  /** The ids of the records that a search among the filters finds, in their order; undefined if there is none. */
  private async idsOfWords(
    reader: Reader,
    filters: readonly Filter[],
    time: QueryTime,
  ): Promise<readonly Id[] | undefined> {
    const words = searchedWords(filters);
    if (!words) return undefined;
    const ids = idRange({ filters, order: BY_ID });
    return new WordSearch(reader, this.table, { words, ids, descending: false }).collect(time);
  }

  /** Some values of a unique field lead to few records, which are compared with the filters. */
  private async byKeys(query: ListQuery, keys: Seek): Promise<ListPage<Versioned<Fields>>> {
    const { table } = this;
    const { filters, order, from } = query;
    const records = await this.records(idsOf(this.database, idsOfSeek(keys)));
    const matching = records.filter(
      (record) =>
        filters.every((filter) => matchesFilter(table, record, filter)) &&
        valuesOf(record, order)[0] !== null &&
        isBeyond(record, order, from),
    );
    const page = new Page<Fields>(query);
    const hasMore = page.isFullWith(matching.sort(listOrder(query)));
    return inListOrder(query, page.records, hasMore);
  }

  /** In order of id no snapshot is needed: ids never move, so each block may be read at its own time. */
  private async byBlocks(query: ListQuery, words: WordQuery): Promise<ListPage<Versioned<Fields>>> {
    const search = new WordSearch(this.database, this.table, words);
    const page = new Page<Fields>(query);
    for await (const block of search.blocks(this.budget.startUnlimited(query.task))) {
      const next: NextIds = (from, count) => {
        const { text, values } = search.matchingIdsSql(rangeBehind(block, words.descending, from));
        return { ids: sql(text, ...values, count), isLast: true };
      };
      if (await this.fill(page, this.database, query, next)) return inListOrder(query, page.records, true);
    }
    return inListOrder(query, page.records, false);
  }

  /** The first records of a page among those with some ids, and those that changed, each in the order of the list. */
  private async merged(
    reader: Reader,
    query: ListQuery,
    ids: readonly Id[],
    changed: readonly StoredRecord<Fields>[],
  ): Promise<ListPage<Versioned<Fields>>> {
    const known = new Page<Fields>(query);
    const isFull = await this.fill(known, reader, query, theseIds(ids));
    if (changed.length === 0) return inListOrder(query, known.records, isFull);
    const all = [...known.records, ...changed].sort(listOrder(query));
    // What follows the last of a full page is not known to come next.
    const last = known.records.at(-1);
    const page = new Page<Fields>(query);
    const hasMore = page.isFullWith(isFull && last ? all.slice(0, all.indexOf(last) + 1) : all);
    return inListOrder(query, page.records, hasMore || isFull);
  }

  /**
   * Reads the records of a part statement by statement, behind the last record of the page.
   * @returns whether the page is full and records follow
   */
  private async fill(page: Page<Fields>, reader: Reader, query: ListQuery, next: NextIds): Promise<boolean> {
    const { task = BACKGROUND } = query;
    for (;;) {
      const last = page.records.at(-1);
      const from = last ? positionOf(last, query.order, 'after') : boundOf(query);
      const count = Math.min(page.missing, this.batchRows);
      const { ids, isLast } = next(from, count);
      const batch = ids ? this.read(reader, ids) : [];
      if (page.isFullWith(batch)) return true;
      if (isLast && batch.length < count) return false;
      await task.yield();
    }
  }

  /** Returns the records with these ids that exist. If they are large, other work runs between some of them. */
  async records(ids: readonly Id[]): Promise<StoredRecord<Fields>[]> {
    const next = theseIds(ids);
    const found: StoredRecord<Fields>[] = [];
    for (let left = ids.length; left > 0; ) {
      const count = this.batchRows;
      const { ids: some } = next(undefined, count);
      if (some) found.push(...this.read(this.database, some));
      left -= count;
      if (left > 0) await BACKGROUND.yield();
    }
    return found;
  }

  private read(reader: Reader, ids: Sql): StoredRecord<Fields>[] {
    const texts = reader.read(
      selectRecords(this.table, ids.text),
      (statement) => statement.get([...ids.values]) as RecordTexts,
    );
    const records = recordsOf<Fields>(texts);
    if (records.length > 0) {
      const fitting = Math.floor((MAX_BATCH_BYTES * records.length) / (texts[1]?.length ?? 0));
      const next = Math.min(MAX_BATCH_ROWS, fitting, Math.ceil(this.batchRows * MAX_GROWTH));
      this.batchRows = Math.max(1, next);
    }
    return records;
  }
}

/** Whether a filter asks for some values of a field in which no two records share one. */
function isOfKeys({ fields }: RecordTable, { field, operator }: Filter): boolean {
  return (field === 'id' || fields[field]?.unique === true) && (operator === 'eq' || operator === 'in');
}

/** Takes records until the page has its number of records or of bytes. */
class Page<Fields> {
  readonly records: StoredRecord<Fields>[] = [];
  private bytes = 0;

  constructor(private readonly query: ListQuery) {}

  /** The number of records that complete the page, and one more. */
  get missing(): number {
    return this.query.limit + 1 - this.records.length;
  }

  /** @returns whether the page is full and more records follow */
  isFullWith(batch: readonly StoredRecord<Fields>[]): boolean {
    const { limit, bytes: maxBytes = MAX_PAGE_BYTES } = this.query;
    for (const record of batch) {
      if (this.records.length === limit || this.bytes >= maxBytes) return true;
      this.records.push(record);
      this.bytes += record.fieldsBytes;
    }
    return false;
  }
}

function theseIds(ids: readonly Id[]): NextIds {
  const rest = [...ids];
  return (_, count) => {
    const next = JSON.stringify(rest.splice(0, count));
    return { ids: sql('SELECT value AS id FROM json_each(?)', next), isLast: true };
  };
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
    const [ids, equal] = reader.read(
      text,
      (statement) => statement.get([value, NEIGHBOURS, offset]) as [string | null, string | null],
    );
    const next = idsIn(ids);
    const at = next.findIndex((id) => !view.isChanged(id));
    if (at >= 0) return (column.keys[next[at] as Id] as number) - (idsIn(equal)[at] === 1 ? 0 : 0.5);
    if (next.length < NEIGHBOURS) return endOf(column) - 0.5;
  }
}

/** The ids of a range that a list by id has not passed. */
function rangeBehind({ low, high }: IdRange, descending: boolean, from: Position | undefined): IdRange {
  if (!from) return { low, high };
  const [id, step] = [Number(from.values[0]), from.inclusive ? 0 : 1];
  return descending ? { low, high: Math.min(high, id - step) } : { low: Math.max(low, id + step), high };
}

function inListOrder<Item>({ from }: ListQuery, records: Item[], hasMore: boolean): ListPage<Item> {
  return { records: from?.side === 'before' ? records.reverse() : records, hasMore };
}
