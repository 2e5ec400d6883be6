import {
  type Filter,
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
  type RecordTable,
} from '../../../application/list-query.js';
import type { QueryBudget } from '../../../application/query-budget.js';
import type { Versioned } from '../../../domain/record.js';
import { turnInLine } from '../../../shared/event-loop.js';
import { residualOf } from './conditions.js';
import { countingPlanOf, type Plan, planOf } from './list-plan.js';
import { BoundedPace, SteadyPace } from './pace.js';
import { amongFew, type Batches, WalkBatches } from './row-batches.js';
import { RowSizes } from './row-sizes.js';
import { RowSource } from './row-source.js';
import { recordOf } from './rows.js';
import { all, type Sql } from './sql.js';
import type { SqliteDatabase } from './sqlite-database.js';
import type { Reader } from './sqlite-reader.js';
import { nextWindow, type Position, startOf, type Walk } from './walk.js';

/** Reads lists in pieces of some milliseconds, so that no query holds up other requests. */
export class ListReader<Fields> {
  private readonly sizes = new RowSizes();

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
    private readonly budget: QueryBudget,
  ) {}

  async page(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    await turnInLine(query.client);
    const plan = planOf(this.database, this.table, query);
    const read = (reader: Reader) => this.read(reader, plan, query);
    const isLong = plan.kind === 'walk' && !plan.isServed;
    return isLong ? this.database.inSnapshot(read, query.client) : read(this.database);
  }

  async count(filters: readonly Filter[], client: string | undefined): Promise<number> {
    const plan = countingPlanOf(this.database, this.table, filters);
    const residuals = filters.map((filter) => residualOf(this.table, filter));
    if (plan.kind === 'few') return countIn(this.database, plan.source, [plan.rows, ...residuals]);
    const pace = new BoundedPace(this.budget, client);
    return this.database.inSnapshot((reader) => this.countAlong(reader, plan.walk, residuals, pace), client);
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

  private batches(reader: Reader, plan: Plan, query: ListQuery, isFull: () => boolean): Batches {
    const source = new RowSource(reader, this.table, query, this.sizes);
    if (plan.kind === 'few') return amongFew(source, plan, query.from);
    // Twice a batch: what ties at the end of a window is left to the next.
    const pace = plan.isServed
      ? new SteadyPace(2 * source.batch, query.client)
      : new BoundedPace(this.budget, query.client, query.isSequel);
    return new WalkBatches(source, plan, pace).from(query.from, isFull);
  }

  private async countAlong(
    reader: Reader,
    walk: Walk,
    residuals: readonly Sql[],
    pace: BoundedPace,
  ): Promise<number> {
    let count = 0;
    for (let at: Position | undefined = startOf(walk); at; ) {
      const position: Position = at;
      const window = pace.window((size) => {
        const window = nextWindow(reader, walk, position, size);
        count += countIn(reader, walk.source, [window.rows, ...residuals]);
        return window;
      });
      at = window.next;
      await pace.turn();
    }
    return count;
  }
}

function countIn(reader: Reader, source: string, conditions: readonly Sql[]): number {
  const { text, values } = all(conditions);
  return reader.read(
    `SELECT count(*) FROM ${source} WHERE ${text}`,
    (statement) => (statement.raw().get(...values) as [number])[0],
  );
}
