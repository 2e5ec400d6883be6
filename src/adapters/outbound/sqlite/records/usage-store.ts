import { USAGE_MS } from '../../../../application/maintenance/retention.js';
import type { Purgeable } from '../../../../application/ports/purgeable.js';
import type { RouteUsage, UsageCount, UsageStore } from '../../../../application/ports/usage-store.js';
import type { Id, Instant } from '../../../../domain/record.js';
import type { SqliteDatabase } from '../connection/database.js';

const SAVE = `INSERT INTO api_key_usage VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET routes = excluded.routes`;
const FIND = `SELECT key_id, hour, counter, routes FROM api_key_usage
  WHERE key_id IN (SELECT value FROM json_each(?)) AND hour >= ?`;
const PURGE = `DELETE FROM api_key_usage WHERE rowid IN (
  SELECT rowid FROM api_key_usage WHERE hour < ? ORDER BY hour LIMIT ?)`;

/** The columns of {@link FIND}. */
type UsageRow = [keyId: Id, hour: Instant, counter: string, routes: string];

export class SqliteUsageStore implements UsageStore, Purgeable {
  readonly retentionMs = USAGE_MS;

  constructor(private readonly database: SqliteDatabase) {}

  async save(counts: readonly UsageCount[]): Promise<void> {
    const rows = counts.map(({ keyId, hour, counter, routes }): UsageRow => {
      return [keyId, hour, counter, JSON.stringify(routes)];
    });
    await this.database.write((statement) => {
      for (const row of rows) statement(SAVE).run(row);
    }, rows.length);
  }

  async find(keyIds: readonly Id[], since: Instant): Promise<readonly UsageCount[]> {
    const rows = this.database.all<UsageRow>(FIND, JSON.stringify(keyIds), since);
    return rows.map(([keyId, hour, counter, routes]) => {
      return { keyId, hour, counter, routes: JSON.parse(routes) as RouteUsage[] };
    });
  }

  purgeBefore(moment: Instant, limit: number): Promise<number> {
    return this.database.write((statement) => statement(PURGE).run(moment, limit).changes);
  }
}
