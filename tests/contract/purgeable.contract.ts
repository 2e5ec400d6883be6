import { expect } from 'chai';
import { RESERVATION_MS, TOMBSTONE_MS, USAGE_MS } from '#src/application/maintenance/retention.js';
import type { Purgeable } from '#src/application/ports/table-store.js';
import type { ApiKey } from '#src/domain/api-key.js';
import type { Id, Instant } from '#src/domain/record.js';
import type { TestStoreProvider } from '../stores/provider.js';
import { API_KEYS, EXPIRING_TABLES, RESOURCE_TABLES, WEBHOOKS } from '../support/tables.js';
import { AT, product, user } from './repository/records.js';
import { keysOf, reservation, reservations } from './repository/reservations.js';
import { TestStore } from './repository/test-store.js';

const MUCH_LATER = Number.MAX_SAFE_INTEGER;

/** The tests of a store that does not purge expired entries by itself. */
export function purgeableContract(provider: TestStoreProvider): void {
  describe(`the purge contract on ${provider.name}`, () => {
    const store = TestStore.forEachTest(provider);
    const withRetention = (ms: number) => store.all.purgeable.filter((one) => one.retentionMs === ms);
    const purge = async (all: readonly Purgeable[], moment: Instant, limit: number) => {
      const removed = await Promise.all(all.map((one) => one.purgeBefore(moment, limit)));
      return removed.reduce((sum, count) => sum + count, 0);
    };

    const deleted = async (id: Id, at: Instant) => {
      await store.add(id);
      await store.products.removeAll([{ id, expected: 1, at }]);
    };
    const reserved = async () => [...(await store.reservations.find(keysOf(reservations(20)))).keys()].sort();
    const usedIds = async () =>
      [...(await store.products.findUsedIds(Array.from({ length: 20 }, (_, i) => i + 1)))].sort((a, b) => a - b);

    it('covers the reservations of each resource, the tombstones of each except API keys and webhooks, and usage', () => {
      const [resources, tables] = [RESOURCE_TABLES.length, EXPIRING_TABLES.length];
      const kept = [RESERVATION_MS, TOMBSTONE_MS, USAGE_MS].map((ms) => withRetention(ms).length);
      expect(kept).to.deep.equal([resources, tables, 1]);
      expect(store.all.purgeable).to.have.length(resources + tables + 1);
      expect(RESOURCE_TABLES.filter((table) => !EXPIRING_TABLES.includes(table))).to.deep.equal([API_KEYS, WEBHOOKS]);
    });

    it('purges older reservations, and keeps the others', async () => {
      await store.reservations.reserve(reservations(5).map((one) => ({ ...one, reservedAt: AT + one.id })));
      expect(await purge(withRetention(RESERVATION_MS), AT + 3, 10)).to.equal(2);
      expect(await reserved()).to.deep.equal(['k0003', 'k0004', 'k0005']);
      expect(await purge(withRetention(RESERVATION_MS), AT + 3, 10)).to.equal(0);
      const again = reservation('k0001', { id: 9 });
      expect((await store.reservations.reserve([again])).get('k0001')).to.deep.equal(again);
    });

    it('purges older tombstones, and frees their ids', async () => {
      for (const id of [1, 2, 3]) await deleted(id, AT + id);
      await store.add(4);
      expect(await purge(withRetention(TOMBSTONE_MS), AT + 3, 10)).to.equal(2);
      expect(await usedIds()).to.deep.equal([3, 4]);
      expect(await store.products.insertAll([product(1)])).to.deep.equal(['inserted']);
      expect(await store.products.insertAll([product(3)])).to.deep.equal(['id_conflict']);
    });

    it('purges the oldest entries first, up to the limit', async () => {
      const ages = [5, 1, 4, 2, 3];
      await store.reservations.reserve(
        reservations(5).map((one, at) => ({ ...one, reservedAt: AT + (ages[at] ?? 0) })),
      );
      for (const [at, age] of ages.entries()) await deleted(at + 1, AT + age);
      expect(await purge(withRetention(RESERVATION_MS), MUCH_LATER, 2)).to.equal(2);
      expect(await purge(withRetention(TOMBSTONE_MS), MUCH_LATER, 2)).to.equal(2);
      expect(await reserved()).to.deep.equal(['k0001', 'k0003', 'k0005']);
      expect(await usedIds()).to.deep.equal([1, 3, 5]);
      expect(await purge(withRetention(TOMBSTONE_MS), MUCH_LATER, 10)).to.equal(3);
      expect(await usedIds()).to.deep.equal([]);
    });

    it('keeps entries of exactly the given time, and purges nothing with the limit 0', async () => {
      await store.reservations.reserve([reservation('k0001')]);
      await deleted(1, AT);
      expect(await purge(store.all.purgeable, AT, 10)).to.equal(0);
      expect(await purge(store.all.purgeable, MUCH_LATER, 0)).to.equal(0);
      expect([await reserved(), await usedIds()]).to.deep.equal([['k0001'], [1]]);
    });

    it('purges no entries of another kind or resource', async () => {
      await deleted(1, AT);
      await store.users.insertAll([user(1, 'ann@x')]);
      await store.users.removeAll([{ id: 1, expected: 1, at: AT }]);
      await store.reservations.reserve([reservation('k0001')]);
      await store.all.reservations.users.reserve([reservation('k0001')]);
      const removed: number[] = [];
      for (const one of store.all.purgeable) removed.push(await one.purgeBefore(MUCH_LATER, 10));
      const others = store.all.purgeable.length - 4;
      expect(removed.sort()).to.deep.equal([...Array(others).fill(0), 1, 1, 1, 1]);
    });

    it('never purges the tombstone of an API key, so the first key is not created again', async () => {
      const key: ApiKey = { name: 'first', digest: 'd', scopes: [] };
      const { apiKeys } = store.all;
      for (const id of [1, 2]) {
        await apiKeys.insertAll([{ ...product(id), fields: { ...key, digest: `d${id}` } }]);
        await apiKeys.removeAll([{ id, expected: 1, at: AT }]);
      }
      await purge(store.all.purgeable, MUCH_LATER, 10);
      expect(await apiKeys.findUsedIds([1, 2])).to.deep.equal(new Set([1, 2]));
    });
  });
}
