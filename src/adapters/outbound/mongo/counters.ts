import type { Collection } from 'mongodb';
import type { RecordTable } from '../../../application/list-query.js';
import type { Id } from '../../../domain/record.js';
import { COUNTERS, type CounterDocument } from './documents.js';
import { isDuplicateKey } from './errors.js';
import type { MongoStore } from './store.js';

/** Gives out the ids of a table from its counter. */
export class Counter {
  constructor(
    private readonly store: MongoStore,
    private readonly table: RecordTable,
  ) {}

  /** @returns the first of them */
  async reserve(count: number): Promise<Id> {
    const { name, firstId } = this.table;
    const counter = await this.counting((counters, maxTimeMS) =>
      counters.findOneAndUpdate(
        { _id: name },
        { $inc: { reserved: count } },
        { upsert: true, returnDocument: 'after', maxTimeMS },
      ),
    );
    if (!counter) throw new Error(`There is no counter ${name}.`);
    return firstId + counter.reserved - count;
  }

  async release(first: Id, end: Id): Promise<void> {
    const { name, firstId } = this.table;
    await this.counting((counters, maxTimeMS) =>
      counters.updateOne(
        { _id: name, reserved: end - firstId },
        { $set: { reserved: first - firstId } },
        { maxTimeMS },
      ),
    );
  }

  /** Of two first uses of a counter that race one may find the other's document in its way; then it is there. */
  private async counting<Result>(
    operation: (counters: Collection<CounterDocument>, maxTimeMS: number) => Promise<Result>,
  ): Promise<Result> {
    const count = () =>
      this.store.run((database, maxTimeMS) =>
        operation(database.collection<CounterDocument>(COUNTERS), maxTimeMS),
      );
    try {
      return await count();
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return count();
    }
  }
}
