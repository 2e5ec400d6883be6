import { expect } from 'chai';
import {
  type FieldSpecs,
  type FieldTable,
  indexedFields,
  listFields,
  SYSTEM_FIELDS,
  searchedFields,
  uniqueFields,
} from '#src/domain/fields.js';
import { PRODUCTS, USERS } from '../../support/tables.js';

describe('fields', () => {
  it('list the unique fields in their order', () => {
    const fields: FieldSpecs = {
      b: { type: 'text', unique: true, ignoresCase: true },
      name: { type: 'text', required: true },
      a: { type: 'integer', unique: true },
    };
    expect(uniqueFields(fields)).to.deep.equal(['b', 'a']);
    expect(uniqueFields({})).to.deep.equal([]);
    expect(uniqueFields(PRODUCTS.fields)).to.deep.equal(['sku']);
    expect(uniqueFields(USERS.fields)).to.deep.equal(['email']);
  });

  it('are indexed by their path, and required if all enclosing objects are required', () => {
    const one = {
      description: '',
      kind: 'integer',
      min: 0,
      max: 9,
      example: 1,
      required: true,
      indexed: true,
    } as const;
    const table = {
      outer: {
        description: '',
        kind: 'object',
        fields: { one, other: { description: '', kind: 'integer', min: 0, max: 9, example: 1 } },
        required: true,
      },
      maybe: { description: '', kind: 'object', fields: { one } },
      owner: { description: '', kind: 'reference', to: 'users', indexed: true },
      code: { description: '', kind: 'code', pattern: /x/, form: 'x', example: 'x', indexed: true, unique: true },
    } as const satisfies FieldTable;
    expect(indexedFields(table)).to.deep.equal({
      'outer.one': { type: 'integer', required: true },
      'maybe.one': { type: 'integer' },
      owner: { type: 'integer', reference: true },
      code: { type: 'text', unique: true },
    });
  });

  it('have the type in which stores compare them', () => {
    expect(SYSTEM_FIELDS).to.deep.equal({
      id: { type: 'integer', required: true, unique: true },
      createdAt: { type: 'instant', required: true },
      updatedAt: { type: 'instant', required: true },
    });
    const table = {
      at: { description: '', kind: 'instant', example: '', indexed: true },
      choice: { description: '', kind: 'choice', values: ['a'], noValue: 'b', indexed: true, ignoresCase: true },
      attributes: { description: '', kind: 'attributes', example: {}, indexed: true, searched: true },
      list: {
        description: '',
        kind: 'list',
        of: { description: '', kind: 'text', min: 0, max: 1, allowed: /^/, characters: '', example: '' },
        min: 0,
        max: 1,
        distinct: [],
        indexed: true,
      },
      known: { description: '', kind: 'instant', example: '', indexed: 'presence' },
      unused: { description: '', kind: 'list', of: { description: '', kind: 'instant', example: '' }, min: 0, max: 1 },
      hidden: { description: '', kind: 'instant', example: '', searched: true },
    } as const satisfies FieldTable;
    expect(indexedFields(table)).to.deep.equal({
      at: { type: 'instant' },
      choice: { type: 'text', ignoresCase: true, choices: ['a'], noValue: 'b' },
      attributes: { type: 'attributes' },
      list: { type: 'text', isList: true },
      known: { type: 'presence' },
    });
    expect(listFields(indexedFields(table))).to.deep.equal(['list']);
    expect(searchedFields(table)).to.deep.equal(['attributes', 'hidden']);
  });

  it('are no lists of other values than texts, if lists of records are filtered by them', () => {
    const at = { description: '', kind: 'instant', example: '' } as const;
    const table: FieldTable = { times: { description: '', kind: 'list', of: at, min: 0, max: 1, indexed: true } };
    expect(() => indexedFields(table)).to.throw('The list times cannot be indexed: its elements are no texts.');
    const known: FieldTable = { times: { ...table['times'], indexed: 'presence' } as FieldTable[string] };
    expect(indexedFields(known)).to.deep.equal({ times: { type: 'presence' } });
  });

  it('include required system fields, so lists can be sorted by them', () => {
    expect(Object.keys(SYSTEM_FIELDS)).to.have.members(['id', 'createdAt', 'updatedAt']);
    expect(Object.values(SYSTEM_FIELDS).every(({ required }) => required)).to.equal(true);
  });
});
