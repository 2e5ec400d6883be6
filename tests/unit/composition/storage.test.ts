import { expect } from 'chai';
import { memoryStorage } from '#src/adapters/outbound/memory/storage.js';
import type { Observer, StoreCall } from '#src/application/ports/observer.js';
import { observedBy, storageOf } from '#src/composition/storage.js';
import { unavailable } from '#src/domain/errors.js';
import { list } from '../../support/list.js';
import { ENDLESS } from '../../support/tables.js';

class RecordingObserver implements Observer {
  readonly lines: string[] = [];
  readonly errors: unknown[] = [];

  storeCall({ system, operation, collection }: StoreCall) {
    const name = [system, collection, operation].filter((part) => part !== undefined).join('.');
    this.lines.push(`begin ${name}`);
    return (error?: unknown) => {
      this.lines.push(`end ${name}`);
      if (error !== undefined) this.errors.push(error);
    };
  }
}

describe('an observed storage', () => {
  const parts = memoryStorage({ budget: ENDLESS });
  const storageFor = (...observers: Observer[]) => storageOf(parts, observedBy(observers, 'memory'));

  it('tells every observer of calls of every table, its reservations and the store', async () => {
    const [first, second] = [new RecordingObserver(), new RecordingObserver()];
    const storage = storageFor(first, second);
    await storage.store.open();
    await storage.store.ping();
    await storage.products.insertAll([{ id: await storage.products.reserveIds(1), fields: {} } as never]);
    expect(await storage.products.find(1)).to.deep.include({ id: 1 });
    expect(await storage.reservations.apiKeys.find(['k'])).to.have.property('size', 0);
    expect(await storage.usage.find([1], 0)).to.deep.equal([]);
    await storage.purgeable[0]?.purgeBefore('2026-01-01T00:00:00.000Z' as never, 1);
    const calls = [
      ...list`memory.open  memory.ping  memory.products.reserveIds  memory.products.insertAll  memory.products.find`,
      ...list`memory.api_keys_reservations.find  memory.api_key_usage.find  memory.purgeBefore`,
    ];
    expect(first.lines).to.deep.equal(calls.flatMap((name) => [`begin ${name}`, `end ${name}`]));
    expect(second.lines).to.deep.equal(first.lines);
  });

  it('passes an error on after it told the observers', async () => {
    const observer = new RecordingObserver();
    const failure = unavailable('The store is away.');
    class FailingStore {
      async ping() {
        throw failure;
      }
    }
    const observed = observedBy([observer], 'memory')(new FailingStore());
    const caught = await observed.ping().catch((error: unknown) => error);
    expect([caught, ...observer.errors]).to.deep.equal([failure, failure]);
    expect(observer.lines).to.deep.equal(['begin memory.ping', 'end memory.ping']);
  });

  it('shows the properties of the store, and observes no end of it', async () => {
    const observer = new RecordingObserver();
    const { store } = storageFor(observer);
    await store.close();
    expect([store.location.slice(0, 10), observer.lines]).to.deep.equal(['the memory', []]);
  });
});
