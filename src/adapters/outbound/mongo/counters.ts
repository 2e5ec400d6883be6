import type { RecordTable } from '../../../application/ports/list-query.js';
import type { Id } from '../../../domain/record.js';
import { COUNTERS, type CounterDocument } from './documents.js';
import { isDuplicateKey } from './errors.js';
import type { CollectionOperation, MongoStore } from './store.js';

/** The counter that the ids of a table come from. */
export class Counter {
  constructor(
    private readonly store: MongoStore,
    private readonly table: RecordTable,
  ) {}

  /** Reserves consecutive ids. Returns the first. */
  async reserve(count: number): Promise<Id> {
    const { name, firstId } = this.table;
    const counter = await this.run((counters, maxTimeMS) =>
      counters.findOneAndUpdate(
        { _id: name },
        { $inc: { reserved: count } },
        { upsert: true, returnDocument: 'after', maxTimeMS },
      ),
    );
    if (!counter) throw new Error(`There is no counter ${name}.`);
    return firstId + counter.reserved - count;
  }

  /** Returns the ids from `first` to before `end` to the counter, if no later id has been reserved. */
  async release(first: Id, end: Id): Promise<void> {
    const { name, firstId } = this.table;
    await this.run((counters, maxTimeMS) =>
      counters.updateOne(
        { _id: name, reserved: end - firstId },
        { $set: { reserved: first - firstId } },
        { maxTimeMS },
      ),
    );
  }

  /** Returns the first id that was never reserved. */
  async next(): Promise<Id> {
    const { name, firstId } = this.table;
    const counter = await this.run((counters, maxTimeMS) => counters.findOne({ _id: name }, { maxTimeMS }));
    return firstId + (counter?.reserved ?? 0);
  }

  /** Raises the counter, so that from now on no id before `next` is reserved. */
  async raise(next: Id): Promise<void> {
    const { name, firstId } = this.table;
    const reserved = next - firstId;
    await this.run((counters, maxTimeMS) =>
      counters.updateOne({ _id: name }, { $max: { reserved } }, { upsert: true, maxTimeMS }),
    );
  }

  /** Two first uses of a counter may race. One of them then gets a duplicate key and succeeds on its second try. */
  private async run<Result>(operation: CollectionOperation<CounterDocument, Result>): Promise<Result> {
    const counters = this.store.collection<CounterDocument>(COUNTERS);
    try {
      return await counters.run(operation);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return counters.run(operation);
    }
  }
}
