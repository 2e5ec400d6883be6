import { expect } from 'chai';
import { derivedVersion } from '#src/adapters/outbound/postgresql/columns.js';
import type { Filter } from '#src/application/ports/list-query.js';
import { paginate } from '#src/application/records/lists.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import { by, idsOf, next, product, query } from '../contract/repository/records.js';
import { POSTGRESQL } from '../stores/postgresql.js';
import { type NewStore, openNew, openStore } from '../stores/provider.js';
import { indexAll } from '../support/index-all.js';
import { sharedPostgresql } from '../support/postgresql-server.js';
import { searchFor } from '../support/reference-search.js';
import { PRODUCTS } from '../support/tables.js';
import { longText } from '../support/unicode-texts.js';

const COUNT = 300;

/** What an earlier release left in every third row: other words, and no value in a column that it did not know. */
const MAKE_OLD = `UPDATE products SET derived = 1, words = '0.old', brand = NULL WHERE id % 3 = 0`;

if (!POSTGRESQL.isMissing)
  describe('a search through many blocks', () => {
    let opened: NewStore;
    /** Two records in each of 90 blocks, more than one statement reads. Every 30th block has another word. */
    const records = Array.from({ length: 180 }, (_, i) =>
      product(100 + Math.floor(i / 2) * 8_192 + (i % 2), {
        name: `lamp ${i % 60 === 0 ? 'rare' : ''} w${i}`,
      }),
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
        for (const [sort, ids] of [
          ['id', found],
          ['-id', found.toReversed()],
        ] as const)
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
  describe('words and columns that an earlier release made', () => {
    let opened: NewStore;
    const run = async (text: string) =>
      (await (await sharedPostgresql()).query(text, opened.settings['POSTGRESQL_URL'])).rows;
    const records = Array.from({ length: COUNT }, (_, i) =>
      product(i + 1, {
        name: `lamp n${i % 7}`,
        brand: 'acme',
        group: 'acme',
        description: i % 2 ? 'odd' : 'even',
      }),
    );
    const all = idsOf(records);

    beforeEach(async () => {
      opened = await openNew(POSTGRESQL);
      await opened.products.insertAll(records);
      await run(MAKE_OLD);
    });
    afterEach(() => opened.close());

    const find = async (text: string, sort = 'id', ...filters: Filter[]): Promise<Id[]> => {
      const all = [searchFor(text), ...filters];
      const page = await opened.products.list(query({ limit: 1_000, filters: all, order: by(sort) }));
      return idsOf(page.records);
    };

    const expectComplete = async () => {
      const odd = all.filter((id) => id % 2 === 0);
      for (const [text, ids] of [
        ['lamp', all],
        ['lam od', odd],
        ['old', []],
      ] as const) {
        expect(await find(text), text).to.deep.equal(ids);
        expect(await find(text, '-id'), text).to.deep.equal(ids.toReversed());
        expect(await find(text, '-name,id'), text).to.have.members(ids);
        expect(await opened.products.count([searchFor(text)]), text).to.equal(ids.length);
        const counted = { filters: [searchFor(text)], fields: [{ field: 'group' }], limit: 2 };
        const values = ids.length > 0 ? [{ value: 'acme', count: ids.length }] : [];
        expect(await opened.products.facets(counted), text).to.deep.equal([{ values, hasMore: false }]);
        const beyond: Filter = { field: 'id', operator: 'gt', value: 50 };
        expect(await find(text, 'id', beyond)).to.deep.equal(ids.filter((id) => id > 50));
      }
      const small = await opened.products.list(query({ limit: 3, filters: [searchFor('n6')] }));
      expect([idsOf(small.records), small.hasMore]).to.deep.equal([[7, 14, 21], true]);
    };

    it('are no reason to miss a record, or to find a wrong one, before and after they are made again', async () => {
      await expectComplete();
      await indexAll(opened);
      await expectComplete();
      expect(await run('SELECT count(*)::integer AS old FROM products WHERE derived = 1')).to.deep.equal([
        { old: 0 },
      ]);
    });

    it('are made again in batches, the columns too, until none is left', async () => {
      const brand: Filter = { field: 'brand', operator: 'eq', value: 'acme' };
      expect(await opened.products.count([brand])).to.equal(200);
      const [products] = opened.searchIndexes;
      const counts: (number | undefined)[] = [];
      do counts.push(await products?.indexNext(40));
      while (counts.at(-1));
      expect(counts).to.deep.equal([40, 40, 20, 0]);
      expect(await opened.products.count([brand])).to.equal(COUNT);
    });

    it('are made by several processes at once', async () => {
      const other = await openStore(opened.settings);
      await Promise.all([indexAll(opened), indexAll(other)]);
      await other.close();
      await expectComplete();
    });

    it('are not made of a version that another write has replaced', async () => {
      const [, , third] = records;
      if (!third) throw new Error('A record is missing.');
      const replaced = opened.products.replaceAll([
        { record: next(third, { name: 'desk', description: 'new' }), expected: 1 },
      ]);
      await Promise.all([replaced, indexAll(opened)]);
      expect(await find('desk')).to.deep.equal([3]);
      expect(await find('lamp')).to.deep.equal(all.filter((id) => id !== 3));
    });

    it('stay as they are in an edit of other fields, and are made by an edit of their own', async () => {
      const edit = async (id: Id, changes: Partial<Product>) => {
        const old = records[id - 1] as Versioned<Product>;
        const record = { ...next(old, {}), fields: { ...old.fields, ...changes } };
        const outcomes = await opened.products.replaceAll([{ record, expected: 1, before: old.fields }]);
        expect(outcomes).to.deep.equal(['replaced']);
      };
      await edit(3, { stock: 7 });
      await edit(4, { stock: 7 });
      await edit(5, { description: 'desk' });
      const rows = await run(
        'SELECT derived > 1 AS new, words::text FROM products WHERE id IN (3, 5) ORDER BY id',
      );
      expect(rows).to.deep.equal([
        { new: false, words: "'0.old'" },
        { new: true, words: "'0.acme' '0.desk' '0.lamp' '0.n4'" },
      ]);
      // A later release made this row, with columns that this one does not write.
      await run('UPDATE products SET derived = 2000000000 WHERE id = 7');
      await edit(7, { stock: 8 });
      expect(await run('SELECT derived FROM products WHERE id = 7')).to.deep.equal([
        { derived: derivedVersion(PRODUCTS) },
      ]);
      const others = all.filter((id) => id % 2 === 1 && id !== 5);
      for (let round = 0; round < 2; round++) {
        expect(await find('lamp')).to.deep.equal(all);
        expect(await find('even')).to.deep.equal(others);
        expect(await find('desk')).to.deep.equal([5]);
        await indexAll(opened);
      }
      const stocked: Filter = { field: 'stock', operator: 'eq', value: 7 };
      expect(await find('lamp', 'id', stocked)).to.deep.equal([3, 4]);
    });

    it('are missing if they are too many for the index, and such a record is found all the same', async () => {
      const text = longText(8_000);
      const part = text.slice(7_000, 7_064);
      const description = `${text.slice(0, 5_000)}`;
      const attributes = { a: text.slice(5_000) };
      await opened.products.insertAll([product(1_000, { description, attributes, name: 'lamp' })]);
      expect(await run('SELECT id::integer FROM products WHERE words IS NULL')).to.deep.equal([
        { id: 1_000 },
      ]);
      await indexAll(opened);
      expect(await find(part)).to.deep.equal([1_000]);
      expect(await find('lamp')).to.deep.equal([...all, 1_000]);
      expect(await opened.products.count([searchFor('lamp')])).to.equal(COUNT + 1);
      expect(await opened.products.count([searchFor('old')])).to.equal(0);
    });
  });
