import { expect } from 'chai';
import type { CatalogueError } from 'product-catalogue-client';
import { catalogueService, rejection } from './catalogue-service.js';

const counts = (of: Readonly<Record<string, number>>) => Object.entries(of).map(([value, count]) => ({ value, count }));

describe('the facets of the client', () => {
  const { attempts, connect } = catalogueService();

  before(async () => {
    const { products } = connect();
    for (const [brand, colour, watts] of [
      ['A&B', 'green', 5],
      ['A&B', 'black', 7.5],
      ['Ålund', 'green', 10],
      ['C', 'green', true],
    ] as const)
      await products.create({ name: 'Lamp', brand, attributes: { colour, 'w=[a].b': watts } });
  });

  it('are values with their counts, under filters by attributes', async () => {
    const { products } = connect();
    expect(
      await products.facets({
        fields: ['brand', 'attributes[colour]', 'attributes[w=[a].b]'],
        'attributes[w=[a].b].gte': 5,
        'attributes[w=[a].b].lt': 10.5,
        'attributes[colour].in': ['green', 'black'],
      }),
    ).to.deep.equal({
      facets: [
        { field: 'brand', values: counts({ 'A&B': 2, Ålund: 1 }), more: false },
        { field: 'attributes[colour]', values: counts({ green: 2, black: 1 }), more: false },
        { field: 'attributes[w=[a].b]', values: [5, 7.5, 10].map((value) => ({ value, count: 1 })), more: false },
      ],
    });
  });

  it('count groups, as lists show one product of each', async () => {
    const { products } = connect();
    for (const amount of [2, 1])
      await products.create({ name: 'Lid', group: 'LID', brand: 'B', price: { amount, currency: 'EUR' } });
    const query = { name: 'Lid', distinct: 'group' } as const;
    const { facets } = await products.facets({ ...query, fields: ['brand'] });
    expect(facets[0]?.values).to.deep.equal(counts({ B: 1 }));
    const fields = ['price', 'variants'] as const;
    const page = await products.page({ ...query, sort: ['price.amount'], fields }, { count: true });
    expect([page.total, page.records]).to.deep.equal([1, [{ price: { amount: 1, currency: 'EUR' }, variants: 2 }]]);
    for await (const { id } of products.list({ name: 'Lid', fields: ['id'] })) await products.delete(id);
  });

  it('of one field go on at the URL of further values', async () => {
    const { products } = connect();
    const found = [];
    let at: Parameters<typeof products.facets>[0] | undefined = { fields: ['brand'], limit: 1, prefix: '' };
    while (at !== undefined) {
      const { facets, next } = await products.facets(at);
      found.push(...facets.flatMap(({ values }) => values.map(({ value }) => value)));
      at = next;
    }
    expect(found).to.deep.equal(['A&B', 'C', 'Ålund']);
    expect(attempts).to.have.length(3);
  });

  it('are refused as any request', async () => {
    const error = (await rejection(connect().products.facets({ fields: ['name'] }))) as CatalogueError;
    expect([error.status, error.code]).to.deep.equal([400, 'invalid_parameter']);
  });
});
