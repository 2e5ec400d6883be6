import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AnyBulkWriteOperation, type Collection, type Db, type Document, Long } from 'mongodb';
import type { DerivedTable } from '../../../application/ports/derived-data.js';
import type { RecordTable } from '../../../application/ports/list-query.js';
import { StoreConfigError } from '../../../application/ports/store.js';
import { unavailable } from '../../../domain/errors.js';
import type { Id, Instant } from '../../../domain/record.js';
import {
  type ChangeLogEntry,
  type ChangeLogHead,
  changesCollection,
  PENDING,
  PENDING_INDEX,
  type StoredDocument,
  type TombstoneDocument,
  WITHOUT_WORDS,
} from './documents.js';
import { isDuplicateKey } from './errors.js';
import type { CausalOperations, MongoStore } from './store.js';

/** The documents that one command moves. */
const BATCH = 1_000;

/** Each lost race is the success of another process. */
const MAX_RACES = 100;
const MAX_PAUSE_MS = 32;

const NO_EFFECT = 'MONGODB_URL leads to a server that acknowledges updates which it does not make; use MongoDB itself.';

/** A document whose change is not in the log yet. */
type Pending = Pick<StoredDocument, '_id'> & { readonly version: number; readonly live?: true };

/** Tombstones that an earlier release wrote. It gives them neither a version nor `updatedAt`. */
const FOREIGN_TOMBSTONES: Document = { live: null, updatedAt: null };
const BY_UPDATE = 'live_updatedAt';

/**
 * The log of the changes of one table: numbered entries, each of which points to a record.
 *
 * A write of one document cannot write the log too, so a change gets into it in two steps. The change itself stores the
 * version as an int32, which is all that a writer does, and what earlier releases do as well. Later any process *moves*
 * what is pending: it reads the highest number of the log, reads the pending documents, inserts an entry for each from
 * the next number on, in order, and then makes the versions int64. It may be suspended or die between any two steps,
 * beside any number of others. Why a reader who goes on from number to number learns of each change:
 *
 * 1. An entry n + 1 is never visible before n is. A mover inserts n + 1 only after it has read n, or in one command after
 *    n, which ends at the first entry that is refused. `_id` is unique, the last entry is never deleted, and numbers at or
 *    below the low watermark are dealt with in 3. So a mover that read an old number is refused, and begins again.
 * 2. A version becomes an int64 only after a majority has an entry that was inserted after that version was read. The
 *    update names the version, so a later change stays pending. A reader who meets that entry reads the record after it,
 *    causally, so it gets that version or a later one.
 * 3. Old entries are deleted from the lowest on, after the low watermark, `floor`, is raised. A reader reads it after the
 *    entries, and places before it are expired. A mover that was suspended for days may find its number free again: it
 *    reads it after the insertion, and leaves the documents pending if its entries are at or below.
 * 4. The epoch is made when nothing is pending. What is made an int64 without an entry was read while there was no epoch,
 *    so it is older than every place.
 *
 * The highest number is read before the documents, so that a mover which others overtook inserts nothing: else it would
 * point to tombstones that are purged meanwhile. Numbers of entries and doubles mean nothing else.
 */
export class ChangeLog implements DerivedTable {
  readonly name: string;
  private running: Promise<CausalOperations> | undefined;
  private waiting: Promise<CausalOperations> | undefined;
  private readonly settled = new EffectGuard();
  private readonly adopted = new EffectGuard();

  constructor(
    private readonly store: MongoStore,
    private readonly table: RecordTable,
    private readonly now: () => Instant = Date.now,
  ) {
    this.name = table.name;
  }

  /**
   * Moves everything that is pending when it is called. Concurrent callers share one run.
   * @returns operations that see all of it
   */
  async move(): Promise<CausalOperations> {
    // A run that has begun may have read before the caller's changes.
    this.waiting ??= (async () => {
      await this.running?.catch(() => {});
      this.running = this.waiting;
      this.waiting = undefined;
      return this.moveAll();
    })();
    return (await this.waiting).fork();
  }

  /** @throws StoreConfigError if the server does not do what a move waits for, which would never end */
  private async moveAll(): Promise<CausalOperations> {
    const causal = this.store.causally();
    let isMore = (await this.findPending(causal, 1)).length > 0;
    for (let races = 0; isMore; ) {
      const moved = await this.moveBatch(causal);
      isMore = moved === undefined || moved === BATCH;
      if (moved !== undefined) continue;
      if (++races === MAX_RACES) throw unavailable('Other processes write the log of changes.');
      await sleep(Math.random() * MAX_PAUSE_MS);
    }
    return causal;
  }

