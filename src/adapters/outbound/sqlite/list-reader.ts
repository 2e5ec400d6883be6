import type { QueryBudget } from '../../../application/maintenance/query-budget.js';
import {
  type Filter,
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
  type Position,
  type RecordTable,
} from '../../../application/records/list-query.js';
import { positionOf } from '../../../application/records/query-semantics.js';
import type { StoredRecord } from '../../../application/records/stored-record.js';
import type { Versioned } from '../../../domain/record.js';
import { yieldFairly } from '../../../shared/event-loop.js';
import type { Reader } from './connection.js';
import type { SqliteDatabase } from './database.js';
import { type NextRows, nextRows, startAt } from './index-scan.js';
import { type FewPlan, planCount, planList } from './list-plan.js';
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
} from './schema.js';
import { countBySearch, countRows, searchPage } from './search.js';

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
    const plan = planList(database, this.table, query);
    if (plan.kind === 'indexed')
      return this.pageOf(query, (from, count) => nextRows(database, plan.scan, from && startAt(from), count));
    if (plan.kind === 'few') {
      await yieldFairly(query.client);
      return this.pageOf(query, (from, count) => nextOfFew(plan, query, from, count));
    }
    return database.inSnapshot(async (reader) => {
      const { ids, hasMore } = await searchPage(reader, plan, query, budget);
      const records: StoredRecord<Fields>[] = [];
      const rest = [...ids];
      while (rest.length > 0) {
        if (records.length > 0) await yieldFairly(query.client);
        const batch = JSON.stringify(rest.splice(0, this.batchRows));
        records.push(...this.records(reader, sql('SELECT value AS id FROM json_each(?)', batch)));
      }
      return inListOrder(query, records, hasMore);
    }, query.client);
  }

  async count(filters: readonly Filter[], client: string | undefined): Promise<number> {
    const plan = planCount(this.database, this.table, filters);
    if (plan.kind === 'few') {
      await yieldFairly(client);
      return countRows(this.database, plan.source, plan.conditions);
    }
    return this.database.inSnapshot(
      (reader) => countBySearch(reader, plan, this.budget.start(client)),
      client,
    );
  }

  private async pageOf(query: ListQuery, next: NextIds): Promise<ListPage<Versioned<Fields>>> {
    const { limit, bytes: maxBytes = MAX_PAGE_BYTES, client } = query;
    const records: StoredRecord<Fields>[] = [];
    let bytes = 0;
    for (let from = query.from; ; await yieldFairly(client)) {
      const count = Math.min(limit + 1 - records.length, this.batchRows);
      const { ids, isRest } = next(from, count);
      const batch = this.records(this.database, ids);
      for (const record of batch) {
        if (records.length === limit || bytes >= maxBytes) return inListOrder(query, records, true);
        records.push(record);
        bytes += record.fieldsBytes;
      }
      if (isRest && batch.length < count) return inListOrder(query, records, false);
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

function nextOfFew(
  { source, conditions }: FewPlan,
  query: ListQuery,
  from: Position | undefined,
  count: number,
): NextRows {
  const order = scanOrder(query);
  const { text, values } = allOf(from ? [...conditions, keysetCondition(order, from)] : conditions);
  const ids = `SELECT id FROM ${source} WHERE ${text} ORDER BY ${orderBy(order)} LIMIT ?`;
  return { ids: sql(ids, ...values, count), isRest: true };
}

function inListOrder<Item>({ from }: ListQuery, records: Item[], hasMore: boolean): ListPage<Item> {
  return { records: from?.side === 'before' ? records.reverse() : records, hasMore };
}
