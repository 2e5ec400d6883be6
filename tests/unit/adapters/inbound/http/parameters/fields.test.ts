import { expect } from 'chai';
import { FieldSelector } from '#src/adapters/inbound/http/parameters/fields.js';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/definitions.js';
import type { Product } from '#src/domain/product.js';

const RECORD = { id: 7, version: 2, createdAt: 0, updatedAt: 1, fields: { name: 'Lamp', sku: 's' } as Product };

describe('FieldSelector', () => {
  const views = new FieldSelector(PRODUCTS, 'item');
  const read = (fields?: string) => views.read(new Map(fields === undefined ? [] : [['fields', fields]]));

  it('shows the record as it is by default', () => {
    expect(read().name).to.equal(undefined);
    expect(read().toJson(RECORD)).to.equal('{"id":7,"name":"Lamp","sku":"s"}');
  });

  it('shows the requested fields, in the order of presentation', () => {
    const view = read('updatedAt,name,id,price');
    expect(view.name).to.equal('id,name,price,updatedAt');
    expect(view.toJson(RECORD)).to.equal('{"id":7,"name":"Lamp","updatedAt":"1970-01-01T00:00:00.001Z"}');
    expect(read('version,createdAt').toJson(RECORD)).to.equal('{"version":2,"createdAt":"1970-01-01T00:00:00.000Z"}');
  });

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
