import { expect } from 'chai';
import { DERIVED_VERSION } from '#src/application/ports/derived-data.js';
import type { Filter } from '#src/application/ports/list-query.js';
import { paginate } from '#src/application/records/lists.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import { by, idsOf, next, product, query } from '../contract/repository/records.js';
import { POSTGRESQL } from '../stores/postgresql.js';
import { type NewStore, openNew } from '../stores/provider.js';
import { deriveAll } from '../support/derive-all.js';
import { sharedPostgresql } from '../support/postgresql-server.js';
import { searchFor } from '../support/reference-search.js';
import { longText } from '../support/unicode-texts.js';

if (!POSTGRESQL.isMissing)
  describe('a search through many blocks', () => {
    let opened: NewStore;
    /** Two records in each of 90 blocks, more than one statement reads. Every 30th block has another word. */
    const records = Array.from({ length: 180 }, (_, i) =>
      product(100 + Math.floor(i / 2) * 8_192 + (i % 2), { name: `lamp ${i % 60 === 0 ? 'rare' : ''} w${i}` }),
    );

    before(async () => {
      opened = await openNew(POSTGRESQL);
      await opened.products.insertAll(records);
    });
    after(() => opened.close());

    for (const [text, isFound] of [
      ['lamp', () => true],
      ['rare lamp', (at: number) => at % 60 === 0],
      ['w179', (at: number) => at === 179],
      ['w1 lamp', (at: number) => `${at}`.startsWith('1')],
    ] as const)
      it(`finds each record of ${text} once, with any limit, from both ends`, async () => {
        const found = idsOf(records.filter((_, at) => isFound(at)));
        for (const [sort, ids] of Object.entries({ id: found, '-id': found.toReversed() }))
          for (const limit of [1, 7, 20, 1_000]) {
            const seen: Id[] = [];
            const list = query({ limit, filters: [searchFor(text)], order: by(sort) });
            for await (const page of paginate(opened.products, list)) seen.push(...idsOf(page));
            expect(seen, `${sort}, limit ${limit}`).to.deep.equal(ids);
          }
        expect(await opened.products.count([searchFor(text)])).to.equal(found.length);
      });
  });

if (!POSTGRESQL.isMissing)
  describe('the words of a row', () => {
    let opened: NewStore;
    const run = async (text: string) =>
      (await (await sharedPostgresql()).query(text, opened.settings['POSTGRESQL_URL'])).rows;
    const lamp = product(1, { name: 'lamp' });

    beforeEach(async () => {
      opened = await openNew(POSTGRESQL);
      await opened.products.insertAll([lamp, product(2, { name: 'desk' })]);
    });
    afterEach(() => opened.close());

    const find = async (text: string, ...filters: Filter[]): Promise<Id[]> => {
      const page = await opened.products.list(query({ filters: [searchFor(text), ...filters] }));
      return idsOf(page.records);
    };

    it('stay stale in an edit of other fields, and are made by an edit of their own', async () => {
      await run("UPDATE products SET derived = 1, words = '0.old'");
      const edit = (old: Versioned<Product>, changes: Partial<Product>) => {
        const record = { ...next(old, {}), fields: { ...old.fields, ...changes } };
        return opened.products.replaceAll([{ record, expected: old.version, before: old.fields }]);
      };
      expect(await edit(lamp, { stock: 7 })).to.deep.equal(['replaced']);
      expect(await edit(product(2, { name: 'desk' }), { name: 'chair' })).to.deep.equal(['replaced']);
      expect(await run('SELECT derived, words::text FROM products ORDER BY id')).to.deep.equal([
        { derived: 1, words: "'0.old'" },
        { derived: DERIVED_VERSION, words: "'0.chair'" },
      ]);
      expect(await deriveAll(opened)).to.equal(1);
      expect(await find('lamp', { field: 'stock', operator: 'eq', value: 7 })).to.deep.equal([1]);
    });

    it('are left to a later release, which made columns that this one does not write', async () => {
      await run('UPDATE products SET derived = 2000000000 WHERE id = 1');
      expect(await deriveAll(opened)).to.equal(0);
      const record = { ...next(lamp, {}), fields: { ...lamp.fields, stock: 8 } };
      await opened.products.replaceAll([{ record, expected: 1, before: lamp.fields }]);
      expect(await run('SELECT derived FROM products WHERE id = 1')).to.deep.equal([{ derived: DERIVED_VERSION }]);
    });

    it('are in a text if they are too many for the index, up to the last one that counts', async () => {
      const text = longText(9_000);
      const attributes = { a: text.slice(5_000) };
      const fields = { name: 'table', sku: 'MANY', description: text.slice(0, 5_000), attributes };
      await opened.products.insertAll([product(1_000, fields)]);
      expect(await run('SELECT id::integer FROM products WHERE words IS NULL')).to.deep.equal([{ id: 1_000 }]);
      for (const [sought, isFound] of [
        [text.slice(4_000, 4_064), true],
        [text.slice(7_990, 7_997), true],
        [text.slice(7_990, 8_054), true],
        [text.slice(8_010, 8_020), false],
        ['tab man', true],
        ['able', false],
      ] as const) {
        const ids = isFound ? [1_000] : [];
        expect(await find(sought), sought).to.deep.equal(ids);
        expect(await find(sought, { field: 'sku', operator: 'eq', value: 'MANY' }), sought).to.deep.equal(ids);
        expect(await opened.products.count([searchFor(sought)]), sought).to.equal(ids.length);
      }
      expect(await find('lamp', { field: 'id', operator: 'in', values: [1, 1_000] })).to.deep.equal([1]);
    });
  });
