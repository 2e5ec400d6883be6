import { expect } from 'chai';
import {
  attributeKeys,
  chosenValues,
  facetRequests,
  facetRows,
  toggled,
} from '#packages/pages/console/facets/facet-query.js';
import { type Filter, PAGE_SIZE, parameterOf } from '#packages/pages/console/list-query.js';

const filter = (field: string, operator: string, value: string, key = ''): Filter => ({
  field,
  key,
  operator,
  value,
});
const state = (...filters: Filter[]) => ({
  words: 'green lamp',
  filters,
  sort: '-name',
  limit: 500,
  cursor: 'abc',
});
const plain = (field: string) => ({ field, key: '' });
const BRAND = plain('brand');
const COLOUR = { field: 'attributes', key: 'colour' };
const PRODUCTS = { path: '/v1/products' };

describe('the values of fields in the console', () => {
  const queries = (requests: readonly string[]) => requests.map((one) => decodeURIComponent(one.replaceAll('+', ' ')));

  it('are asked for by the search and the filters, whatever the order and the page', () => {
    const filtered = state(filter('brand', 'in', 'A,B'), filter('attributes', 'gte', '5', 'watts'));
    expect(queries(facetRequests(PRODUCTS, filtered, [BRAND, COLOUR, BRAND], { limit: 10 }))).to.deep.equal([
      '/v1/products/facets?fields=brand,attributes[colour]&limit=10&q=green lamp&brand.in=A,B&attributes[watts].gte=5',
    ]);
    const narrow = { ...filtered, words: '', filters: [], limit: PAGE_SIZE };
    expect(queries(facetRequests(PRODUCTS, narrow, [BRAND], { limit: 100, prefix: 'No' }))).to.deep.equal([
      '/v1/products/facets?fields=brand&limit=100&prefix=No',
    ]);
  });

  it('are asked for ten fields at a time, and none for none', () => {
    const fields = Array.from({ length: 11 }, (_, at) => ({ field: 'attributes', key: `k${at}` }));
    const requests = queries(facetRequests(PRODUCTS, state(), fields, { limit: 10 }));
    expect(requests).to.have.length(2);
    expect(requests[1]).to.include('fields=attributes[k10]&');
    expect(facetRequests(PRODUCTS, state(), [], { limit: 10 })).to.deep.equal([]);
  });

  it('become a filter by a click, and several become a list', () => {
    const other = filter('stock', 'gte', '1');
    const one = toggled([other], BRAND, 'A');
    expect(one).to.deep.equal([other, filter('brand', 'equals', 'A')]);
    const two = toggled(one, BRAND, 'B');
    expect(two).to.deep.equal([other, filter('brand', 'in', 'A,B')]);
    expect(chosenValues(two, BRAND)).to.deep.equal(['A', 'B']);
    expect(toggled(two, BRAND, 'A')).to.deep.equal([other, filter('brand', 'equals', 'B')]);
    expect(toggled(toggled(two, BRAND, 'A'), BRAND, 'B')).to.deep.equal([other]);
  });

  it('of an attribute touch no filter by another key, and none by another operator', () => {
    const others = [filter('attributes', 'gte', '5', 'colour'), filter('attributes', 'equals', 'red', 'x')];
    const filters = toggled(toggled(others, COLOUR, 'red'), COLOUR, 'blue');
    expect(filters.map((one) => `${parameterOf(one)}=${one.value}`)).to.deep.equal([
      'attributes[colour].gte=5',
      'attributes.x=red',
      'attributes[colour].in=red,blue',
    ]);
  });

  it('that no list can hold are chosen alone', () => {
    for (const text of ['Acme, Inc', '']) {
      expect(toggled([filter('brand', 'equals', 'A')], BRAND, text)).to.deep.equal([filter('brand', 'equals', text)]);
      expect(toggled([filter('brand', 'equals', text)], BRAND, 'A')).to.deep.equal([filter('brand', 'equals', 'A')]);
      expect(toggled([filter('brand', 'equals', text)], BRAND, text)).to.deep.equal([]);
    }
    const hundred = filter('brand', 'in', Array.from({ length: 100 }, (_, at) => at).join(','));
    expect(toggled([hundred], BRAND, 'A')).to.deep.equal([filter('brand', 'equals', 'A')]);
  });

  it('are shown as texts, each once, and a chosen one stays although it is not counted', () => {
    const counts = [
      { value: true, count: 7 },
      { value: '5', count: 4 },
      { value: 5, count: 3 },
      { value: 5, count: 2 },
    ];
    expect(facetRows(counts, ['5', 'red'])).to.deep.equal([
      { text: 'red', count: undefined, isChosen: true },
      { text: 'true', count: 7, isChosen: false },
      { text: '5', count: 6, isChosen: true },
    ]);
  });

  it('have the keys of the person, of the filters, and those that most records have', () => {
    const records = [{ id: 1, attributes: { a: 1, b: 1 } }, { id: 2, attributes: { b: 1, 'c,d': 1 } }, { id: 3 }];
    const filters = [filter('attributes', 'equals', 'x', 'f'), filter('brand', 'equals', 'x')];
    expect(attributeKeys('attributes', records, filters, ['mine', 'b'])).to.deep.equal(['mine', 'b', 'f', 'a']);
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, 1]));
    expect(attributeKeys('attributes', [{ id: 1, attributes: many }], [], [])).to.have.length(20);
  });
});
