import { expect } from 'chai';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/products.js';
import { schemaFaults } from '#src/adapters/inbound/http/schema.js';
import { type Product, productFaults } from '#src/domain/product.js';

const BAD: Record<string, [Product, string[]]> = {
  emptiness: [{ name: '', sku: '' }, ['too_short /name', 'too_short /sku']],
  text: [
    { name: ' '.repeat(201), description: '\u0000', sku: ' ' },
    ['too_long /name', 'invalid_format /name', 'invalid_format /description', 'invalid_format /sku'],
  ],
  price: [
    { name: 'x', price: { amount: -1, currency: 'e' } },
    ['out_of_range /price/amount', 'invalid_format /price/currency'],
  ],
  attributes: [
    { name: 'x', attributes: { '': 'x', a: 2 ** 53, 'b/c': 'x'.repeat(501) } },
    ['too_short /attributes/', 'out_of_range /attributes/a', 'too_long /attributes/b~1c'],
  ],
  count: [
    { name: 'x', attributes: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`${i}`, i])) },
    ['too_long /attributes'],
  ],
};

const told = (faults: ReturnType<typeof productFaults>) =>
  faults.map((fault) => `${fault.code} ${fault.in === 'body' ? fault.pointer : ''}`);

describe('the rules of a product', () => {
  for (const [what, [product, faults]] of Object.entries(BAD)) {
    it(`are the same at the edge and in the domain: ${what}`, () => {
      expect(told(schemaFaults(PRODUCTS.schema, product)), 'edge').to.deep.equal(faults);
      expect(told(productFaults(product)), 'domain').to.deep.equal(faults);
    });
  }

  it('find no fault with a good one', () => {
    const product: Product = {
      name: 'x',
      description: '',
      sku: 'x',
      price: { amount: 0, currency: 'EUR' },
      attributes: { a: '' },
    };
    expect(schemaFaults(PRODUCTS.schema, product)).to.deep.equal([]);
    expect(productFaults(product)).to.deep.equal([]);
  });
});
