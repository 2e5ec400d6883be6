import {
  type Filter,
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
  type RecordTable,
} from '../../../application/ports/list-query.js';
import { compareInOrder, matchesFilter, valuesOf } from '../../../application/records/query-semantics.js';
import type { StoredRecord } from '../../../application/records/record-json.js';
import type { Versioned } from '../../../domain/record.js';
import type { Turn } from '../../../shared/turn.js';
import { IS_LIVE, RECORD_COLUMNS, type RecordRow, recordOf } from './columns.js';
import { type PostgresqlStore, prepared, type Statement } from './store.js';

/** Lists and counts that read every record of the table. */
export class PostgresqlLists<Fields> {
  private readonly all: Statement;

  constructor(
    private readonly store: PostgresqlStore,
    private readonly table: RecordTable,
  ) {
    this.all = prepared(`SELECT ${RECORD_COLUMNS} FROM ${table.name} WHERE ${IS_LIVE}`);
  }

  async list({
    filters,
    order,
    from,
    limit,
    bytes = MAX_PAGE_BYTES,
    turn,
  }: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    const isBefore = from?.side === 'before';
    const sign = isBefore ? -1 : 1;
    const matching = (await this.matching(filters, turn))
      .map((record) => ({ record, values: valuesOf(record, order) }))
      .filter(({ values }) => {
        if (!from) return true;
        const beyond = sign * compareInOrder(order, values, from.values);
        return beyond > 0 || (beyond === 0 && from.inclusive);
      })
      .sort((a, b) => sign * compareInOrder(order, a.values, b.values));
    const records: StoredRecord<Fields>[] = [];
    let size = 0;
    for (const { record } of matching) {
      if (records.length === limit || size >= bytes) break;
      records.push(record);
      size += record.fieldsBytes;
    }
    return { records: isBefore ? records.reverse() : records, hasMore: records.length < matching.length };
  }

  async count(filters: readonly Filter[], turn?: Turn): Promise<number> {
    return (await this.matching(filters, turn)).length;
  }

  private async matching(
    filters: readonly Filter[],
    turn: Turn | undefined,
  ): Promise<StoredRecord<Fields>[]> {
    const rows = await this.store.search<RecordRow>(this.all, [], { turn });
    return rows
      .map((row) => recordOf<Fields>(row))
      .filter((record) => filters.every((filter) => matchesFilter(this.table, record, filter)));
  }
}
