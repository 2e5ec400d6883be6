import { expect } from 'chai';
import { BY_ID } from '#src/application/list-query.js';
import type { Archive, ArchiveEntry } from '#src/application/ports/archive.js';
import type { Repository } from '#src/application/ports/repository.js';
import type { Product } from '#src/domain/product.js';
import type { Versioned } from '#src/domain/record.js';
import type { OpenRepository } from './repository.contract.js';

const AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

export interface OpenArchive extends OpenRepository {
  /** Of the same products. */
  readonly archive: Archive;
}

/** What every archive holds to. */
export function archiveContract(adapter: string, open: () => Promise<OpenArchive>): void {
  describe(`the archive contract on ${adapter}`, () => {
    let opened: OpenArchive | undefined;
    let products: Repository<Product>;
    let archive: Archive;

    beforeEach(async () => {
      opened = await open();
      ({ products, archive } = opened);
    });
    afterEach(() => opened?.close());

    const record = (id: number, fields: Partial<Product> = {}): Versioned<Product> => ({
      id,
      version: 3,
      createdAt: AT,
      updatedAt: AT + id,
      fields: { name: `product ${id}`, ...fields },
    });

    it('reads records and tombstones in one order, page by page', async () => {
      for (const id of [1, 2, 3, 5]) await products.insert(record(id));
      for (const id of [2, 5]) await products.remove(id, 3, AT + id);
      const all: ArchiveEntry[] = [
        record(1),
        { id: 2, deletedAt: AT + 2 },
        record(3),
        { id: 5, deletedAt: AT + 5 },
      ];
      expect(await archive.read(0, 10)).to.deep.equal(all);
      expect(await archive.read(0, 2)).to.deep.equal(all.slice(0, 2));
      expect(await archive.read(2, 2)).to.deep.equal(all.slice(2));
      expect(await archive.read(5, 2)).to.deep.equal([]);
    });

    it('adds entries as they are', async () => {
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
      expect(await products.insert(record(8))).to.equal(false);
      expect(await archive.read(0, 10)).to.deep.equal([full, { id: 8, deletedAt: AT }]);
    });

    it('refuses an entry whose id is taken', async () => {
      await archive.add([record(1)]);
      let refused = false;
      await archive.add([record(1)]).catch(() => {
        refused = true;
      });
      expect(refused).to.equal(true);
    });

    it('forgets what it is told to discard, tombstones too', async () => {
      await archive.add([record(1, { sku: 'x' }), { id: 2, deletedAt: AT }, record(3)]);
      await archive.discard([1, 2]);
      expect(await archive.read(0, 10)).to.deep.equal([record(3)]);
      expect(await products.insert(record(2, { sku: 'x' }))).to.equal(true);
    });

    it('knows the next id and raises it, never lowers it', async () => {
      expect(await archive.nextId()).to.equal(1);
      await products.reserveIds(10);
      expect(await archive.nextId()).to.equal(11);
      await archive.raiseNextId(100);
      await archive.raiseNextId(50);
      expect(await archive.nextId()).to.equal(100);
      expect(await products.reserveIds(1)).to.equal(100);
    });

    it('raises the next id of a store that never gave one', async () => {
      await archive.raiseNextId(7);
      expect(await products.reserveIds(2)).to.equal(7);
    });
  });
}
