import type { RecordTable } from '../../../application/list-query.js';
import type { Purgeable } from '../../../application/ports/purgeable.js';
import { TOMBSTONE_MS } from '../../../application/retention.js';
import type { Instant } from '../../../domain/record.js';
import type { SqliteDatabase } from './database.js';

const REMOVE = `DELETE FROM tombstones WHERE (resource, id) IN (
  SELECT resource, id FROM tombstones WHERE resource = ? AND deleted_at < ? ORDER BY deleted_at LIMIT ?)`;

/** The ids that the deleted records of a resource had. */
export class SqliteTombstones implements Purgeable {
  readonly retentionMs = TOMBSTONE_MS;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
  ) {}

  purgeBefore(moment: Instant, limit: number): Promise<number> {
    return this.database.write((statement) => {
      return statement(REMOVE).run(this.table.name, moment, limit).changes;
    });
  }
}
