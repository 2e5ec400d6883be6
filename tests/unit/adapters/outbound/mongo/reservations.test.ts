import { expect } from 'chai';
import { type Db, MongoBulkWriteError } from 'mongodb';
import { translateError } from '#src/adapters/outbound/mongo/errors.js';
import { MongoReservations } from '#src/adapters/outbound/mongo/small-tables.js';
import { MongoStore } from '#src/adapters/outbound/mongo/store.js';
import type { Reservation } from '#src/application/ports/idempotency-store.js';
import { expectAppError } from '../../../../support/expect-refusal.js';
import { ENDLESS, PRODUCTS } from '../../../../support/tables.js';

const ONE: Reservation = { key: 'a', fingerprint: 'f', id: 1, reservedAt: 1_000 };

/** Returns the given outcomes in turn, without a server. */
class ScriptedStore extends MongoStore {
  readonly asked: string[] = [];

  constructor(private readonly insertions: (unknown | 'inserted')[]) {
    super('mongodb://127.0.0.1:1/', [], ENDLESS);
  }

  override async run<Result>(operation: (database: Db, maxTimeMS: number) => Promise<Result>): Promise<Result> {
    const found = { batchSize: () => found, maxTimeMS: () => found, toArray: async () => this.next('find') };
    const collection = { insertMany: async () => this.next('insert'), find: () => found };
    try {
      return await operation({ collection: () => collection } as unknown as Db, 1_000);
    } catch (error) {
      throw translateError(error);
    }
  }

  private next(call: 'insert' | 'find'): unknown {
    this.asked.push(call);
    if (call === 'find') return [];
    const outcome = this.insertions.shift();
    if (outcome !== 'inserted') throw outcome;
    return undefined;
  }
}

describe('MongoReservations.reserve', () => {
  const duplicate = () => {
    const writeErrors = [{ code: 11_000, index: 0, errmsg: 'E11000 duplicate key error index: _id_ dup key' }];
    const result = { getWriteConcernError: () => undefined };
    return new MongoBulkWriteError({ message: 'bulk', code: 0, writeErrors } as never, result as never);
  };
  let store: ScriptedStore;
  const reserve = (insertions: unknown[]) => {
    store = new ScriptedStore(insertions);
    return new MongoReservations(store, PRODUCTS).reserve([ONE]);
  };
  afterEach(() => store.close());

  it('retries if the existing reservation was purged in between', async () => {
    expect([...(await reserve([duplicate(), 'inserted'])).values()]).to.deep.equal([ONE]);
    expect(store.asked).to.deep.equal(['insert', 'find', 'insert']);
  });

  it('limits the retries', async () => {
    await expectAppError(reserve(Array.from({ length: 100 }, duplicate)), 'unavailable');
    expect(store.asked.length).to.be.lessThan(10);
  });
});
