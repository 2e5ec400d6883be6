import { expect } from 'chai';
import { type Db, MongoBulkWriteError, MongoNetworkError } from 'mongodb';
import { translateError } from '#src/adapters/outbound/mongo/errors.js';
import { MongoReservations } from '#src/adapters/outbound/mongo/small-tables.js';
import { MongoStore } from '#src/adapters/outbound/mongo/store.js';
import type { Reservation } from '#src/application/ports/idempotency-store.js';
import { expectAppError } from '../../../../support/expect-refusal.js';
import { ENDLESS, PRODUCTS } from '../../../../support/tables.js';

const ONE: Reservation = { key: 'a', fingerprint: 'f', id: 1, reservedAt: 1_000 };
const OTHER = { _id: 'a', fingerprint: 'g', id: 2, reservedAt: new Date(2_000) };

/** Returns the given outcomes in turn, without a server. */
class ScriptedStore extends MongoStore {
  readonly asked: string[] = [];

  constructor(
    private readonly insertions: (unknown | 'inserted')[],
    private readonly findings: object[][] = [],
  ) {
    super('mongodb://127.0.0.1:1/', [], ENDLESS);
  }

  override async run<Result>(
    operation: (database: Db, maxTimeMS: number) => Promise<Result>,
  ): Promise<Result> {
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
    if (call === 'find') return this.findings.shift() ?? [];
    const outcome = this.insertions.shift();
    if (outcome !== 'inserted') throw outcome;
    return undefined;
  }
}

describe('MongoReservations.reserve', () => {
  const duplicate = () =>
    bulkError([{ code: 11_000, index: 0, errmsg: 'E11000 duplicate key error index: _id_ dup key' }]);
  let store: ScriptedStore;
  const reserve = (insertions: unknown[], findings: object[][] = []) => {
    store = new ScriptedStore(insertions, findings);
    return new MongoReservations(store, PRODUCTS).reserve([ONE]);
  };
  afterEach(() => store.close());

  it('inserts a free key, and reads the existing reservation of a used one', async () => {
    expect([...(await reserve(['inserted'])).values()]).to.deep.equal([ONE]);
    expect(store.asked).to.deep.equal(['insert']);
    const [existing] = (await reserve([duplicate()], [[OTHER]])).values();
    expect(existing).to.deep.equal({ key: 'a', fingerprint: 'g', id: 2, reservedAt: 2_000 });
    expect(store.asked).to.deep.equal(['insert', 'find']);
  });

  it('retries if the existing reservation was purged in between', async () => {
    expect([...(await reserve([duplicate(), 'inserted'], [[]])).values()]).to.deep.equal([ONE]);
    expect(store.asked).to.deep.equal(['insert', 'find', 'insert']);
  });

  it('limits the retries', async () => {
    await expectAppError(reserve(Array.from({ length: 100 }, duplicate)), 'unavailable');
    expect(store.asked.length).to.be.lessThan(10);
  });

  it('is unavailable if the majority did not acknowledge in time', async () => {
    const late = bulkError([], { code: 64, errmsg: 'waiting for replication timed out' });
    await expectAppError(reserve([late]), 'unavailable');
    const both = bulkError([{ code: 11_000, index: 0, errmsg: 'E11000 index: _id_ ' }], { code: 64 });
    await expectAppError(reserve([both], [[OTHER]]), 'unavailable');
  });

  it('is unavailable if the connection was lost', async () => {
    await expectAppError(reserve([new MongoNetworkError('connection 1 closed')]), 'unavailable');
  });

  it('passes on a defect', async () => {
    const defect = bulkError([{ code: 121, index: 0, errmsg: 'Document failed validation' }]);
    expect(await reserve([defect]).catch((error: unknown) => error)).to.equal(defect);
  });
});

function bulkError(writeErrors: object[], writeConcernError?: object): MongoBulkWriteError {
  const result = { getWriteConcernError: () => writeConcernError };
  return new MongoBulkWriteError({ message: 'bulk', code: 0, writeErrors } as never, result as never);
}
