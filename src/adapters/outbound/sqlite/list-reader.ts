import {
  type Filter,
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
  type RecordTable,
} from '../../../application/list-query.js';
import type { QueryBudget } from '../../../application/query-budget.js';
import type { Versioned } from '../../../domain/record.js';
import { residualOf } from './conditions.js';
import { countingWalk, planOf } from './list-plan.js';
import { Pace } from './pace.js';
import { alongWalk, amongFew } from './row-batches.js';
import { RowSource } from './row-source.js';
import { type Row, recordOf } from './rows.js';
import { all } from './sql.js';
import type { SqliteDatabase } from './sqlite-database.js';
import { nextWindow, type Position } from './walk.js';

/** So many windows are looked through, beyond a page that is full, for whether there is one record more. */
const MAX_LOOK_AHEAD = 20;

/** Reads lists in pieces of some milliseconds, so that no query holds up other requests. */
export class ListReader<Fields> {
  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
    private readonly budget: QueryBudget,
  ) {}

  async page(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    const records: Versioned<Fields>[] = [];
    const page = (hasMore: boolean) => ({
      records: query.from?.side === 'before' ? records.reverse() : records,
      hasMore,
    });
    let bytes = 0;
    let lookedAhead = 0;
    for await (const rows of this.batches(query)) {
      for (const row of rows) {
        if (records.length === query.limit || bytes >= MAX_PAGE_BYTES) return page(true);
        records.push(recordOf(row));
        bytes += row[4].length;
      }
      if (records.length === query.limit && lookedAhead++ === MAX_LOOK_AHEAD) return page(true);
    }
    return page(false);
  }

  async count(filters: readonly Filter[]): Promise<number> {
    const walk = countingWalk(this.table, filters);
    const residuals = filters.map((filter) => residualOf(this.table, filter));
    const pace = new Pace(this.budget);
    let count = 0;
    for (let at: Position | undefined = { from: walk.start }; at; ) {
      const position: Position = at;
      at = pace.window((size) => {
        const window = nextWindow(this.database, walk, position, size);
        const { text, values } = all([window.rows, ...residuals]);
        const counting = `SELECT count(*) FROM ${walk.source} WHERE ${text}`;
        count += this.database.read(counting, (statement) => (statement.raw().get(...values) as [number])[0]);
        return window.next;
      });
      await pace.turn();
    }
    return count;
  }

  private batches(query: ListQuery): AsyncGenerator<readonly Row[]> {
    const plan = planOf(this.database, this.table, query);
    const source = new RowSource(this.database, this.table, query);
    if (plan.kind === 'few') return amongFew(source, plan, query.from);
    return alongWalk(this.database, source, plan, query.from, new Pace(this.budget));
  }
}
