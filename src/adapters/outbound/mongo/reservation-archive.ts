import type { Collection } from 'mongodb';
import type { RecordTable } from '../../../application/list-query.js';
import type { ReservationArchive } from '../../../application/ports/archive.js';
import type { Reservation } from '../../../application/ports/idempotency-store.js';
import { readBatch } from './read-batch.js';
import { documentOf, type ReservationDocument, reservationCollection, reservationOf } from './reservation.js';
import type { MongoStore } from './store.js';

export class MongoReservationArchive implements ReservationArchive {
  readonly name: string;

  constructor(
    private readonly store: MongoStore,
    table: RecordTable,
  ) {
    this.name = table.name;
  }

  async read(after: string, limit: number): Promise<readonly Reservation[]> {
    const documents = await this.run((all, maxTimeMS) =>
      readBatch(all.find({ _id: { $gt: after } }), limit, maxTimeMS),
    );
    return documents.map(reservationOf);
  }

  async add(reservations: readonly Reservation[]): Promise<void> {
    await this.run((all, maxTimeMS) => all.insertMany(reservations.map(documentOf), { maxTimeMS }));
  }

  async discard(keys: readonly string[]): Promise<void> {
    await this.run((all, maxTimeMS) => all.deleteMany({ _id: { $in: [...keys] } }, { maxTimeMS }));
  }

  private run<Result>(
    operation: (all: Collection<ReservationDocument>, maxTimeMS: number) => Promise<Result>,
  ): Promise<Result> {
    const collection = reservationCollection(this);
    return this.store.run((database, maxTimeMS) =>
      operation(database.collection<ReservationDocument>(collection), maxTimeMS),
    );
  }
}
