import type { IdempotencyStore, Reservation } from '../../../application/ports/idempotency-store.js';
import type { RecordTable } from '../../../application/ports/list-query.js';
import { unavailable } from '../../../domain/errors.js';
import {
  type ReservationDocument,
  reservationCollection,
  reservationDocumentOf,
  reservationOf,
} from './documents.js';
import { rejectedDocuments } from './errors.js';
import type { MongoCollection, MongoStore } from './store.js';

/** A key can be in use at the insertion and expired at the read that follows, but hardly ever twice in a row. */
const MAX_TRIES = 3;

/** Keeps reservations in a collection of their own. The server deletes old ones by a TTL index. */
export class MongoIdempotencyStore implements IdempotencyStore {
  private readonly reservations: MongoCollection<ReservationDocument>;

  constructor(store: MongoStore, table: RecordTable) {
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
    return byKey(documents.map(reservationOf));
  }

  async reserve(reservations: readonly Reservation[]): Promise<ReadonlyMap<string, Reservation>> {
    let remaining = reservations.map((reservation) => ({ ...reservation }));
    const existing = new Map<string, Reservation>();
    for (let tries = 0; remaining.length > 0; tries++) {
      if (tries === MAX_TRIES) throw unavailable('The reservation of a key could not be read.');
      for (const [key, reservation] of await this.attempt(remaining)) existing.set(key, reservation);
      remaining = remaining.filter(({ key }) => !existing.has(key));
    }
    return existing;
  }

  /** @returns the inserted reservations, and the existing ones that were found for the other keys */
  private async attempt(reservations: readonly Reservation[]): Promise<ReadonlyMap<string, Reservation>> {
    const refused = await this.insert(reservations);
    const own = reservations.filter(({ key }) => !refused.has(key));
    return new Map([...byKey(own), ...(await this.find([...refused]))]);
  }

  /**
   * Because of the write concern `majority`, the server responds only when a majority has all its earlier writes, also
   * to a refused insertion. So the existing document can be read.
   * @returns the keys that are in use
   */
  private async insert(reservations: readonly Reservation[]): Promise<ReadonlySet<string>> {
    try {
      await this.reservations.run((all, maxTimeMS) =>
        all.insertMany(reservations.map(reservationDocumentOf), { ordered: false, maxTimeMS }),
      );
      return new Set();
    } catch (error) {
      const refused = rejectedDocuments(error);
      return new Set(reservations.filter((_, at) => refused.has(at)).map(({ key }) => key));
    }
  }
}

function byKey(reservations: readonly Reservation[]): Map<string, Reservation> {
  return new Map(reservations.map((reservation) => [reservation.key, reservation]));
}
