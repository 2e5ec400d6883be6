/** The collections besides those of records: counters of ids, reservations of idempotency keys, the usage of API keys. */
import { BSON, type Document, type Filter, type WithId } from 'mongodb';
import type { EntryCounts, ReservationArchive } from '../../../application/ports/archive.js';
import type { IdempotencyStore, Reservation } from '../../../application/ports/idempotency-store.js';
import { MAX_PAGE_BYTES, type RecordTable } from '../../../application/ports/list-query.js';
import type { RouteUsage, UsageCount, UsageStore } from '../../../application/ports/usage-store.js';
import { reserveInSteps } from '../../../application/records/write-conditions.js';
import type { Id, Instant } from '../../../domain/record.js';
import { COUNTERS, reservationCollection, USAGE } from './documents.js';
import { isDuplicateKey, rejectedDocuments } from './errors.js';
import { BATCH, readUpTo } from './list.js';
import type { CollectionOperation, MongoCollection, MongoStore } from './store.js';

interface CounterDocument {
  readonly _id: string;
  /** The number of ids that were reserved. */
  readonly reserved: number;
}

/** The counter that the ids of a table come from. */
export class IdCounter {
  private readonly counters: MongoCollection<CounterDocument>;
  private readonly _id: string;
  private readonly firstId: Id;

  constructor(store: MongoStore, { name, firstId }: RecordTable) {
    this.counters = store.collection(COUNTERS);
    this._id = name;
    this.firstId = firstId;
  }

  async reserveIds(count: number): Promise<Id> {
    const { _id } = this;
    const counter = await this.withCounters((counters, maxTimeMS) =>
      counters.findOneAndUpdate(
        { _id },
        { $inc: { reserved: count } },
        { upsert: true, returnDocument: 'after', maxTimeMS },
      ),
    );
    if (!counter) throw new Error(`There is no counter ${_id}.`);
    return this.firstId + counter.reserved - count;
  }

  async releaseIds(first: Id, end: Id): Promise<void> {
    const { _id, firstId } = this;
    const filter = { _id, reserved: end - firstId };
    const update = { $set: { reserved: first - firstId } };
    await this.withCounters((counters, maxTimeMS) => counters.updateOne(filter, update, { maxTimeMS }));
  }

  async nextId(): Promise<Id> {
    const { _id, firstId } = this;
    const counter = await this.withCounters((counters, maxTimeMS) => counters.findOne({ _id }, { maxTimeMS }));
    return firstId + (counter?.reserved ?? 0);
  }

  async raiseNextId(next: Id): Promise<void> {
    const { _id, firstId } = this;
    const update = { $max: { reserved: next - firstId } };
    await this.withCounters((counters, maxTimeMS) => counters.updateOne({ _id }, update, { upsert: true, maxTimeMS }));
  }

  /** Two first uses of a counter may race. One of them then gets a duplicate key and succeeds on its second attempt. */
  private async withCounters<Result>(operation: CollectionOperation<CounterDocument, Result>): Promise<Result> {
    try {
      return await this.counters.run(operation);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return this.counters.run(operation);
    }
  }
}

interface ReservationDocument {
  /** The key. */
  readonly _id: string;
  readonly fingerprint: string;
  readonly id: Id;
  readonly reservedAt: Date;
  readonly fields?: string;
}

function documentOf({ key, reservedAt, ...rest }: Reservation): ReservationDocument {
  return { _id: key, reservedAt: new Date(reservedAt), ...rest };
}

function reservationOf({ _id, reservedAt, ...rest }: ReservationDocument): Reservation {
  return { key: _id, reservedAt: reservedAt.getTime(), ...rest };
}

/** The reservations of one table, for its creations and for copies between stores. The server deletes old ones. */
export class MongoReservations implements IdempotencyStore, ReservationArchive {
  readonly name: string;
  private readonly reservations: MongoCollection<ReservationDocument>;

  constructor(store: MongoStore, table: Pick<RecordTable, 'name'>) {
    this.name = table.name;
    this.reservations = store.collection(reservationCollection(table));
  }