  /** @returns the number of documents; undefined if another process was faster, which settles the same ones now */
  private async moveBatch(causal: CausalOperations): Promise<number | undefined> {
    const highest = await this.highest(causal);
    const pending = await this.findPending(causal, BATCH);
    if (pending.length === 0) return 0;
    const at = new Date(this.now());
    const entries = pending.map(({ _id: id }, index) => ({ _id: highest + 1 + index, id, at }));
    try {
      await causal.run((database, options) => this.logIn(database).insertMany(entries, options));
    } catch (error) {
      if (isDuplicateKey(error)) return undefined;
      throw error;
    }
    const head = await this.head(causal);
    if (head && head.floor > highest) return undefined;
    await this.settle(causal, pending);
    return pending.length;
  }

  /** Whether {@link turnOn} has more to do than to make an epoch. */
  async isStale(): Promise<boolean> {
    const causal = this.store.causally();
    if ((await this.findForeign(causal, 1)).length > 0) return true;
    return (await this.findPending(causal, 1)).length > 0 && !(await this.head(causal));
  }

  /** Does a part of it. */
  async deriveNext() {
    const causal = this.store.causally();
    const records = (await this.adopt(causal)) || (await this.settleUnlogged(causal)) || 0;
    return { records, hasMore: records > 0 };
  }

  /** Makes an epoch if there is none. Changes before it get into no log. */
  async turnOn(): Promise<void> {
    const causal = this.store.causally();
    for (;;) {
      if ((await this.adopt(causal)) > 0) continue;
      const highest = await this.highest(causal);
      const settled = await this.settleUnlogged(causal);
      if (settled === undefined) return;
      if (settled === 0) await this.makeHead(causal, highest);
    }
  }

  /** Makes versions int64 that were read while there was no epoch. @returns how many; undefined if there is an epoch */
  private async settleUnlogged(causal: CausalOperations): Promise<number | undefined> {
    const pending = await this.findPending(causal, BATCH);
    if (await this.head(causal)) return undefined;
    if (pending.length > 0) await this.settle(causal, pending);
    return pending.length;
  }

  /** What was moved until then stays in the log. */
  async turnOff(): Promise<void> {
    const causal = this.store.causally();
    await causal.run((database, options) => this.logIn(database).deleteOne({ _id: 0 }, options));
  }

  /** Makes another epoch, if there is one. */
  async reset(causal = this.store.causally()): Promise<void> {
    const update = { $set: { epoch: newEpoch() } };
    await causal.run((database, options) => this.logIn(database).updateOne({ _id: 0 }, update, options));
  }

  /**
   * Makes another epoch if an earlier release has deleted records: nobody knows their versions. Its other writes are
   * pending like all.
   * @returns how many it found, of which there may be more
   */
  private async adopt(causal: CausalOperations): Promise<number> {
    const found = await this.findForeign(causal, BATCH);
    this.adopted.check(found);
    if (found.length === 0) return 0;
    // In this order: a process that dies in between leaves the tombstones to the next.
    await this.reset(causal);
    const updates = found.map(({ _id, deletedAt }) => ({
      updateOne: { filter: { _id, ...FOREIGN_TOMBSTONES }, update: { $set: { updatedAt: deletedAt } } },
    }));
    this.adopted.note(found, await this.update(causal, updates));
    return found.length;
  }

  private findForeign(causal: CausalOperations, limit: number): Promise<TombstoneDocument[]> {
    return causal.run((database, options) =>
      this.recordsIn<TombstoneDocument>(database)
        .find(FOREIGN_TOMBSTONES, { ...options, projection: { deletedAt: 1 }, hint: BY_UPDATE })
        .limit(limit)
        .batchSize(limit + 1)
        .toArray(),
    );
  }

  /** Deletes entries from before a moment, the oldest first, but for the last one, whose number others go on from. */
  async trim(moment: Instant): Promise<void> {
    const causal = this.store.causally();
    const isExpired = ({ at }: ChangeLogEntry) => at.getTime() < moment;
    for (const guard = new EffectGuard(); ; ) {
      const [oldest] = await this.entries(causal, 1, 1);
      if (!oldest || !isExpired(oldest)) return;
      const some = await this.entries(causal, 1, BATCH);
      guard.check(some);
      const kept = some.findIndex((entry) => !isExpired(entry));
      const expired = some.slice(0, kept === -1 ? -1 : kept);
      const lowWatermark = expired.at(-1)?._id;
      if (lowWatermark === undefined) return;
      guard.note(expired, 0);
      const raise = { $max: { floor: lowWatermark } };
      const upToIt = { _id: { $gt: 0, $lte: lowWatermark } };
      await causal.run((database, options) => this.logIn(database).updateOne({ _id: 0 }, raise, options));
      await causal.run((database, options) => this.logIn(database).deleteMany(upToIt, options));
    }
  }

