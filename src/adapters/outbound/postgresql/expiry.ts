import type { Purgeable } from '../../../application/ports/purgeable.js';
import type { Instant } from '../../../domain/record.js';
import { type PostgresqlStore, prepared, type Statement } from './store.js';

/** The rows of one table that expire. */
export class ExpiringRows implements Purgeable {
  private readonly purge: Statement;

  /**
   * @param age the column of the time from which on a row is kept for `retentionMs`
   * @param only the condition on the rows of one resource
   */
  constructor(
    private readonly store: PostgresqlStore,
    table: string,
    age: string,
    readonly retentionMs: number,
    only = 'TRUE',
  ) {
    this.purge = prepared(`WITH purged AS (
      DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM ${table} WHERE ${only} AND ${age} < $1 ORDER BY ${age} LIMIT $2 FOR UPDATE SKIP LOCKED))
      RETURNING 1) SELECT count(*) FROM purged`);
  }

  async purgeBefore(moment: Instant, limit: number): Promise<number> {
    const [[purged] = [0]] = await this.store.run<[number]>(this.purge, [moment, limit]);
    return purged;
  }
}
