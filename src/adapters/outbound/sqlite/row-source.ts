import type { ListPlace, ListQuery, Order, RecordTable } from '../../../application/list-query.js';
import { placeAt } from '../../../application/record-order.js';
import { residualOf } from './filter.js';
import { beyond, orderBy, readingOrder } from './list-order.js';
import type { Reader } from './reader.js';
import type { RowSizes } from './row-sizes.js';
import { COLUMNS, type Row, recordOf } from './rows.js';
import { all, type Sql } from './sql.js';

/** The rows that a list shows, in the order in which they are read, some at a time. */
export class RowSource {
  readonly order: Order;
  /** Who asks. */
  readonly client: string | undefined;
  /** So many rows are given at once. */
  readonly batch: number;
  private readonly filters: readonly Sql[];

  constructor(
    readonly reader: Reader,
    table: RecordTable,
    query: ListQuery,
    private readonly sizes: RowSizes,
  ) {
    this.order = readingOrder(query);
    this.client = query.client;
    this.batch = Math.min(query.limit + 1, sizes.batch);
    this.filters = query.filters.map((filter) => residualOf(table, filter));
  }

  /**
   * The first of those that lie in `range` and beyond `place`.
   * @param source the table and the index that knows the range
   */
  rows(source: string, range: Sql, place: ListPlace | undefined): Row[] {
    const where = all([range, ...this.filters, ...(place ? [beyond(this.order, place)] : [])]);
    const rows = this.reader.read(
      `SELECT ${COLUMNS} FROM ${source} WHERE ${where.text} ORDER BY ${orderBy(this.order)} LIMIT ?`,
      (statement) => statement.raw().all(...where.values, this.batch) as Row[],
    );
    this.sizes.note(rows);
    return rows;
  }

  /** Where to go on behind a full batch; undefined where it is not full, so that nothing is left in its range. */
  placeBehind(rows: readonly Row[]): ListPlace | undefined {
    const last = rows.at(-1);
    return last && rows.length === this.batch ? placeAt(recordOf(last), this.order, 'after') : undefined;
  }
}
