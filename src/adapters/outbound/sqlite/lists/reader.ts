import type { QueryBudget, QueryTime } from '../../../../application/maintenance/query-budget.js';
import {
  type Filter,
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
  type Position,
  type RecordTable,
} from '../../../../application/ports/list-query.js';
import type { Logger } from '../../../../application/ports/logger.js';
import { positionOf } from '../../../../application/records/query-semantics.js';
import type { StoredRecord } from '../../../../application/records/record-json.js';
import type { IdRange } from '../../../../application/search/id-range.js';
import type { Id, Versioned } from '../../../../domain/record.js';
import { SERVICE_TURN, type Turn } from '../../../../shared/turn.js';
import type { Reader } from '../connection/connection.js';
import type { SqliteDatabase } from '../connection/database.js';
import { type WordQuery, WordSearch } from '../full-text/search.js';
import {
  boundOf,
  keysetCondition,
  orderBy,
  type RecordTexts,
  recordsOf,
  rowsThat,
  type ScanKey,
  type Sql,
  scanOrder,
  selectRecords,
  sql,
} from '../sql/schema.js';
import { NumberColumn, type Ordering, TextColumn } from './column.js';
import { ColumnMatches } from './column-matches.js';
import { rememberedShare } from './column-selection.js';
import { type ColumnCache, type ColumnField, type Columns, columnName } from './columns.js';
import { type NextRows, nextRows, startAt } from './index-scan.js';
import { type AtHand, type ColumnsPlan, LIST_TUNING, planCount, planList, type SortPlan } from './plan.js';
import { countByScan, countRows, type FoundPage, scanPage, timeOf } from './scan.js';
import { FACET_TUNING } from './value-rows.js';

/** The most rows, and approximately the most bytes, that one statement reads. */
const MAX_BATCH_ROWS = 128;
const MAX_BATCH_BYTES = 262_144;
/** The most by which a batch grows from one statement to the next: large records may follow small ones. */
const MAX_GROWTH = 1.25;

/**
 * Returns a statement of the ids of the next rows, at most `count`.
 * @param from the position of the list, or after the last record that was read
 */
type NextIds = (from: Position | undefined, count: number) => NextRows;

/** Columns that are asked for nothing. */
const NOTHING_AT_HAND: AtHand = { share: () => undefined, has: () => false };

/**
 * Runs the plans of lists and counts. Work of milliseconds waits for its turn among all long tasks.
 *
 *     query ──► plan ──► parts ──► statements ──► page
 *
 *     plan     serves                                          parts                           snapshot
 *     range    an index has exactly the list, in its order     one                             no
 *     columns  columns in memory remember its filters          the ids that they found         yes
 *     blocks   `q` by id, if the index of words knows all      each block of the index         no
 *     sort     a filter leaves few rows                        one, which SQLite sorts         no
 *     scan     everything else: each row is checked            the ids that the scan found     yes
 *
 * A scan of many rows is not done if columns in memory serve all its filters: they find what matches (`column-matches.ts`).
 * Else it goes slice by slice (`scan.ts`), each in a turn of its own. Its rows are:
 *
 *     without `q`                    those of the index of the order
 *     `q` by id                      those of each block of the index of words
 *     `q`, a filter leaves few       these, if their texts match
 *     `q` in another order           all ids that match are collected; if they are few, these are the rows, else those
 *                                    of the index of the order that are among them
 *
 * If records are large, a part takes several statements. Other requests run between two of them.
 */