  async find(keys: readonly string[]): Promise<ReadonlyMap<string, Reservation>> {
    if (keys.length === 0) return new Map();
    const documents = await this.reservations.run((all, maxTimeMS) =>
      all
        .find({ _id: { $in: [...keys] } })
        .batchSize(keys.length + 1)
        .maxTimeMS(maxTimeMS)
        .toArray(),
    );
    return new Map(documents.map((document) => [document._id, reservationOf(document)]));
  }

  reserve(reservations: readonly Reservation[]): Promise<ReadonlyMap<string, Reservation>> {
    return reserveInSteps(
      reservations,
      (missing) => this.insert(missing),
      (keys) => this.find(keys),
    );
  }

  async add(reservations: readonly Reservation[]): Promise<void> {
    const documents = reservations.map(documentOf);
    await this.reservations.run((all, maxTimeMS) => all.insertMany(documents, { maxTimeMS }));
  }

  async discard(keys: readonly string[]): Promise<void> {
    const filter = { _id: { $in: [...keys] } };
    await this.reservations.run((all, maxTimeMS) => all.deleteMany(filter, { maxTimeMS }));
  }

  async read(after: string, limit: number): Promise<readonly Reservation[]> {
    return (await readBehind(this.reservations, after, limit)).map(reservationOf);
  }

  async counts(since: Instant): Promise<EntryCounts> {
    const reservedAt = { $gte: new Date(since) };
    const reservation = await this.reservations.run((all, maxTimeMS) =>
      all.countDocuments({ reservedAt }, { maxTimeMS }),
    );
    return { reservation };
  }

  /**
   * Because of the write concern `majority`, the server responds only when a majority has all its earlier writes, also
   * to a refused insertion. So the existing document can be read.
   */
  private async insert(reservations: readonly Reservation[]): Promise<ReadonlySet<string>> {
    const keys = reservations.map(({ key }) => key);
    try {
      await this.reservations.run((all, maxTimeMS) =>
        all.insertMany(reservations.map(documentOf), { ordered: false, maxTimeMS }),
      );
      return new Set(keys);
    } catch (error) {
      const refused = rejectedDocuments(error);
      return new Set(keys.filter((_, at) => !refused.has(at)));
    }
  }
}

interface UsageDocument {
  /** The id of the key, the hour and the counter. */
  readonly _id: string;
  readonly keyId: Id;
  readonly hour: Date;
  readonly counter: string;
  readonly routes: readonly RouteUsage[];
}

/** The usage of API keys. The server deletes old counts. */
export class MongoUsageStore implements UsageStore {
  private readonly counts: MongoCollection<UsageDocument>;

  constructor(store: MongoStore) {
    this.counts = store.collection(USAGE);
  }

  async save(counts: readonly UsageCount[]): Promise<void> {
    if (counts.length === 0) return;
    const replacements = counts.map(({ keyId, hour, counter, routes }) => {
      const replacement = { keyId, hour: new Date(hour), counter, routes };
      return { replaceOne: { filter: { _id: `${keyId} ${hour} ${counter}` }, replacement, upsert: true } };
    });
    await this.counts.run((all, maxTimeMS) => all.bulkWrite(replacements, { ordered: false, maxTimeMS }));
  }

  async find(keyIds: readonly Id[], since: Instant): Promise<readonly UsageCount[]> {
    const filter = { keyId: { $in: [...keyIds] }, hour: { $gte: new Date(since) } };
    const documents = await this.counts.run((all, maxTimeMS) => all.find(filter).maxTimeMS(maxTimeMS).toArray());
    return documents.map(({ keyId, hour, counter, routes }) => {
      return { keyId, hour: hour.getTime(), counter, routes };
    });
  }
}

/** Reads the first documents behind a key: at most `limit`, fewer if they reach {@link MAX_PAGE_BYTES}. */
export async function readBehind<Kind extends Document>(
  collection: MongoCollection<Kind>,
  key: Id | string,
  limit: number,
  projection: Document = {},
): Promise<WithId<Kind>[]> {
  return collection.run(async (all, maxTimeMS) => {
    const behind = { _id: { $gt: key } } as Filter<Kind>;
    const cursor = all.find(behind, {
      projection,
      sort: { _id: 1 },
      limit,
      batchSize: BATCH,
      maxTimeMS,
    });
    const same = (document: WithId<Kind>) => document;
    return (await readUpTo(limit, MAX_PAGE_BYTES, cursor, same, BSON.calculateObjectSize)).items;
  });
}
