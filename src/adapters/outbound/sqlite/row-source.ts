import type { ListPlace, ListQuery, Order, RecordTable } from '../../../application/list-query.js';
import { placeAt } from '../../../application/record-order.js';
import { residualConditionOf } from './filter.js';
import { keysetCondition, orderBy, scanOrder } from './list-order.js';
import type { Reader } from './reader.js';
import type { BatchSize } from './row-sizes.js';
import { RECORD_COLUMNS, type RecordRow, recordOf } from './rows.js';
import { allOf, type Sql } from './sql.js';

/** The rows that a list shows, in the order in which they are read, some at a time. */
export class RowReader {
  readonly order: Order;
  /** Who asks. */
  readonly client: string | undefined;
  /** So many rows are given at once. */
  readonly batchSize: number;
  private readonly filters: readonly Sql[];

  constructor(
    readonly reader: Reader,
    table: RecordTable,
    query: ListQuery,
    private readonly sizes: BatchSize,
  ) {
    this.order = scanOrder(query);
    this.client = query.client;
    this.batchSize = Math.min(query.limit + 1, sizes.batch);
    this.filters = query.filters.map((filter) => residualConditionOf(table, filter));
  }

  /**
   * The first of those that lie in `range` and beyond `place`.
   * @param source the table and the index that knows the range
   */
  rows(source: string, range: Sql, place: ListPlace | undefined): RecordRow[] {
    const where = allOf([range, ...this.filters, ...(place ? [keysetCondition(this.order, place)] : [])]);
    const rows = this.reader.read(
      `SELECT ${RECORD_COLUMNS} FROM ${source} WHERE ${where.text} ORDER BY ${orderBy(this.order)} LIMIT ?`,
      (statement) => statement.raw().all(...where.values, this.batchSize) as RecordRow[],
    );
    this.sizes.note(rows);
    return rows;
  }

  /** Where to go on behind a full batch; undefined where it is not full, so that nothing is left in its range. */
  nextPlace(rows: readonly RecordRow[]): ListPlace | undefined {
    const last = rows.at(-1);
    return last && rows.length === this.batchSize ? placeAt(recordOf(last), this.order, 'after') : undefined;
  }
}
