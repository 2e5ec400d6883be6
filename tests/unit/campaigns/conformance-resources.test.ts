import { expect } from 'chai';
import { conformanceResources } from '../../../campaigns/conformance/conformance-resources.js';

describe('the resources of the conformance suite', () => {
  const { products, users, orders, ['api-keys']: keys } = conformanceResources();

  it('have a sample, whose unique values are named', () => {
    expect(products?.sample).to.have.all.keys('name', 'sku', 'attributes');
    expect(products).to.deep.include({ required: ['name'], unique: ['sku'], patch: 'ProductPatch' });
    expect(users).to.deep.include({ required: ['name', 'email'], unique: ['email'], references: [] });
  });

  it('name every reference, those in the elements of lists too', () => {
    expect(orders?.references).to.deep.equal([
      { path: ['userId'], to: 'users' },
      { path: ['items', 'productId'], to: 'products' },
    ]);
  });

  it('name the lists whose elements differ, and by what', () => {
    expect([keys?.distinct, orders?.distinct, products?.distinct]).to.deep.equal([
      [['scopes']],
      [['items', 'productId']],
      [['tags'], ['images', 'url']],
    ]);
  });
});
