import { randomBytes } from 'node:crypto';
import { CHANGES_MS } from '../../../application/maintenance/retention.js';
import type { FeedState } from '../../../application/ports/change-feed.js';
import type { Instant } from '../../../domain/record.js';
import { forEach } from '../../../shared/for-each.js';
import type { ChangeLog } from './change-log.js';
import { checkNumberTypes } from './connection.js';
import { COUNTERS, type GenerationDocument, USAGE } from './documents.js';
import type { MongoCollection, MongoStore } from './store.js';

/** Whether this process writes the feeds. The head of each log says whether they are on for all processes. */
export class MongoFeedState implements FeedState {
  isOn = false;

  private readonly counters: MongoCollection<GenerationDocument>;

  constructor(
    private readonly store: MongoStore,
    private readonly logs: readonly ChangeLog[],
  ) {
    this.counters = store.collection(COUNTERS);
  }

  /** @throws StoreConfigError if the server cannot have feeds */
  async turnOn(): Promise<void> {
    await this.store.run((database, maxTimeMS) => checkNumberTypes(database, USAGE, maxTimeMS));
    this.isOn = true;
    for (const log of this.logs) await log.turnOn();
  }

  async turnOff(): Promise<void> {
    this.isOn = false;
    for (const log of this.logs) await log.turnOff();
  }

  async reset(): Promise<void> {
    const generation = randomBytes(5).toString('hex');
    await this.counters.run((all, maxTimeMS) =>
      all.updateOne({ _id: 'generation' }, { $set: { generation } }, { upsert: true, maxTimeMS }),
    );
    for (const log of this.logs) await log.reset();
  }

  async generation(): Promise<string | undefined> {
    const found = await this.counters.run((all, maxTimeMS) =>
      all.findOne({ _id: 'generation' }, { maxTimeMS }),
    );
    return found?.generation;
  }

  async maintain(now: Instant): Promise<void> {
    if (!this.isOn) return;
    await forEach(this.logs, async (log) => {
      // A process without feeds may have turned them off.
      await log.turnOn();
      await log.move();
      await log.trim(now - CHANGES_MS);
    });
  }
}
