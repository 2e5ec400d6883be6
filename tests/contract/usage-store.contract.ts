import { expect } from 'chai';
import { HOUR_MS, USAGE_MS } from '#src/application/maintenance/retention.js';
import type { UsageCount } from '#src/application/ports/usage-store.js';
import type { TestStoreProvider } from '../stores/provider.js';
import { TestStore } from './repository/test-store.js';

const HOUR = Date.UTC(2026, 10, 21, 15);
const LAST_ID = Number.MAX_SAFE_INTEGER;

const count = (changes: Partial<UsageCount> = {}): UsageCount => ({
  keyId: 7,
  hour: HOUR,
  counter: 'a',
  routes: [
    { method: 'GET', route: '/v1/products/{id}', version: 1, requests: 3 },
    { method: 'POST', route: '/v2/products', version: 2, requests: LAST_ID },
  ],
  ...changes,
});

/** The tests that every store of usage passes. */
export function usageStoreContract(provider: TestStoreProvider): void {
  describe(`the usage store contract on ${provider.name}`, () => {
    const store = TestStore.forEachTest(provider);
    const save = (...counts: UsageCount[]) => store.all.usage.save(counts);
    const find = (keyIds = [7], since = 0) => store.all.usage.find(keyIds, since);

    it('returns what was saved, and nothing for other keys', async () => {
      expect(await find()).to.deep.equal([]);
      await save();
      await save(count(), count({ keyId: LAST_ID }));
      expect(await find()).to.deep.equal([count()]);
      expect(await find([7, 8, LAST_ID])).to.have.deep.members([count(), count({ keyId: LAST_ID })]);
      expect(await find([8])).to.deep.equal([]);
      expect(await find([])).to.deep.equal([]);
    });

    it('replaces a count of the same key, hour and counter, so that a repeated save changes nothing', async () => {
      await save(count());
      await save(count(), count());
      expect(await find()).to.deep.equal([count()]);
      const later = count({ routes: [{ method: 'GET', route: '/v1/users', version: 1, requests: 9 }] });
      await save(later);
      expect(await find()).to.deep.equal([later]);
    });

    it('keeps the counts of other counters and other hours', async () => {
      const all = [count(), count({ counter: 'b' }), count({ hour: HOUR + HOUR_MS })];
      await Promise.all(all.map((one) => save(one)));
      expect(await find()).to.have.deep.members(all);
    });

    it('returns the counts of the given hour and later ones', async () => {
      const hours = [-1, 0, 1].map((n) => count({ hour: HOUR + n * HOUR_MS }));
      await save(...hours);
      expect(await find([7], HOUR)).to.have.deep.members(hours.slice(1));
    });

    it('returns copies', async () => {
      const saved = structuredClone(count());
      await save(saved);
      Object.assign(saved.routes[0] as object, { requests: 0 });
      const [found] = await find();
      Object.assign(found?.routes[0] as object, { requests: 0 });
      expect(await find()).to.deep.equal([count()]);
    });

    it('saves some hundred counts at once', async () => {
      const many = Array.from({ length: 300 }, (_, at) => count({ keyId: at + 1 }));
      await save(...many);
      expect(await find(many.map(({ keyId }) => keyId))).to.have.deep.members(many);
    });
  });
}

/** The tests of a store that does not purge usage by itself. */
export function usagePurgeContract(provider: TestStoreProvider): void {
  describe(`the purge of usage on ${provider.name}`, () => {
    const store = TestStore.forEachTest(provider);
    const purge = (moment: number, limit: number) =>
      store.all.purgeable.find(({ retentionMs }) => retentionMs === USAGE_MS)?.purgeBefore(moment, limit);

    it('removes the oldest hours first, up to the limit, and keeps the given hour', async () => {
      const [first, second, third] = [2, 0, 1].map((n) => count({ hour: HOUR + n * HOUR_MS }));
      const other = count({ keyId: 8, hour: HOUR + HOUR_MS });
      await store.all.usage.save([first, second, third, other] as UsageCount[]);
      const left = async () => store.all.usage.find([7, 8], 0);
      expect(await purge(HOUR, 10)).to.equal(0);
      expect(await purge(HOUR + 2 * HOUR_MS, 0)).to.equal(0);
      expect(await purge(HOUR + 2 * HOUR_MS, 1)).to.equal(1);
      expect(await left()).to.have.deep.members([first, third, other]);
      expect(await purge(HOUR + 2 * HOUR_MS, 10)).to.equal(2);
      expect(await left()).to.deep.equal([first]);
    });
  });
}
