import type { QueryBudget, QueryTime } from '../../../application/maintenance/query-budget.js';
import {
  type Filter,
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
  type RecordTable,
} from '../../../application/records/list-query.js';
import type { Versioned } from '../../../domain/record.js';
import { yieldFairly } from '../../../shared/event-loop.js';
import type { Reader } from './connection.js';
import type { SqliteDatabase } from './database.js';
import { residualConditionOf } from './filter.js';
import { type IndexScan, nextRange, type ScanPosition, scanStart } from './index-scan.js';
import { type Plan, planCount, planList } from './list-plan.js';
import { BatchSize, type RowBatches, RowReader, ScanBatches, sortInMemory } from './row-batches.js';
import { allOf, recordOf, type Sql } from './schema.js';
import { BudgetedSlice, FixedSlice, type TimeSlice } from './time-slice.js';

/** Reads lists in slices of some milliseconds, so that no query blocks other requests. */
export class ListReader<Fields> {
  private readonly sizes = new BatchSize();

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
    private readonly budget: QueryBudget,
  ) {}

  async page(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    await yieldFairly(query.client);
    const plan = planList(this.database, this.table, query);
    const read = (reader: Reader) => this.read(reader, plan, query);
    const isLong = plan.kind === 'index-scan' && !plan.isIndexed;
    return isLong ? this.database.inSnapshot(read, query.client) : read(this.database);
  }

  async count(filters: readonly Filter[], client: string | undefined): Promise<number> {
    const plan = planCount(this.database, this.table, filters);
    const residuals = filters.map((filter) => residualConditionOf(this.table, filter));
    if (plan.kind === 'filter-then-sort')
      return countIn(this.database, plan.source, [plan.condition, ...residuals]);
    const slice = new BudgetedSlice(this.budget, this.budget.start(client));
    return this.database.inSnapshot((reader) => countScan(reader, plan.scan, residuals, slice), client);
  }

  private async read(reader: Reader, plan: Plan, query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    const { limit, bytes: maxBytes = MAX_PAGE_BYTES } = query;
    const records: Versioned<Fields>[] = [];
    let bytes = 0;
    const isFull = () => records.length === limit || bytes >= maxBytes;
    const page = (hasMore: boolean) => ({
      records: query.from?.side === 'before' ? records.reverse() : records,
      hasMore,
    });
    const batches = this.batches(reader, plan, query, isFull);
    for (;;) {
      const { done, value } = await batches.next();
      if (done) return page(value);
      for (const row of value) {
        if (isFull()) return page(true);
        records.push(recordOf(row));
        bytes += Buffer.byteLength(row[4]);
      }
    }
  }

  private batches(reader: Reader, plan: Plan, query: ListQuery, isFull: () => boolean): RowBatches {
    const rows = new RowReader(reader, this.table, query, this.sizes);
    if (plan.kind === 'filter-then-sort') return sortInMemory(rows, plan, query.from);
    // Twice a batch: rows that tie at the end of a slice are left to the next.
    const slice = plan.isIndexed
      ? new FixedSlice(2 * rows.batchSize, query.client)
      : new BudgetedSlice(this.budget, this.timeOf(query));
    return new ScanBatches(rows, plan, slice).from(query.from, isFull);
  }

  private timeOf({ client, isContinuation }: ListQuery): QueryTime {
    return isContinuation ? this.budget.startUnlimited(client) : this.budget.start(client);
  }
}

async function countScan(
  reader: Reader,
  scan: IndexScan,
  residuals: readonly Sql[],
  slice: TimeSlice,
): Promise<number> {
  let count = 0;
  for (let at: ScanPosition | undefined = scanStart(scan); at; ) {
    const position: ScanPosition = at;
    const range = slice.run((size) => {
      const range = nextRange(reader, scan, position, size);
      count += countIn(reader, scan.source, [range.rows, ...residuals]);
      return range;
    });
    at = range.next;
    await slice.checkpoint();
  }
  return count;
}

function countIn(reader: Reader, source: string, conditions: readonly Sql[]): number {
  const { text, values } = allOf(conditions);
  return reader.read(
    `SELECT count(*) FROM ${source} WHERE ${text}`,
    (statement) => (statement.raw().get(...values) as [number])[0],
  );
}
