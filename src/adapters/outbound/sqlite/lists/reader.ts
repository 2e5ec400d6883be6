import type { QueryBudget } from '../../../../application/maintenance/query-budget.js';
import {
  type Filter,
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
  type Position,
  type RecordTable,
} from '../../../../application/records/list-query.js';
import { positionOf } from '../../../../application/records/query-semantics.js';
import type { StoredRecord } from '../../../../application/records/stored-record.js';
import { type IdRange, isSearchAlone } from '../../../../application/search/id-range.js';
import type { Versioned } from '../../../../domain/record.js';
import { yieldFairly } from '../../../../shared/event-loop.js';
import type { Reader } from '../connection/connection.js';
import type { SqliteDatabase } from '../connection/database.js';
import { countWords, idsOf, planWords } from '../full-text/plan.js';
import { BlockTurns, searchedWords, WordSearch, withoutSearch } from '../full-text/search.js';
import {
  allOf,
  keysetCondition,
  orderBy,
  type RecordTexts,
  recordsOf,
  type Sql,
  scanOrder,
  selectRecords,
  sql,
} from '../records/schema.js';
import { type NextRows, nextRows, startAt } from './index-scan.js';
import { planCount, planList, type SortPlan } from './plan.js';
import { countByScan, countRows, type FoundPage, scanPage, timeOf } from './scan.js';

/** The most rows, and approximately the most bytes, that one statement reads. */
const MAX_BATCH_ROWS = 128;
const MAX_BATCH_BYTES = 262_144;
/** The most by which a batch grows from one statement to the next: large records may follow small ones. */
const MAX_GROWTH = 1.25;

/** Returns a statement of the ids of the next rows of a list, at most `count`. */
type NextIds = (from: Position | undefined, count: number) => NextRows;

/**
 * Reads lists. If an index serves a page, one statement reads it, or its first batch, in the turn of its request, which
 * costs less than another turn. Work of milliseconds waits for its turn among all long tasks, and a search for each of
 * its slices.
 */
export class ListReader<Fields> {
  /** Learned from the size of the rows that were read last. */
  private batchRows = MAX_BATCH_ROWS;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
    private readonly budget: QueryBudget,
  ) {}

  async page(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    const { database, budget } = this;
    const words = searchedWords(query.filters);
    if (words) return this.pageOfWords(query, new WordSearch(this.table, words));
    const plan = planList(database, this.table, query);
    if (plan.kind === 'indexed')
      return this.pageOf(query, (from, count) => nextRows(database, plan.scan, from && startAt(from), count));
    if (plan.kind === 'sort') {
      await yieldFairly(query.client);
      return this.pageOf(query, (from, count) => nextOfFew(plan, query, from, count));
    }
    return database.inSnapshot(
      async (reader) => this.found(reader, query, await scanPage(reader, plan, query, budget)),
      query.client,
    );
  }

  /**
   * If the index of words knows all records of a list in order of id, each block is read as it is at its turn: an id
   * stays where it is, whatever others write.
   */
  private async pageOfWords(query: ListQuery, search: WordSearch): Promise<ListPage<Versioned<Fields>>> {
    const { database, table, budget } = this;
    const filters = withoutSearch(query.filters);
    const ids = idsOf(query, filters);
    if (ids.isAll && search.isSimple(database)) return this.pageOfBlocks(query, search, ids);
    return database.inSnapshot(async (reader) => {
      const time = timeOf(query, budget, isSearchAlone(filters) && search.isServed(reader));
      const plan = await planWords(reader, table, query, filters, search, time);
      return this.found(reader, query, await scanPage(reader, plan, query, budget, time));
    }, query.client);
  }

  private async pageOfBlocks(
    query: ListQuery,
    search: WordSearch,
    { descending, ...range }: IdRange & { readonly descending: boolean },
  ): Promise<ListPage<Versioned<Fields>>> {
    const { database } = this;
    const page = new Page<Fields>(query);
    const turns = new BlockTurns(this.budget.startUnlimited(query.client));
    for (const part of search.parts(database, range, descending, turns)) {
      for (let rest: IdRange | undefined = part; rest; ) {
        if (!turns.hasMore) await turns.next();
        const ids = search.inPart(database, rest, descending, turns);
        const count = Math.min(page.missing, this.batchRows);
        const batch = ids ? this.records(database, sql(ids.text, ...ids.values, count)) : [];
        if (page.isFullWith(batch)) return inListOrder(query, page.records, true);
        const last = batch.length === count ? batch.at(-1) : undefined;
        rest =
          last && (descending ? { low: rest.low, high: last.id - 1 } : { low: last.id + 1, high: rest.high });
      }
    }
    return inListOrder(query, page.records, false);
  }

  /** Reads the records that a search found. */
  private async found(reader: Reader, query: ListQuery, { ids, hasMore }: FoundPage) {
    const records: StoredRecord<Fields>[] = [];
    const rest = [...ids];
    while (rest.length > 0) {
      if (records.length > 0) await yieldFairly(query.client);
      const batch = JSON.stringify(rest.splice(0, this.batchRows));
      records.push(...this.records(reader, sql('SELECT value AS id FROM json_each(?)', batch)));
    }
    return inListOrder(query, records, hasMore);
  }

  async count(filters: readonly Filter[], client: string | undefined): Promise<number> {
    const words = searchedWords(filters);
    if (words) return this.countOfWords(new WordSearch(this.table, words), withoutSearch(filters), client);
    const plan = planCount(this.database, this.table, filters);
    if (plan.kind === 'sort') {
      await yieldFairly(client);
      return countRows(this.database, plan.source, plan.conditions);
    }
    return this.database.inSnapshot(
      (reader) => countByScan(reader, plan, filters, this.budget.start(client)),
      client,
    );
  }

  private countOfWords(search: WordSearch, filters: readonly Filter[], client: string | undefined) {
    const { database, table, budget } = this;
    return database.inSnapshot((reader) => {
      const isServed = isSearchAlone(filters) && search.isServed(reader);
      const time = isServed ? budget.startUnlimited(client) : budget.start(client);
      return countWords(reader, table, filters, search, time);
    }, client);
  }

  private async pageOf(query: ListQuery, next: NextIds): Promise<ListPage<Versioned<Fields>>> {
    const page = new Page<Fields>(query);
    for (let from = query.from; ; await yieldFairly(query.client)) {
      const count = Math.min(page.missing, this.batchRows);
      const { ids, isLast } = next(from, count);
      const batch = this.records(this.database, ids);
      if (page.isFullWith(batch)) return inListOrder(query, page.records, true);
      if (isLast && batch.length < count) return inListOrder(query, page.records, false);
      const last = batch.at(-1);
      if (last) from = positionOf(last, scanOrder(query), 'after');
    }
  }

  private records(reader: Reader, ids: Sql): StoredRecord<Fields>[] {
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

function nextOfFew(
  { source, conditions }: SortPlan,
  query: ListQuery,
  from: Position | undefined,
  count: number,
): NextRows {
  const order = scanOrder(query);
  const { text, values } = allOf(from ? [...conditions, keysetCondition(order, from)] : conditions);
  const ids = `SELECT id FROM ${source} WHERE ${text} ORDER BY ${orderBy(order)} LIMIT ?`;
  return { ids: sql(ids, ...values, count), isLast: true };
}

function inListOrder<Item>({ from }: ListQuery, records: Item[], hasMore: boolean): ListPage<Item> {
  return { records: from?.side === 'before' ? records.reverse() : records, hasMore };
}
