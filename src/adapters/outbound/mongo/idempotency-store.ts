import type { Collection } from 'mongodb';
import type { RecordTable } from '../../../application/list-query.js';
import type { IdempotencyStore, Reservation } from '../../../application/ports/idempotency-store.js';
import { unavailable } from '../../../domain/errors.js';
import { rejectedDocuments } from './errors.js';
import { documentOf, type ReservationDocument, reservationCollection, reservationOf } from './reservation.js';
import type { MongoStore } from './store.js';

/** A key that is in use the first time and gone the second has grown old in between: that happens once, if ever. */
const MAX_TRIES = 3;

/** A collection beside that of the records. The server removes what is old, by an index that says how long it is kept. */
export class MongoIdempotencyStore implements IdempotencyStore {
  constructor(
    private readonly store: MongoStore,
    private readonly table: RecordTable,
  ) {}

  async find(keys: readonly string[]): Promise<ReadonlyMap<string, Reservation>> {
    if (keys.length === 0) return new Map();
    const documents = await this.run((all, maxTimeMS) =>
      all
        .find({ _id: { $in: [...keys] } })
        .batchSize(keys.length + 1)
        .maxTimeMS(maxTimeMS)
        .toArray(),
    );
    return byKey(documents.map(reservationOf));
  }

  async reserve(reservations: readonly Reservation[]): Promise<ReadonlyMap<string, Reservation>> {
    let open = reservations.map((reservation) => ({ ...reservation }));
    const standing = new Map<string, Reservation>();
    for (let tries = 0; open.length > 0; tries++) {
      if (tries === MAX_TRIES) throw unavailable('What stands under a key could not be found out.');
      for (const [key, one] of await this.tried(open)) standing.set(key, one);
      open = open.filter(({ key }) => !standing.has(key));
    }
    return standing;
  }

  /** @returns what stands now: all that was not there before, and what of the others was found */
  private async tried(reservations: readonly Reservation[]): Promise<ReadonlyMap<string, Reservation>> {
    const refused = await this.refused(reservations);
    const own = reservations.filter(({ key }) => !refused.has(key));
    return new Map([...byKey(own), ...(await this.find([...refused]))]);
  }

  /**
   * A refused insertion too is answered when a majority has all that the server knew then (write concern `majority`), so that
   * what refused it can be read.
   * @returns the keys that were in use
   */
  private async refused(reservations: readonly Reservation[]): Promise<ReadonlySet<string>> {
    try {
      await this.run((all, maxTimeMS) =>
        all.insertMany(reservations.map(documentOf), { ordered: false, maxTimeMS }),
      );
      return new Set();
    } catch (error) {
      const refused = rejectedDocuments(error);
      return new Set(reservations.filter((_, at) => refused.has(at)).map(({ key }) => key));
    }
  }

  private run<Result>(
    operation: (all: Collection<ReservationDocument>, maxTimeMS: number) => Promise<Result>,
  ): Promise<Result> {
    const name = reservationCollection(this.table);
    return this.store.run((database, maxTimeMS) =>
      operation(database.collection<ReservationDocument>(name), maxTimeMS),
    );
  }
}

function byKey(reservations: readonly Reservation[]): Map<string, Reservation> {
  return new Map(reservations.map((reservation) => [reservation.key, reservation]));
}
