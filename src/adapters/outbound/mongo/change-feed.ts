import { randomBytes } from 'node:crypto';
import { feedIsOff, readPosition, writePosition } from '../../../application/changes/feed-state.js';
import { CHANGES_MS } from '../../../application/maintenance/retention.js';
import type {
  ChangeFeed,
  ChangePage,
  FeedPosition,
  FeedState,
  RecordChange,
} from '../../../application/ports/change-feed.js';
import { MAX_PAGE_BYTES } from '../../../application/ports/list-query.js';
import { StoredRecord } from '../../../application/records/record-json.js';
import type { Id, Instant } from '../../../domain/record.js';
import { forEach } from '../../../shared/promises.js';
import type { ChangeLog } from './change-log.js';
import { checkNumberTypes } from './connection.js';
import { COUNTERS, type GenerationDocument, recordOf, type StoredDocument, USAGE } from './documents.js';
import type { CausalOperations, MongoCollection, MongoStore } from './store.js';

/** The most records that one reply brings. */
const RECORDS_AT_ONCE = 64;

/** The feed of one table: the entries of its log, with the records as they are now. */
export class MongoChangeFeed<Fields> implements ChangeFeed<Fields> {
  constructor(private readonly log: ChangeLog) {}

  async end(): Promise<FeedPosition> {
    const causal = await this.log.move();
    const change = await this.log.highest(causal);
    const head = await this.log.head(causal);
    if (!head) throw feedIsOff();
    return writePosition({ epoch: head.epoch, change });
  }

  async read(after: FeedPosition, limit: number, until?: FeedPosition): Promise<ChangePage<Fields> | undefined> {
    const from = readPosition(after);
    const last = until === undefined ? undefined : readPosition(until);
    if (!from) return undefined;
    const causal = await this.log.move();
    const found = await this.entries(causal, from.change, limit, last?.change);
    // The records after the entries, and the head after both.
    const page = found && (await this.records(causal, found));
    const head = await this.log.head(causal);
    const isKept = head?.epoch === from.epoch && head.floor <= from.change;
    if (!isKept || !page) return undefined;
    return { changes: page.changes, next: writePosition({ ...from, change: page.end }) };
  }

  /**
   * Reads entries behind a number until they point to `limit` records.
   * @returns undefined if the number is beyond the newest
   */
  private async entries(
    causal: CausalOperations,
    after: number,
    limit: number,
    last = Number.POSITIVE_INFINITY,
  ): Promise<Found | undefined> {
    const numbers = new Map<Id, number>();
    let end = after;
    for (let from = after; ; from = end + 1) {
      // The entry at the number itself is there, or it is under the low watermark and later ones are.
      const rows = await this.log.entries(causal, from, limit + 1);
      if (from === after && rows.length === 0) return undefined;
      for (const { _id, id } of rows) {
        if (_id <= after) continue;
        if (_id > last || (numbers.size === limit && !numbers.has(id))) return { numbers, end };
        numbers.delete(id);
        numbers.set(id, _id);
        end = _id;
      }
      if (rows.length <= limit) return { numbers, end };
    }
  }

  /** @returns undefined if a document is missing, because its tombstone was purged, or an earlier release wrote it */
  private async records(
    causal: CausalOperations,
    { numbers, end }: Found,
  ): Promise<{ readonly changes: RecordChange<Fields>[]; readonly end: number } | undefined> {
    const ids = [...numbers.keys()];
    const changes: RecordChange<Fields>[] = [];
    for (let bytes = 0; changes.length < ids.length; ) {
      const some = ids.slice(changes.length, changes.length + RECORDS_AT_ONCE);
      const documents = new Map<Id, StoredDocument>();
      for (const one of await this.log.documents(causal, some)) documents.set(one._id, one);
      for (const id of some) {
        const change = this.changeOf(documents.get(id));
        if (!change) return undefined;
        changes.push(change);
        if (change instanceof StoredRecord) bytes += change.fieldsBytes;
        if (bytes >= MAX_PAGE_BYTES) return { changes, end: numbers.get(id) ?? end };
      }
    }
    return { changes, end };
  }

  private changeOf(document: StoredDocument | undefined): RecordChange<Fields> | undefined {
    if (!document) return undefined;
    if ('live' in document) return recordOf<Fields>(document).asText();
    const { _id: id, version } = document;
    return version === undefined ? undefined : { id, version: Number(version), deleted: true };
  }
}

/** What a page shows. */
interface Found {
  /** The number of the last entry of each record, in this order. */
  readonly numbers: ReadonlyMap<Id, number>;
  /** The number of the last entry that was looked at. */
  readonly end: number;
}

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

  get unnumbered(): readonly ChangeLog[] {
    return this.logs;
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
    const found = await this.counters.run((all, maxTimeMS) => all.findOne({ _id: 'generation' }, { maxTimeMS }));
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
