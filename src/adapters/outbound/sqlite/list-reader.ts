import {
  type Filter,
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
  type RecordTable,
} from '../../../application/list-query.js';
import type { QueryBudget } from '../../../application/query-budget.js';
import { turnInLine } from '../../../application/turns.js';
import type { Versioned } from '../../../domain/record.js';
import type { SqliteDatabase } from './database.js';
import { residualConditionOf } from './filter.js';
import { type IndexScan, nextRange, type ScanPosition, scanStart } from './index-scan.js';
import { type Plan, planCount, planList } from './list-plan.js';
import type { Reader } from './reader.js';
import { BatchSize } from './row-sizes.js';
import { RowReader } from './row-source.js';
import { recordOf } from './rows.js';
import { type RowBatches, ScanBatches, sortInMemory } from './scan-batches.js';
import { allOf, type Sql } from './sql.js';
import { BudgetedSlice, FixedSlice } from './time-slice.js';

/** Reads lists in pieces of some milliseconds, so that no query holds up other requests. */
export class ListReader<Fields> {
  private readonly sizes = new BatchSize();

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
    private readonly budget: QueryBudget,
  ) {}

  async page(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    await turnInLine(query.client);
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
    const pace = new BudgetedSlice(this.budget, client);
    return this.database.inSnapshot((reader) => this.countAlong(reader, plan.scan, residuals, pace), client);
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
    const source = new RowReader(reader, this.table, query, this.sizes);
    if (plan.kind === 'filter-then-sort') return sortInMemory(source, plan, query.from);
    // Twice a batch: what ties at the end of a window is left to the next.
    const pace = plan.isIndexed
      ? new FixedSlice(2 * source.batchSize, query.client)
      : new BudgetedSlice(this.budget, query.client, query.isSequel);
    return new ScanBatches(source, plan, pace).from(query.from, isFull);
  }

  private async countAlong(
    reader: Reader,
    walk: IndexScan,
    residuals: readonly Sql[],
    pace: BudgetedSlice,
  ): Promise<number> {
    let count = 0;
    for (let at: ScanPosition | undefined = scanStart(walk); at; ) {
      const position: ScanPosition = at;
      const window = pace.run((size) => {
        const window = nextRange(reader, walk, position, size);
        count += countIn(reader, walk.source, [window.rows, ...residuals]);
        return window;
      });
      at = window.next;
      await pace.checkpoint();
    }
    return count;
  }
}

function countIn(reader: Reader, source: string, conditions: readonly Sql[]): number {
  const { text, values } = allOf(conditions);
  return reader.read(
    `SELECT count(*) FROM ${source} WHERE ${text}`,
    (statement) => (statement.raw().get(...values) as [number])[0],
  );
}
