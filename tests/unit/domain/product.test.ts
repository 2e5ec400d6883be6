import { expect } from 'chai';
import { normalizeProduct, type Product } from '#src/domain/product.js';

describe('normalizeProduct', () => {
  const price = (amount: number) => ({ amount, currency: 'EUR' });

  it('returns a product that is already normal unchanged', () => {
    const normal: Product[] = [
      { name: 'x' },
      { name: 'x', price: price(0) },
      { name: 'x', attributes: { a: 0, b: 'c', d: false } },
    ];
    for (const product of normal) expect(normalizeProduct(product)).to.equal(product);
  });

  it('makes zero of minus zero in attributes, and nothing of empty attributes', () => {
    const cases: [Product, Product][] = [
      [{ name: 'x', attributes: {} }, { name: 'x' }],
      [
        { name: 'x', attributes: { a: -0, b: 'c', d: true, e: 7 } },
        { name: 'x', attributes: { a: 0, b: 'c', d: true, e: 7 } },
      ],
      [
        { name: 'x', price: price(5), attributes: {} },
        { name: 'x', price: price(5) },
      ],
    ];
    // A strict comparison: -0 is not 0 in a deep equality of chai.
    for (const [product, expected] of cases) expect(normalizeProduct(product)).to.deep.equal(expected);
  });
});
