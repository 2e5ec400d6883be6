import type { Collection } from 'mongodb';
import type { RecordTable } from '../../../application/list-query.js';
import type { IdempotencyStore, Reservation } from '../../../application/ports/idempotency-store.js';
import type { Id } from '../../../domain/record.js';
import { refusedDocuments } from './mongo-errors.js';
import type { MongoStore } from './mongo-store.js';

interface ReservationDocument {
  /** The key. */
  readonly _id: string;
  readonly fingerprint: string;
  readonly id: Id;
  readonly reservedAt: Date;
  readonly fields?: string;
}

/** A collection beside that of the records. The server removes what is old, by an index that says how long it is kept. */
export class MongoIdempotencyStore implements IdempotencyStore {
  constructor(
    private readonly store: MongoStore,
    private readonly table: RecordTable,
  ) {}

  async find(keys: readonly string[]): Promise<ReadonlyMap<string, Reservation>> {
    const documents = await this.run((all) =>
      all
        .find({ _id: { $in: [...keys] } })
        .batchSize(keys.length + 1)
        .maxTimeMS(this.store.operationMs)
        .toArray(),
    );
    return byKey(documents.map(reservationOf));
  }

  async reserve(reservations: readonly Reservation[]): Promise<ReadonlyMap<string, Reservation>> {
    const own = reservations.map((reservation) => ({ ...reservation }));
    const refused = await this.refused(own);
    if (refused.size === 0) return byKey(own);
    const standing = await this.find([...refused]);
    // One may have grown old and been removed in the meantime.
    const again = own.filter(({ key }) => refused.has(key) && !standing.has(key));
    const late = again.length > 0 ? await this.reserve(again) : [];
    return new Map([...byKey(own.filter(({ key }) => !refused.has(key))), ...standing, ...late]);
  }

  /** @returns the keys that were in use */
  private async refused(reservations: readonly Reservation[]): Promise<ReadonlySet<string>> {
    try {
      await this.run((all) => all.insertMany(reservations.map(documentOf), { ordered: false }));
      return new Set();
    } catch (error) {
      const refused = refusedDocuments(error);
      return new Set(reservations.filter((_, at) => refused.has(at)).map(({ key }) => key));
    }
  }

  private run<Result>(operation: (all: Collection<ReservationDocument>) => Promise<Result>): Promise<Result> {
    const name = reservationsOf(this.table);
    return this.store.run((database) => operation(database.collection<ReservationDocument>(name)));
  }
}

/** The name of the collection. */
export function reservationsOf({ name }: RecordTable): string {
  return `${name}_reservations`;
}

function byKey(reservations: readonly Reservation[]): Map<string, Reservation> {
  return new Map(reservations.map((reservation) => [reservation.key, reservation]));
}

function documentOf({ key, reservedAt, ...rest }: Reservation): ReservationDocument {
  return { _id: key, reservedAt: new Date(reservedAt), ...rest };
}

function reservationOf({ _id, reservedAt, ...rest }: ReservationDocument): Reservation {
  return { key: _id, reservedAt: reservedAt.getTime(), ...rest };
}
