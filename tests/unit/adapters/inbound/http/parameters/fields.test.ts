import { expect } from 'chai';
import { FieldSelector } from '#src/adapters/inbound/http/parameters/fields.js';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/definitions.js';

describe('FieldSelector', () => {
  const views = new FieldSelector(PRODUCTS, 'item');

  it('takes the names of fields, separated by commas', () => {
    const codes = (text: string) => views.parameter.issues(text, 'fields').map(({ code, name }) => `${code} ${name}`);
    expect(views.parameter.isList).to.equal(true);
    expect(codes('id,name,description,sku,price,attributes,version,createdAt,updatedAt')).to.deep.equal([]);
    expect(codes('id,x')).to.deep.equal(['unknown_field fields']);
    expect(codes('')).to.deep.equal(['too_short fields']);
  });

  it('shows fields of single records only there', () => {
    const resource = { ...PRODUCTS, itemFields: ['sku'] };
    const issues = (shownOn: 'item' | 'list', name: string) =>
      new FieldSelector(resource, shownOn).parameter.issues(name, 'fields').length;
    expect([issues('item', 'sku'), issues('list', 'sku'), issues('list', 'name')]).to.deep.equal([0, 1, 0]);
  });
});