  head(causal: CausalOperations): Promise<ChangeLogHead | null> {
    return causal.run((database, options) => this.logIn<ChangeLogHead>(database).findOne({ _id: 0 }, options));
  }

  /** Returns the number of the last entry, 0 if there is none. */
  async highest(causal: CausalOperations): Promise<number> {
    const last = await causal.run((database, options) =>
      this.logIn(database).findOne({}, { ...options, sort: { _id: -1 }, projection: { _id: 1 } }),
    );
    return last?._id ?? 0;
  }

  /** The rows from a number on, in order. Number 0 is the head. */
  async entries(causal: CausalOperations, from: number, limit: number): Promise<ChangeLogEntry[]> {
    return causal.run((database, options) =>
      this.logIn<ChangeLogEntry>(database)
        .find({ _id: { $gte: from } }, options)
        .sort({ _id: 1 })
        .limit(limit)
        .batchSize(limit + 1)
        .toArray(),
    );
  }

  /** The documents of records and tombstones, in any order. @param ids few, for one reply */
  documents(causal: CausalOperations, ids: readonly Id[]): Promise<StoredDocument[]> {
    return causal.run((database, options) =>
      this.recordsIn<StoredDocument>(database)
        .find({ _id: { $in: [...ids] } }, { ...options, projection: WITHOUT_WORDS })
        .batchSize(ids.length + 1)
        .toArray(),
    );
  }

  private async findPending(causal: CausalOperations, limit: number): Promise<Pending[]> {
    const found = await causal.run((database, options) =>
      this.recordsIn<Pending>(database)
        .find(PENDING, { ...options, projection: { version: 1, live: 1 }, hint: PENDING_INDEX.name })
        .sort({ updatedAt: 1 })
        .limit(limit)
        .batchSize(limit + 1)
        .toArray(),
    );
    this.settled.check(found);
    return found;
  }

  /** Makes versions int64, if they are still those that were read. The age of a tombstone begins now. */
  private async settle(causal: CausalOperations, pending: readonly Pending[]): Promise<void> {
    const updates = pending.map(({ _id, version, live }) => ({
      updateOne: {
        filter: { _id, version },
        update: {
          $set: { version: Long.fromNumber(version) },
          ...(!live && { $currentDate: { deletedAt: true as const } }),
        },
      },
    }));
    this.settled.note(pending, await this.update(causal, updates));
  }

  /** @returns how many documents it has changed */
  private async update(
    causal: CausalOperations,
    updates: AnyBulkWriteOperation<{ readonly _id: Id }>[],
  ): Promise<number> {
    const { modifiedCount } = await causal.run((database, options) =>
      this.recordsIn<{ readonly _id: Id }>(database).bulkWrite(updates, { ...options, ordered: false }),
    );
    return modifiedCount;
  }

  /** The entries of an earlier epoch are under the low watermark. */
  private async makeHead(causal: CausalOperations, lowWatermark: number): Promise<void> {
    const head = { $setOnInsert: { epoch: newEpoch(), floor: lowWatermark } };
    const upsert = { upsert: true };
    try {
      await causal.run((database, options) =>
        this.logIn(database).updateOne({ _id: 0 }, head, { ...options, ...upsert }),
      );
    } catch (error) {
      // Of two first processes, one gets a duplicate key.
      if (!isDuplicateKey(error)) throw error;
    }
  }

  private logIn<Kind extends Document = ChangeLogHead | ChangeLogEntry>(database: Db): Collection<Kind> {
    return database.collection<Kind>(changesCollection(this.table));
  }

  private recordsIn<Kind extends Document>(database: Db): Collection<Kind> {
    return database.collection<Kind>(this.table.name);
  }
}

/** Ends a loop that waits for its own effect, on a server that acknowledges updates and does not make them. */
export class EffectGuard {
  private unmodified: ReadonlyMap<number, number | Long | undefined> = new Map();

  /**
   * @param found the next batch
   * @throws StoreConfigError if a batch that had no effect is found again, in the same versions
   */
  check(found: readonly { readonly _id: number; readonly version?: number | Long }[]): void {
    const isAgain = found.some(({ _id, version }) => this.unmodified.has(_id) && this.unmodified.get(_id) === version);
    if (isAgain) throw new StoreConfigError(NO_EFFECT);
  }

  /** @param modified how many of a batch have changed. If another process was faster, none; but none is found again. */
  note(batch: readonly { readonly _id: number; readonly version?: number | Long }[], modified: number): void {
    this.unmodified = new Map(modified > 0 ? [] : batch.map(({ _id, version }) => [_id, version]));
  }
}

function newEpoch(): string {
  return randomBytes(12).toString('hex');
}
