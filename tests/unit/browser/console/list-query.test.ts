import { expect } from 'chai';
import {
  directionOf,
  nextSort,
  PAGE_SIZE,
  queryOf,
  selectionOf,
  stateOf,
} from '#browser/console/list-query.js';
import type { FilterField } from '#browser/docs/filters.js';

const operators = (...names: string[]) =>
  names.map((name) => ({ name, parameter: { name, in: 'query' as const } }));
const FIELDS: readonly FilterField[] = [
  { name: 'id', operators: operators('equals', 'in') },
  { name: 'price.amount', operators: operators('equals', 'gte', 'exists') },
  { name: 'attributes', prefix: 'attributes.', operators: operators('equals') },
];
const read = (text: string) => stateOf(new URLSearchParams(text), FIELDS);

describe('the query of a list in the console', () => {
  for (const text of [
    '',
    'q=green+lamp',
    'id.in=1%2C2',
    'price.amount=5&price.amount.gte=1&price.amount.exists=true',
    'attributes.a.b%3Ac=x%26y',
    'q=a&id=1&sort=-name%2Cid&limit=100&cursor=abc',
  ])
    it(`is the same after it was read: ${text || 'nothing'}`, () => {
      expect(queryOf(read(text)).toString()).to.equal(text);
    });

  it('has filters as rows of field, key, operator and value', () => {
    expect(read('price.amount.gte=100&attributes.x.y=z').filters).to.deep.equal([
      { field: 'price.amount', key: '', operator: 'gte', value: '100' },
      { field: 'attributes', key: 'x.y', operator: 'equals', value: 'z' },
    ]);
  });

  it('ignores what the resource does not have, and limits that cannot be chosen', () => {
    expect(read('colour=red&id.gte=1&limit=7&price.amount.ne=1')).to.deep.equal({
      words: '',
      filters: [],
      sort: '',
      limit: PAGE_SIZE,
      cursor: undefined,
    });
  });

  it('selects records by search, filters and sort, whatever the page', () => {
    expect(selectionOf(read('q=a&id=1&sort=name&limit=100&cursor=c'))).to.deep.equal({
      q: 'a',
      id: '1',
      sort: 'name',
    });
  });

  it('joins lists of values of one field, and sends any other parameter twice', () => {
    const state = read('id.in=1&price.amount=5&id.in=2%2C3&price.amount=6');
    expect(queryOf(state).toString()).to.equal('id.in=1%2C2%2C3&price.amount=5&price.amount=6');
    expect(selectionOf(read('id.in=1&id.in=2'))).to.deep.equal({ 'id.in': '1,2' });
  });

  it('sorts by a field ascending, then descending, then by id', () => {
    expect(['', 'name', '-name', 'id'].map((sort) => nextSort(sort, 'name'))).to.deep.equal([
      'name',
      '-name',
      '',
      'name',
    ]);
    expect(['name,-id', '-name', 'id', ''].map((sort) => directionOf(sort, 'name'))).to.deep.equal([
      'ascending',
      'descending',
      undefined,
      undefined,
    ]);
  });
});
