import { expect } from 'chai';
import type { AttributeFilter, FacetCount } from '#src/application/ports/list-query.js';
import { matchesFilter } from '#src/application/records/query-semantics.js';
import type { Product } from '#src/domain/product.js';
import type { Versioned } from '#src/domain/record.js';
import { idsOf, next, product, query } from '../contract/repository/records.js';
import { POSTGRESQL } from '../stores/postgresql.js';
import { type NewStore, openNew } from '../stores/provider.js';
import { indexAll } from '../support/index-all.js';
import { sharedPostgresql } from '../support/postgresql-server.js';
import { PRODUCTS } from '../support/tables.js';

const COUNT = 60;

/**
 * What the release before, whose rows have the version 4000000, leaves of a row that this one has written: entries of
 * values alone, and a document of the version before.
 */
const asBefore = (id: string) => `UPDATE products SET derived = 4000000,
  attributes = ARRAY(SELECT entry FROM unnest(attributes) AS entry
    WHERE entry !~ '^[0-9a-f]{0,4} '),
  "attributes document" = '{"size": 1, "stale": true}' WHERE ${id}`;

if (!POSTGRESQL.isMissing)
  describe('attributes in rows that the release before has written', () => {
    let opened: NewStore;
    let records: readonly Versioned<Product>[];
    const run = async (text: string) =>
      (await (await sharedPostgresql()).query(text, opened.settings['POSTGRESQL_URL'])).rows;

    beforeEach(async () => {
      opened = await openNew(POSTGRESQL);
      records = Array.from({ length: COUNT }, (_, at) =>
        product(at + 1, {
          name: `lamp ${at}`,
          ...(at % 7 && {
            attributes: {
              ...(at % 4 && { size: at / 2, ['long'.repeat(16)]: 'x'.repeat(500) }),
              colour: at % 3 ? 'red' : `${at / 2}`,
            },
          }),
        }),
      );
      await opened.products.insertAll(records);
    });
    afterEach(() => opened.close());

    const attribute = (key: string) => ({ field: 'attributes', operator: 'attribute', key }) as const;
    const FILTERS: AttributeFilter[][] = [
      [{ ...attribute('size'), value: '5.5' }],
      [{ ...attribute('size'), values: ['1', '5.5'] }],
      [{ ...attribute('size'), exists: true }],
      [{ ...attribute('size'), exists: false }],
      [{ ...attribute('stale'), exists: true }],
      [{ ...attribute('long'.repeat(16)), exists: true }],
      [{ ...attribute('long'.repeat(16)), value: 'x'.repeat(500) }],
      [{ ...attribute('size'), comparison: 'lte', number: 1 }],
      [
        { ...attribute('size'), comparison: 'gte', number: 5 },
        { ...attribute('size'), comparison: 'lt', number: 20.5 },
        { ...attribute('colour'), value: 'red' },
      ],
    ];

    const expectComplete = async () => {
      for (const filters of FILTERS) {
        const found = await opened.products.list(query({ filters }));
        const expected = records.filter((one) =>
          filters.every((filter) => matchesFilter(PRODUCTS, one, filter)),
        );
        const text = JSON.stringify(filters).slice(0, 300);
        expect(idsOf(found.records), text).to.deep.equal(idsOf(expected));
        expect(await opened.products.count(filters), text).to.equal(expected.length);
      }
      const fields = ['colour', 'size', 'stale'].map((key) => ({ field: 'attributes', key }));
      const facets = await opened.products.facets({ filters: [], fields, limit: 100 });
      expect(facets.map(({ values }) => sum(values))).to.deep.equal(
        ['colour', 'size', 'stale'].map(
          (key) => records.filter(({ fields }) => fields.attributes?.[key] !== undefined).length,
        ),
      );
      expect(facets[0]?.values[0]).to.deep.equal({
        value: 'red',
        count: records.filter(({ fields }) => fields.attributes?.['colour'] === 'red').length,
      });
    };

    it('are found and counted by the JSON of the record, before and after the columns are made again', async () => {
      await expectComplete();
      await run(asBefore('id % 2 = 0'));
      await expectComplete();
      await indexAll(opened);
      await expectComplete();
      expect(
        await run('SELECT count(*)::integer AS old FROM products WHERE derived < 4000001'),
      ).to.deep.equal([{ old: 0 }]);
    });

    it('are found after an edit by this release that keeps the words, and after a later one of the release before', async () => {
      await run(asBefore('id = 10'));
      const edit = async (attributes: Product['attributes']) => {
        const old = records[9] as Versioned<Product>;
        const record = { ...next(old, {}), fields: { ...old.fields, attributes: { ...attributes } } };
        const [outcome] = await opened.products.replaceAll([
          { record, expected: old.version, before: old.fields },
        ]);
        expect(outcome).to.equal('replaced');
        records = records.with(9, record);
        await expectComplete();
      };
      await edit({ colour: 'red', size: 6 });
      await indexAll(opened);
      await edit({ colour: 'red', size: 5.5 });
      await run(asBefore('id = 10'));
      await expectComplete();
      await edit({ colour: 'red' });
      await indexAll(opened);
      await expectComplete();
    });
  });

function sum(values: readonly FacetCount[]): number {
  return values.reduce((all, { count }) => all + count, 0);
}
