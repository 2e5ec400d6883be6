import type { RouteUsage, UsageCount, UsageStore } from '../../../application/ports/usage-store.js';
import type { Id, Instant } from '../../../domain/record.js';
import { USAGE } from './documents.js';
import type { MongoCollection, MongoStore } from './store.js';

interface UsageDocument {
  /** The id of the key, the hour and the counter. */
  readonly _id: string;
  readonly keyId: Id;
  readonly hour: Date;
  readonly counter: string;
  readonly routes: readonly RouteUsage[];
}

/** Keeps usage in a collection of its own. The server deletes old counts by a TTL index. */
export class MongoUsageStore implements UsageStore {
  private readonly counts: MongoCollection<UsageDocument>;

  constructor(store: MongoStore) {
    this.counts = store.collection(USAGE);
  }

  async save(counts: readonly UsageCount[]): Promise<void> {
    if (counts.length === 0) return;
    const replacements = counts.map((count) => {
      const { _id, ...replacement } = documentOf(count);
      return { replaceOne: { filter: { _id }, replacement, upsert: true } };
    });
    await this.counts.run((all, maxTimeMS) => all.bulkWrite(replacements, { ordered: false, maxTimeMS }));
  }

  async find(keyIds: readonly Id[], since: Instant): Promise<readonly UsageCount[]> {
    const filter = { keyId: { $in: [...keyIds] }, hour: { $gte: new Date(since) } };
    const documents = await this.counts.run((all, maxTimeMS) =>
      all.find(filter).maxTimeMS(maxTimeMS).toArray(),
    );
    return documents.map(({ keyId, hour, counter, routes }) => {
      return { keyId, hour: hour.getTime(), counter, routes };
    });
  }
}

function documentOf({ keyId, hour, counter, routes }: UsageCount): UsageDocument {
  return { _id: `${keyId} ${hour} ${counter}`, keyId, hour: new Date(hour), counter, routes };
}
