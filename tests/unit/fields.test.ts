import { expect } from 'chai';
import { type FieldSet, METADATA, uniqueFields } from '#src/domain/fields.js';
import { PRODUCTS, USERS } from '../support/tables.js';

describe('fields', () => {
  it('name those that no two records share, in their order', () => {
    const fields: FieldSet = {
      b: { type: 'text', unique: true, ignoresCase: true },
      name: { type: 'text', required: true },
      a: { type: 'integer', unique: true },
    };
    expect(uniqueFields(fields)).to.deep.equal(['b', 'a']);
    expect(uniqueFields({})).to.deep.equal([]);
    expect(uniqueFields(PRODUCTS.fields)).to.deep.equal(['sku']);
    expect(uniqueFields(USERS.fields)).to.deep.equal(['email']);
  });

  it('of the service itself are on every record, so that lists can be sorted by them', () => {
    expect(Object.keys(METADATA)).to.have.members(['id', 'createdAt', 'updatedAt']);
    expect(Object.values(METADATA).every(({ required }) => required)).to.equal(true);
  });
});
