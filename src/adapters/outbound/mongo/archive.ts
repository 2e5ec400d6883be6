import type { Document } from 'mongodb';
import type { RecordArchive, RecordEntry, ReservationArchive } from '../../../application/ports/archive.js';
import type { Reservation } from '../../../application/ports/idempotency-store.js';
import type { RecordTable } from '../../../application/ports/list-query.js';
import { type Id, type Instant, MAX_ID } from '../../../domain/record.js';
import { Counter } from './counters.js';
import {
  archivedDocumentOf,
  type LiveDocument,
  type MongoTable,
  type ReservationDocument,
  recordOf,
  reservationCollection,
  reservationDocumentOf,
  reservationOf,
  type StoredDocument,
  tombstoneOf,
} from './documents.js';
import { readById } from './list.js';
import type { MongoCollection, MongoStore } from './store.js';
import { WITHOUT_WORDS } from './words.js';

const LIVE = { live: true } as const;
const ID_ALONE = { _id: 1 } as const;

/** The earliest instant that a date can have. */
const FIRST_INSTANT = -8.64e15;

/** Returns the key of a document as text: it may have any type. */
function keyIn(document: { readonly _id: unknown } | null): string | undefined {
  return document === null ? undefined : String(document._id);
}

/** The records, tombstones and counter of one table, for copies between stores. */
export class MongoArchive<Fields> implements RecordArchive {
  readonly name: string;
  private readonly entries: MongoCollection<StoredDocument>;
  private readonly counter: Counter;

  constructor(
    store: MongoStore,
    private readonly table: MongoTable<Fields>,
  ) {
    this.name = table.name;
    this.entries = store.collection(table.name);
    this.counter = new Counter(store, table);
  }

  async read(after: Id, limit: number): Promise<readonly RecordEntry[]> {
    const documents = await this.entries.run((all, maxTimeMS) =>
      readById(all.find({ _id: { $gt: after } }, { projection: WITHOUT_WORDS }), limit, maxTimeMS),
    );
    return documents.map((document) =>
      'live' in document ? recordOf(this.table, document) : tombstoneOf(document),
    );
  }

  async outlier(): Promise<string | undefined> {
    const isOutside = { _id: { $not: { $gte: 1, $lte: MAX_ID } } };
    return keyIn(
      await this.entries.run((all, maxTimeMS) => all.findOne(isOutside, { projection: ID_ALONE, maxTimeMS })),
    );
  }

  async count(since: Instant): Promise<number> {
    const live = await this.countLive();
    const late = { $gte: new Date(Math.max(since, FIRST_INSTANT)) };
    const deletedSince = { $or: [{ updatedAt: late }, { updatedAt: null, deletedAt: late }] };
    const tombstones = await this.entries.run((all, maxTimeMS) =>
      all.countDocuments({ live: null, ...deletedSince } as Document, { maxTimeMS }),
    );
    return live + tombstones;
  }

  async add(entries: readonly RecordEntry[]): Promise<void> {
    const documents = entries.map((entry) => archivedDocumentOf(this.table, entry));
    await this.entries.run((all, maxTimeMS) => all.insertMany(documents, { maxTimeMS }));
  }

  async discard(ids: readonly Id[]): Promise<void> {
    await this.entries.run((all, maxTimeMS) => all.deleteMany({ _id: { $in: [...ids] } }, { maxTimeMS }));
  }

  nextId(): Promise<Id> {
    return this.counter.next();
  }

  raiseNextId(next: Id): Promise<void> {
    return this.counter.raise(next);
  }

  /** Detects a creation by the counter, a deletion by the number of records, and a change by the newest time. */
  async changeMark(): Promise<string> {
    const records = await this.countLive();
    const newest = await this.entries.run((all, maxTimeMS) =>
      all.findOne<Pick<LiveDocument, 'updatedAt'>>(LIVE, {
        sort: { updatedAt: -1, _id: 1 },
        projection: { updatedAt: 1 },
        maxTimeMS,
      }),
    );
    return [await this.nextId(), records, newest?.updatedAt.getTime()].join(' ');
  }

  private countLive(): Promise<number> {
    return this.entries.run((all, maxTimeMS) => all.countDocuments(LIVE, { hint: 'live', maxTimeMS }));
  }
}

/** The reservations of one table, for copies between stores. */
export class MongoReservationArchive implements ReservationArchive {
  readonly name: string;
  private readonly entries: MongoCollection<ReservationDocument>;

  constructor(store: MongoStore, table: RecordTable) {
    this.name = table.name;
    this.entries = store.collection(reservationCollection(table));
  }

  async read(after: string, limit: number): Promise<readonly Reservation[]> {
    const documents = await this.entries.run((all, maxTimeMS) =>
      readById(all.find({ _id: { $gt: after } }), limit, maxTimeMS),
    );
    return documents.map(reservationOf);
  }

  async outlier(): Promise<string | undefined> {
    const isNoText = { _id: { $not: { $gt: '' } } };
    return keyIn(
      await this.entries.run((all, maxTimeMS) => all.findOne(isNoText, { projection: ID_ALONE, maxTimeMS })),
    );
  }

  async count(since: Instant): Promise<number> {
    const reservedAt = { $gte: new Date(since) };
    return this.entries.run((all, maxTimeMS) => all.countDocuments({ reservedAt }, { maxTimeMS }));
  }

  async add(reservations: readonly Reservation[]): Promise<void> {
    const documents = reservations.map(reservationDocumentOf);
    await this.entries.run((all, maxTimeMS) => all.insertMany(documents, { maxTimeMS }));
  }

  async discard(keys: readonly string[]): Promise<void> {
    await this.entries.run((all, maxTimeMS) => all.deleteMany({ _id: { $in: [...keys] } }, { maxTimeMS }));
  }
}
