import { expect } from 'chai';
import type { RecordArchive, RecordEntry, ReservationArchive } from '#src/application/ports/archive.js';
import type { IdempotencyStore } from '#src/application/ports/idempotency-store.js';
import { BY_ID } from '#src/application/ports/list-query.js';
import type { Repository } from '#src/application/ports/repository.js';
import type { Product } from '#src/domain/product.js';
import type { Versioned } from '#src/domain/record.js';
import { isShared, type TestStoreProvider } from '../stores/provider.js';
import { AT, next, product } from './repository/records.js';
import { byKey, keysOf, reservations as numberedReservations, reservation } from './repository/reservations.js';
import { TestStore } from './repository/test-store.js';

/** The tests that every archive of a store passes. */
export function archiveContract(provider: TestStoreProvider): void {
  describe(`the archive contract on ${provider.name}`, () => {
    const store = TestStore.forEachTest(provider);
    recordArchiveContract(store);
    if (isShared(provider)) changeMarkContract(store);
    reservationArchiveContract(store);
  });
}

function recordArchiveContract(store: TestStore): void {
  describe('of records', () => {
    let products: Repository<Product>;
    let archive: RecordArchive;

    beforeEach(() => {
      products = store.products;
      archive = named('products', store.all.archives.records);
    });

    const record = (id: number, fields: Partial<Product> = {}): Versioned<Product> => ({
      id,
      version: 3,
      createdAt: AT,
      updatedAt: AT + id,
      fields: { name: `product ${id}`, ...fields },
    });

    it('reads records and tombstones by id, page by page', async () => {
      for (const id of [1, 2, 3, 5]) await products.insertAll([record(id)]);
      for (const id of [2, 5]) await products.removeAll([{ id, expected: 3, at: AT + id }]);
      const all: RecordEntry[] = [record(1), { id: 2, deletedAt: AT + 2 }, record(3), { id: 5, deletedAt: AT + 5 }];
      expect(await archive.read(0, 10)).to.deep.equal(all);
      expect(await archive.read(0, 2)).to.deep.equal(all.slice(0, 2));
      expect(await archive.read(2, 2)).to.deep.equal(all.slice(2));
      expect(await archive.read(5, 2)).to.deep.equal([]);
    });

    it('counts records and tombstones since a time', async () => {
      await archive.add([record(1), record(2), { id: 3, deletedAt: AT - 1 }, { id: 4, deletedAt: AT }]);
      const counts = [0, AT - 1, AT, AT + 1].map((since) => archive.counts(since));
      const expected = [2, 2, 1, 0].map((tombstone) => ({ record: 2, tombstone }));
      expect(await Promise.all(counts)).to.deep.equal(expected);
    });

    it('reads and discards an id that no record may have, of a record and of a tombstone', async () => {
      for (const entry of [record(-7), record(0), record(2 ** 53), { id: -1, deletedAt: AT }]) {
        await archive.add([record(1), entry]);
        expect((await archive.read(Number.MIN_SAFE_INTEGER, 9)).map(({ id }) => id)).to.include(entry.id);
        await archive.discard([1, entry.id]);
      }
      expect(await archive.counts(0)).to.deep.equal({ record: 0, tombstone: 0 });
    });

    it('reads all large records and a tombstone among them, in any number of pages', async () => {
      const description = 'x'.repeat(300_000);
      const all: RecordEntry[] = Array.from({ length: 30 }, (_, at) => record(at + 1, { description }));
      // A tombstone has no length: it must not come before the large records that do not fit with it.
      all[20] = { id: 21, deletedAt: AT };
      for (const one of all) await archive.add([one]);
      const found: RecordEntry[] = [];
      for (let page = await archive.read(0, 1_000); page.length > 0; ) {
        found.push(...page);
        page = await archive.read(page.at(-1)?.id ?? 0, 1_000);
      }
      expect(found).to.deep.equal(all);
    });

    it('adds entries unchanged', async () => {
      const full = record(7, {
        sku: 'x',
        price: { amount: 2 ** 53 - 1, currency: 'EUR' },
        attributes: { 'a.b': 1, $c: 'd' },
      });
      await archive.add([full, { id: 8, deletedAt: AT }]);
      expect(await products.find(7)).to.deep.equal(full);
      expect(await products.findByUnique('sku', 'x')).to.deep.equal(full);
      expect(await products.list({ limit: 10, filters: [], order: BY_ID })).to.deep.equal({
        records: [full],
        hasMore: false,
      });
      expect(await products.insertAll([record(8)])).to.deep.equal(['id_conflict']);
      expect(await archive.read(0, 10)).to.deep.equal([full, { id: 8, deletedAt: AT }]);
    });

    it('rejects an entry whose id is in use, until it is discarded', async () => {
      await archive.add([record(1, { sku: 'x' }), { id: 2, deletedAt: AT }, record(3)]);
      expect(await isRefused(archive.add([record(1)]))).to.equal(true);
      await archive.discard([1, 2]);
      expect(await archive.read(0, 10)).to.deep.equal([record(3)]);
      expect(await products.insertAll([record(2, { sku: 'x' })])).to.deep.equal(['inserted']);
    });

    it('returns the next id, and raises but never lowers it, also in a new store', async () => {
      expect(await archive.nextId()).to.equal(1);
      await archive.raiseNextId(7);
      expect(await products.reserveIds(2)).to.equal(7);
      expect(await archive.nextId()).to.equal(9);
      await archive.raiseNextId(100);
      await archive.raiseNextId(50);
      expect([await archive.nextId(), await products.reserveIds(1)]).to.deep.equal([100, 100]);
    });
  });
}

