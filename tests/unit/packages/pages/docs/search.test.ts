import { expect } from 'chai';
import type { OpenApi } from '#packages/pages/docs/openapi.js';
import { References } from '#packages/pages/docs/references.js';
import { modelEntry, operationEntry, search } from '#packages/pages/docs/search-index.js';
import { operation } from './operation.js';

describe('the search of the documentation page', () => {
  const entry = operationEntry(
    operation({
      id: 'listProducts',
      path: '/v1/products',
      summary: 'List products',
      description: 'Follow `next` in\n`Link`.',
      parameters: [{ name: 'price.amount.gte', in: 'query', description: 'In minor units' }],
      responses: [['200', { description: 'A page of products.' }]],
    }),
  );

  it('finds words of the title, in any order and whatever their case', () => {
    expect(search(entry, 'PRODUCTS list')).to.deep.equal({ excerpt: '' });
    expect(search(entry, '')).to.deep.equal({ excerpt: '' });
    expect(search(entry, 'products users')).to.equal(undefined);
  });

  it('finds words of descriptions, parameters and responses, and shows where', () => {
    expect(search(entry, 'next')?.excerpt).to.include('Follow next in Link');
    expect(search(entry, 'amount.gte')?.excerpt).to.include('price.amount.gte: In minor units');
    expect(search(entry, 'list page')?.excerpt).to.include('A page of products.');
    expect(search(entry, 'listproducts')?.excerpt).to.include('listProducts');
  });

  it('finds the members of models', () => {
    const references = new References({
      openapi: '3.1.0',
      info: { title: 'x', version: '1' },
      components: {
        schemas: {
          Price: {
            type: 'object',
            description: 'What it costs.',
            properties: {
              amount: { type: 'integer', description: 'In minor units.' },
              kinds: { type: 'array', items: { enum: ['net', 'gross'] } },
              other: { $ref: '#/components/schemas/Other' },
            },
          },
          Other: { description: 'elsewhere' },
        },
      },
    } as OpenApi);
    const price = modelEntry('Price', references);
    for (const words of ['price', 'costs', 'amount', 'minor', 'gross', 'other'])
      expect(search(price, words), words).to.not.equal(undefined);
    expect(search(price, 'elsewhere')).to.equal(undefined);
  });
});
