import { TOMBSTONE_MS } from '../../../application/maintenance/retention.js';
import type { RecordTable } from '../../../application/ports/list-query.js';
import type { Purgeable } from '../../../application/ports/purgeable.js';
import type { Instant } from '../../../domain/record.js';
import { type PostgresqlStore, prepared, type Statement } from './store.js';

/** Deletes expired tombstones of one table. */
export class PostgresqlTombstones implements Purgeable {
  readonly retentionMs = TOMBSTONE_MS;
  private readonly purge: Statement;

  constructor(
    private readonly store: PostgresqlStore,
    { name }: RecordTable,
  ) {
    this.purge = prepared(`WITH purged AS (
      DELETE FROM ${name} WHERE id IN (
        SELECT id FROM ${name} WHERE deleted_at < $1 ORDER BY deleted_at LIMIT $2)
      RETURNING 1) SELECT count(*) FROM purged`);
  }

  async purgeBefore(moment: Instant, limit: number): Promise<number> {
    const [[purged] = [0]] = await this.store.run<[number]>(this.purge, [moment, limit]);
    return purged;
  }
}