function changeMarkContract(store: TestStore): void {
  it('marks what other programs have created, changed or deleted', async () => {
    const archive = named('products', store.all.archives.records);
    await archive.add([product(10), { id: 11, deletedAt: AT }]);
    const other = await store.again();
    let last = await archive.changeMark();
    const isOther = async () => {
      const mark = await archive.changeMark();
      const differs = mark !== last;
      last = mark;
      return differs;
    };
    await archive.read(0, 10);
    await other.products.list({ limit: 10, filters: [], order: BY_ID });
    expect(await isOther(), 'reads').to.equal(false);
    const created = product(await other.products.reserveIds(3));
    expect(await isOther(), 'ids').to.equal(true);
    await other.products.insertAll([created]);
    expect(await isOther(), 'a creation').to.equal(true);
    await other.products.replaceAll([{ record: next(created, { name: 'new' }), expected: 1 }]);
    expect(await isOther(), 'a change').to.equal(true);
    await other.products.removeAll([{ id: 10, expected: 1, at: AT }]);
    expect(await isOther(), 'a deletion').to.equal(true);
    expect(await isOther(), 'nothing').to.equal(false);
  });
}

function reservationArchiveContract(store: TestStore): void {
  describe('of reservations', () => {
    let reservations: IdempotencyStore;
    let archive: ReservationArchive;

    beforeEach(() => {
      reservations = store.reservations;
      archive = named('products', store.all.archives.reservations);
    });

    it('reads reservations in order of key, page by page', async () => {
      const keys = ['9', 'A', 'Z', 'a', 'a/1', 'a/10', 'a/2', 'b', '~'];
      const all = keys.map((key, at) => reservation(key, { id: at + 1, ...(at % 2 && { fields: `{${at}}` }) }));
      await reservations.reserve([...all].reverse());
      expect(keys).to.deep.equal([...keys].sort());
      expect(await archive.read('', 20)).to.deep.equal(all);
      expect(await archive.read('', 3)).to.deep.equal(all.slice(0, 3));
      expect(await archive.read('a', 2)).to.deep.equal(all.slice(4, 6));
      expect(await archive.read('a/11', 20)).to.deep.equal(all.slice(6));
      expect(await archive.read('~', 2)).to.deep.equal([]);
    });

    it('counts reservations since a time', async () => {
      await archive.add([reservation('a', { reservedAt: AT - 1 }), reservation('b', { reservedAt: AT })]);
      const counts = [0, AT, AT + 1].map((since) => archive.counts(since));
      expect(await Promise.all(counts)).to.deep.equal([2, 1, 0].map((all) => ({ reservation: all })));
    });

    it('adds reservations unchanged, and they take effect', async () => {
      const all = [reservation('a', { fields: '{"name":"é😀"}', reservedAt: AT - 1 }), reservation('b', { id: 8 })];
      await archive.add(all);
      expect(await archive.read('', 10)).to.deep.equal(all);
      expect(await reservations.find(['a', 'b'])).to.deep.equal(byKey(all));
      expect(await reservations.reserve(all.map(({ key }) => reservation(key, { id: 99 })))).to.deep.equal(byKey(all));
    });

    it('adds, reads and discards a thousand entries at once', async () => {
      const all = numberedReservations(1_000);
      await archive.add(all);
      expect(await archive.read('', 1_000)).to.deep.equal(all);
      await archive.discard(keysOf(all));
      expect(await archive.read('', 1_000)).to.deep.equal([]);
    });

    it('rejects a reservation whose key is in use, until it is discarded, and discards none of another resource', async () => {
      const { users } = store.all.reservations;
      await users.reserve([reservation('a')]);
      await archive.add([reservation('a'), reservation('b')]);
      expect(await isRefused(archive.add([reservation('a')]))).to.equal(true);
      await archive.discard(['a', 'absent']);
      expect(await archive.read('', 10)).to.deep.equal([reservation('b')]);
      expect(await reservations.find(['a'])).to.deep.equal(new Map());
      expect(await users.find(['a'])).to.deep.equal(byKey([reservation('a')]));
    });
  });
}

function named<Kind extends { readonly name: string }>(name: string, archives: readonly Kind[]): Kind {
  const archive = archives.find((one) => one.name === name);
  if (!archive) throw new Error(`There is no archive of ${name}.`);
  return archive;
}

function isRefused(attempt: Promise<void>): Promise<boolean> {
  return attempt.then(
    () => false,
    () => true,
  );
}
