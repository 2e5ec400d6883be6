import type { RouteUsage, UsageCount, UsageStore } from '../../../application/ports/usage-store.js';
import type { Id, Instant } from '../../../domain/record.js';
import { type PostgresqlStore, prepared } from './store.js';

const SAVE = prepared(`INSERT INTO api_key_usage
  SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) AS saved ORDER BY 1, 2, 3
  ON CONFLICT (key_id, hour, counter) DO UPDATE SET routes = excluded.routes`);
const FIND = prepared(
  'SELECT key_id, hour, counter, routes FROM api_key_usage WHERE key_id = ANY($1::bigint[]) AND hour >= $2',
);

type UsageRow = [keyId: Id, hour: Instant, counter: string, routes: string];

export class PostgresqlUsageStore implements UsageStore {
  constructor(private readonly store: PostgresqlStore) {}

  async save(counts: readonly UsageCount[]): Promise<void> {
    // One statement must not change a row twice. The last count is the one that stays.
    const last = [
      ...new Map(counts.map((count) => [`${count.keyId} ${count.hour} ${count.counter}`, count])).values(),
    ];
    if (last.length === 0) return;
    await this.store.run(SAVE, [
      last.map(({ keyId }) => keyId),
      last.map(({ hour }) => hour),
      last.map(({ counter }) => counter),
      last.map(({ routes }) => JSON.stringify(routes)),
    ]);
  }

  async find(keyIds: readonly Id[], since: Instant): Promise<readonly UsageCount[]> {
    const rows = await this.store.run<UsageRow>(FIND, [keyIds, since]);
    return rows.map(([keyId, hour, counter, routes]) => {
      return { keyId, hour, counter, routes: JSON.parse(routes) as RouteUsage[] };
    });
  }
}
