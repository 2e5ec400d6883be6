import { expect } from 'chai';
import { MemoryUsageStore } from '#src/adapters/outbound/memory/expiring.js';
import { readUsage, UsageCounter } from '#src/application/auth/key-usage.js';
import { HOUR_MS } from '#src/application/maintenance/retention.js';
import type { RequestEntry } from '#src/application/ports/observer.js';
import type { UsageCount } from '#src/application/ports/usage-store.js';
import { unavailable } from '#src/domain/errors.js';
import { expectAppError } from '../../../support/expect-refusal.js';
import { FakeClock } from '../../../support/fakes.js';
import { REQUEST_ENTRY } from '../../../support/request-entry.js';

const HOUR = Date.UTC(2026, 10, 21, 15);

/** A store that can be unreachable, before or after it saves. */
class FakeStore extends MemoryUsageStore {
  failure: 'none' | 'before' | 'after' = 'none';
  readonly saves: (readonly UsageCount[])[] = [];

  override async save(counts: readonly UsageCount[]): Promise<void> {
    if (this.failure === 'before') throw unavailable('down');
    this.saves.push(counts);
    await super.save(counts);
    if (this.failure === 'after') throw unavailable('no response');
  }
}

describe('UsageCounter', () => {
  let clock: FakeClock;
  let store: FakeStore;
  let counter: UsageCounter;
  let names: number;
  const newCounter = (maxNumbers?: number) =>
    new UsageCounter({ store, clock, newName: () => `counter ${++names}` }, maxNumbers);
  beforeEach(() => {
    clock = new FakeClock(HOUR + 30 * 60_000);
    store = new FakeStore();
    names = 0;
    counter = newCounter();
  });

  const request = (changes: Partial<RequestEntry> = {}, times = 1) => {
    for (let i = 0; i < times; i++) counter.end({ ...REQUEST_ENTRY, ...changes });
  };
  /** Returns the usage of key 7 as all processes read it: the sum, then each route. */
  const usage = async (keyId = 7) => {
    const found = (await readUsage(store, [keyId], clock.now())).get(keyId);
    return found && [found.requests, ...found.byRoute.map((one) => Object.values(one).join(' '))];
  };

  it('counts the requests of a key by method, route and version', async () => {
    request({}, 3);
    request({ method: 'POST', route: '/v1/products' }, 5);
    request({ method: 'HEAD' });
    request({ route: '/v2/products/{id}', version: 2 });
    request({ principal: 'key:8' }, 2);
    await counter.save();
    expect(await usage()).to.deep.equal([
      10,
      'POST /v1/products 1 5',
      'GET /v1/products/{id} 1 3',
      'HEAD /v1/products/{id} 1 1',
      'GET /v2/products/{id} 2 1',
    ]);
    expect(await usage(8)).to.deep.equal([2, 'GET /v1/products/{id} 1 2']);
  });

  it('counts no request without a key or without a route, and no other method', async () => {
    for (const principal of [undefined, 'https://issuer.example key:7', 'key:07', 'key:7 ', 'key:99999999999999999'])
      request({ principal });
    request({ route: 'unknown', version: undefined });
    for (const method of ['OPTIONS', 'PROPFIND', 'get', '__proto__', 'constructor']) request({ method });
    await counter.save();
    expect(store.saves).to.deep.equal([]);
  });

  it('counts routes with the names of members of objects', async () => {
    for (const route of ['__proto__', 'constructor']) request({ route });
    await counter.save();
    expect(await usage()).to.deep.equal([2, 'GET __proto__ 1 1', 'GET constructor 1 1']);
  });

  it('saves what has changed, and nothing if nothing has', async () => {
    request();
    request({ principal: 'key:8' });
    await counter.save();
    await counter.save();
    request();
    await counter.save();
    expect(store.saves.map((counts) => counts.map(({ keyId }) => keyId))).to.deep.equal([[7, 8], [7]]);
    expect(await usage()).to.deep.equal([2, 'GET /v1/products/{id} 1 2']);
  });

  it('counts requests that end during a save in the next one', async () => {
    request();
    const saved = counter.save();
    request({}, 4);
    await saved;
    await counter.save();
    expect(await usage()).to.deep.equal([5, 'GET /v1/products/{id} 1 5']);
  });

  for (const failure of ['before', 'after'] as const)
    it(`loses nothing and counts nothing twice if the store fails ${failure} it saves`, async () => {
      request();
      store.failure = failure;
      for (let i = 0; i < 3; i++) {
        await expectAppError(counter.save(), 'unavailable');
        request();
        clock.time += HOUR_MS;
      }
      store.failure = 'none';
      await counter.save();
      expect(await usage()).to.deep.equal([4, 'GET /v1/products/{id} 1 4']);
      const saves = store.saves.length;
      await counter.save();
      expect(store.saves).to.have.length(saves);
    });

  it('counts under the hour of the last save, and shows each for 24 hours at least and 25 at most', async () => {
    clock.time = HOUR + HOUR_MS - 1;
    request();
    await counter.save();
    clock.time = HOUR + HOUR_MS;
    await counter.save();
    request({}, 10);
    await counter.save();
    expect(await usage()).to.deep.equal([11, 'GET /v1/products/{id} 1 11']);
    clock.time = HOUR + 25 * HOUR_MS - 1;
    expect(await usage()).to.deep.equal([11, 'GET /v1/products/{id} 1 11']);
    clock.time = HOUR + 25 * HOUR_MS;
    expect(await usage()).to.deep.equal([10, 'GET /v1/products/{id} 1 10']);
    clock.time = HOUR + 26 * HOUR_MS;
    expect(await usage()).to.equal(undefined);
  });

  it('keeps counting if the clock is set back', async () => {
    request();
    await counter.save();
    clock.time -= 3 * HOUR_MS;
    await counter.save();
    request();
    await counter.save();
    expect(await usage()).to.deep.equal([2, 'GET /v1/products/{id} 1 2']);
  });

  it('forgets the totals of an hour that has passed', async () => {
    for (let keyId = 1; keyId <= 1_000; keyId++) request({ principal: `key:${keyId}` });
    await counter.save();
    expect(store.saves.map((counts) => counts.length)).to.deep.equal(Array(20).fill(50));
    clock.time += HOUR_MS;
    request({ principal: 'key:1' });
    await counter.save();
    request({ principal: 'key:1' });
    await counter.save();
    expect(store.saves.slice(20).map((counts) => counts.length)).to.deep.equal([1, 1]);
  });

  it('has a limit in memory: it loses new entries while the store is away, and recovers', async () => {
    counter = newCounter(100);
    store.failure = 'before';
    for (let keyId = 1; keyId <= 150; keyId++) request({ principal: `key:${keyId}` });
    await expectAppError(counter.save(), 'unavailable');
    request({ principal: 'key:150' });
    request({ principal: 'key:100' });
    store.failure = 'none';
    await counter.save();
    expect([await usage(100), await usage(101), await usage(150)]).to.deep.equal([
      [2, 'GET /v1/products/{id} 1 2'],
      undefined,
      undefined,
    ]);
    for (const keyId of [100, 150]) request({ principal: `key:${keyId}` });
    await counter.save();
    expect([await usage(100), await usage(150)]).to.deep.equal([
      [3, 'GET /v1/products/{id} 1 3'],
      [1, 'GET /v1/products/{id} 1 1'],
    ]);
  });
});

describe('readUsage', () => {
  it('adds the counts of the last 25 hours up, the most used routes first', async () => {
    const asked: unknown[] = [];
    const used = (route: string, requests: number) => ({ method: 'GET', route, version: 1, requests });
    const store = {
      find: async (...args: unknown[]) => {
        asked.push(args);
        return [
          { keyId: 1, hour: 0, counter: 'a', routes: [used('/b', 2), used('/c', 1)] },
          { keyId: 1, hour: 0, counter: 'b', routes: [used('/c', 4), used('/a', 2)] },
        ];
      },
    };
    const now = 100 * HOUR_MS + 5;
    expect(await readUsage(store, [], now)).to.have.length(0);
    expect([...(await readUsage(store, [1, 2], now))]).to.deep.equal([
      [1, { since: 76 * HOUR_MS, requests: 9, byRoute: [used('/c', 5), used('/a', 2), used('/b', 2)] }],
    ]);
    expect(asked).to.deep.equal([[[1, 2], 76 * HOUR_MS]]);
  });
});
