import { expect } from 'chai';
import { memoryStorage } from '#src/adapters/outbound/memory/storage.js';
import type { StoreCall, StoreObserver } from '#src/application/ports/store-observer.js';
import { observedStorage } from '#src/composition/observed-storage.js';
import { type Storage, storageOf } from '#src/composition/storage.js';
import { RECORD_TABLES } from '#src/composition/tables.js';
import { unavailable } from '#src/domain/errors.js';
import { ENDLESS } from '../../support/tables.js';

class RecordingObserver implements StoreObserver {
  readonly lines: string[] = [];
  readonly errors: unknown[] = [];

  begin({ system, operation, collection }: StoreCall) {
    const name = [system, collection, operation].filter((part) => part !== undefined).join('.');
    this.lines.push(`begin ${name}`);
    return (error?: unknown) => {
      this.lines.push(`end ${name}`);
      if (error !== undefined) this.errors.push(error);
    };
  }
}

describe('observedStorage', () => {
  const storageWith = (...observers: StoreObserver[]): Storage =>
    observedStorage(storageOf(memoryStorage({ budget: ENDLESS })), 'memory', observers);

  it('returns the storage itself without observers', () => {
    const storage = storageOf(memoryStorage({ budget: ENDLESS }));
    expect(observedStorage(storage, 'memory', [])).to.equal(storage);
  });

  it('tells every observer of calls of every table, its reservations and the store', async () => {
    const [first, second] = [new RecordingObserver(), new RecordingObserver()];
    const storage = storageWith(first, second);
    await storage.store.open();
    await storage.store.ping();
    await storage.products.insertAll([{ id: await storage.products.reserveIds(1), fields: {} } as never]);
    expect(await storage.products.find(1)).to.deep.include({ id: 1 });
    expect(await storage.reservations.apiKeys.find(['k'])).to.have.property('size', 0);
    expect(await storage.usage.find([1], 0)).to.deep.equal([]);
    await storage.purgeable[0]?.purgeBefore('2026-01-01T00:00:00.000Z' as never, 1);
    const calls = [
      'memory.open',
      'memory.ping',
      'memory.products.reserveIds',
      'memory.products.insertAll',
      'memory.products.find',
      'memory.api_keys_reservations.find',
      'memory.api_key_usage.find',
      'memory.purgeBefore',
    ];
    expect(first.lines).to.deep.equal(calls.flatMap((name) => [`begin ${name}`, `end ${name}`]));
    expect(second.lines).to.deep.equal(first.lines);
  });

  it('observes every method of every repository', () => {
    const plain = storageOf(memoryStorage({ budget: ENDLESS }));
    const storage = observedStorage(plain, 'memory', [new RecordingObserver()]);
    for (const key of Object.keys(RECORD_TABLES) as (keyof typeof RECORD_TABLES)[]) {
      const names = Object.getOwnPropertyNames(Object.getPrototypeOf(plain[key])).filter((name) =>
        Object.hasOwn(storage[key], name),
      );
      expect(names).to.have.length(14);
    }
  });

  it('passes an error on after it told the observers', async () => {
    const observer = new RecordingObserver();
    const failure = unavailable('The store is away.');
    const plain = storageOf(memoryStorage({ budget: ENDLESS }));
    plain.users.find = () => Promise.reject(failure);
    plain.users.count = () => {
      throw failure;
    };
    const storage = observedStorage(plain, 'memory', [observer]);
    const caught = await storage.users.find(1).catch((error: unknown) => error);
    expect(caught).to.equal(failure);
    expect(() => storage.users.count([])).to.throw('The store is away.');
    expect(observer.errors).to.deep.equal([failure, failure]);
    expect(observer.lines.at(-1)).to.equal('end memory.users.count');
  });

  it('shows the properties of the store', () => {
    expect(storageWith(new RecordingObserver()).store.location).to.match(/^the memory/);
  });
});