export class ListReader<Fields> {
  /** Learned from the size of the rows that were read last. */
  private batchRows = MAX_BATCH_ROWS;
  private making: Promise<void> | undefined;
  private readonly atHand: AtHand = {
    share: (filters) => rememberedShare(this.table, filters, (field) => this.cache?.peek(field)),
    has: (ordered) => this.cache?.peek(ordered) !== undefined,
  };

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
    private readonly budget: QueryBudget,
    private readonly cache?: ColumnCache,
    private readonly tuning = LIST_TUNING,
    private readonly logger?: Pick<Logger, 'error'>,
  ) {}

  async page(query: ListQuery, atHand = this.atHand): Promise<ListPage<Versioned<Fields>>> {
    const { database, table, budget } = this;
    const { turn = SERVICE_TURN } = query;
    const plan = planList(database, table, query, this.tuning, atHand);
    if (plan.kind === 'columns') {
      const page = await database.inSnapshot((reader) => this.pageByColumns(reader, plan, query, turn), turn);
      return page ?? this.page(query, NOTHING_AT_HAND);
    }
    if (plan.kind === 'scan')
      return database.inSnapshot(async (reader) => {
        const { columns } = plan;
        const page = columns && (await this.pageByColumns(reader, columns, query, turn));
        if (page) return page;
        const { ids, hasMore } = await scanPage(reader, table, plan, query, budget);
        return this.readPart(reader, query, theseIds(ids), hasMore);
      }, turn);
    if (plan.kind === 'blocks') return this.readParts(database, query, this.blocks(plan.search, turn));
    if (plan.kind === 'sort') await turn.next();
    const next: NextIds =
      plan.kind === 'range'
        ? (from, count) => nextRows(database, plan.scan, from && startAt(from), count)
        : (from, count) => sortedRows(plan, scanOrder(query), from, count);
    return this.readPart(database, query, next);
  }

  /** In order of id no snapshot is needed: ids never move, so each block may be read at its own time. */
  private async *blocks(query: WordQuery, turn: Turn): AsyncGenerator<NextIds, void, void> {
    const search = new WordSearch(this.database, this.table, query);
    for await (const block of search.blocks(this.budget.startUnlimited(turn)))
      yield (from, count) => {
        const ids = search.matchingIdsSql({ ...block, ...rangeBehind(block, query.descending, from) });
        return { ids: ids && sql(ids.text, ...ids.values, count), isLast: true };
      };
  }

  async count(filters: readonly Filter[], turn = SERVICE_TURN, atHand = this.atHand): Promise<number> {
    const { database, table, budget } = this;
    const plan = planCount(database, table, filters, this.tuning, atHand);
    if (plan.kind === 'columns') {
      const count = await database.inSnapshot(
        (reader) => this.countByColumns(reader, plan, filters, turn),
        turn,
      );
      return count ?? this.count(filters, turn, NOTHING_AT_HAND);
    }
    if (plan.kind === 'scan')
      return database.inSnapshot(async (reader) => {
        const { columns } = plan;
        const byColumns = columns && (await this.countByColumns(reader, columns, filters, turn));
        return byColumns ?? countByScan(reader, table, plan, timeOf(plan, turn, budget));
      }, turn);
    await turn.next();
    return countRows(database, plan.source, plan.found, plan.checks);
  }

  /**
   * The columns that serve a plan, if all are in memory and lack few changes, and that of the order if it does. What is
   * missing is made afterwards, for later requests.
   * @param reader has read nothing from its snapshot yet
   */
  private async columnsOf(
    reader: Reader,
    { fields, ordered }: ColumnsPlan,
    turn: Turn,
  ): Promise<Columns | undefined> {
    if (!this.cache) return undefined;
    const all = ordered ? [...fields, ordered] : fields;
    const held = await this.cache.at(reader, all, turn, FACET_TUNING.fewChanges);
    if (all.some((field) => !held.has(columnName(field))))
      this.makeSoon(this.cache, ordered ? [fields, all] : [fields]);
    return fields.every((field) => held.has(columnName(field))) ? held : undefined;
  }

  private async countByColumns(
    reader: Reader,
    plan: ColumnsPlan,
    filters: readonly Filter[],
    turn: Turn,
  ): Promise<number | undefined> {
    const held = await this.columnsOf(reader, plan, turn);
    return held && new ColumnMatches(this.table, filters, held, this.budget.start(turn)).count();
  }

  private async pageByColumns(
    reader: Reader,
    plan: ColumnsPlan,
    query: ListQuery,
    turn: Turn,
  ): Promise<ListPage<Versioned<Fields>> | undefined> {
    const held = await this.columnsOf(reader, plan, turn);
    const found = held && (await this.findByColumns(reader, plan, query, held, this.budget.start(turn)));
    return found && this.readPart(reader, query, theseIds(found.ids), found.hasMore);
  }

  private async findByColumns(
    reader: Reader,
    { ordered, order }: ColumnsPlan,
    query: ListQuery,
    held: Columns,
    time: QueryTime,
  ): Promise<FoundPage | undefined> {
    const { table, budget, tuning } = this;
    const matches = new ColumnMatches(table, query.filters, held, time);
    if (query.order.length === 1) return { ids: await matches.first(query), hasMore: false };
    const column = ordered && held.get(columnName(ordered));
    if (column instanceof NumberColumn || column instanceof TextColumn)
      return { ids: await matches.firstBy<unknown>(column as Ordering<unknown>, query), hasMore: false };
    return order && scanPage(reader, table, order, query, budget, time, await matches.all(), tuning);
  }

  /** Makes one set of columns after the other, as far as they fit. */
  private makeSoon(cache: ColumnCache, sets: readonly (readonly ColumnField[])[]): void {
    const makeAll = async () => {
      for (const fields of sets) await cache.prepare(fields);
    };
    // No request waits for it. What the store refuses is no error: a later request begins again.
    this.making ??= makeAll()
      .catch((error: unknown) => this.logger?.error('the columns of lists could not be made', { error }))
      .finally(() => {
        this.making = undefined;
      });
  }

  /** Reads the records of a page from one part of its ids. */
  private async readPart(
    reader: Reader,
    query: ListQuery,
    next: NextIds,
    hasMore = false,
  ): Promise<ListPage<Versioned<Fields>>> {
    const page = new Page<Fields>(query);
    const isFull = await this.fill(page, reader, query, next);
    return inListOrder(query, page.records, isFull || hasMore);
  }

  /** Reads the records of a page part by part. */
  private async readParts(
    reader: Reader,
    query: ListQuery,
    parts: AsyncIterable<NextIds>,
  ): Promise<ListPage<Versioned<Fields>>> {
    const page = new Page<Fields>(query);
    for await (const next of parts)
      if (await this.fill(page, reader, query, next)) return inListOrder(query, page.records, true);
    return inListOrder(query, page.records, false);
  }

  /**
   * Reads the records of a part statement by statement, behind the last record of the page.
   * @returns whether the page is full and records follow
   */
  private async fill(page: Page<Fields>, reader: Reader, query: ListQuery, next: NextIds): Promise<boolean> {
    const { turn = SERVICE_TURN } = query;
    for (;;) {
      const last = page.records.at(-1);
      const from = last ? positionOf(last, query.order, 'after') : boundOf(query);
      const count = Math.min(page.missing, this.batchRows);
      const { ids, isLast } = next(from, count);
      const batch = ids ? this.read(reader, ids) : [];
      if (page.isFullWith(batch)) return true;
      if (isLast && batch.length < count) return false;
      await turn.next();
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
      if (left > 0) await SERVICE_TURN.next();
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

function sortedRows(
  { source, found, checks }: SortPlan,
  order: readonly ScanKey[],
  from: Position | undefined,
  count: number,
): NextRows {
  const { text, values } = rowsThat(found, from ? [...checks, keysetCondition(order, from)] : checks);
  const ids = `SELECT id FROM ${source} WHERE ${text} ORDER BY ${orderBy(order)} LIMIT ?`;
  return { ids: sql(ids, ...values, count), isLast: true };
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
