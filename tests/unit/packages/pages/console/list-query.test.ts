import { expect } from 'chai';
import {
  currencyOf,
  directionOf,
  type Filter,
  filtersWith,
  type NumberKind,
  nextSort,
  PAGE_SIZE,
  queryOf,
  selectionOf,
  sentFilter,
  stateOf,
  typedFilter,
} from '#packages/pages/console/list-query.js';
import type { FilterField } from '#packages/pages/docs/filters.js';

const operators = (...names: string[]) =>
  names.map((name) => ({ name, parameter: { name, in: 'query' as const }, nameOf: () => name }));
const FIELDS: readonly FilterField[] = [
  { name: 'id', operators: operators('equals', 'in') },
  { name: 'price.amount', operators: operators('equals', 'gte', 'exists') },
  { name: 'tags', operators: operators('equals', 'all') },
  { name: 'attributes', prefix: 'attributes.', operators: operators('equals', 'in', 'gte') },
];
const read = (text: string) => stateOf(new URLSearchParams(text), FIELDS);

describe('the query of a list in the console', () => {
  for (const text of [
    '',
    'q=green+lamp',
    'id.in=1%2C2',
    'price.amount=5&price.amount.gte=1&price.amount.exists=true',
    'attributes.a.b%3Ac=x%26y',
    'attributes%5Bw%5D%5B.lt%5D.gte=5&attributes.w=5&attributes%5Bw%5D.in=5%2C6',
    'attributes%5Bw.gte%5D=5&attributes.attributes.w=5&attributes%5Bw%5Bin%5D%5D=5',
    'q=a&id=1&sort=-name%2Cid&distinct=group&limit=100&cursor=abc',
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

  it('reads the other spellings of a key, and no operator that the document does not name', () => {
    const names = (text: string) => queryOf(read(text)).toString();
    expect(names('attributes%5Bcolour%5D=red')).to.equal('attributes.colour=red');
    expect(names('attributes%5Bw%5D:gte=5')).to.equal('attributes%5Bw%5D.gte=5');
    expect(names('attributes%5Bw%5D.prefix=5&attributes%5B%5D.gte=5')).to.equal('');
    // Behind a dot everything is the key.
    expect(read('attributes.w.gte=5').filters).to.deep.equal([
      { field: 'attributes', key: 'w.gte', operator: 'equals', value: '5' },
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
    expect(selectionOf(read('tags.all=a&tags.all=b'))).to.deep.equal({ 'tags.all': 'a,b' });
  });

  it('wants a text of a list besides what it wants already, once', () => {
    const { filters, ...state } = read('id=1&tags.all=a%2Cb');
    const chosen = (text: string) => queryOf({ ...state, filters: filtersWith(filters, 'tags', text) }).toString();
    expect(chosen('c/d')).to.equal('id=1&tags.all=a%2Cb%2Cc%2Fd');
    expect(chosen('b')).to.equal('id=1&tags.all=a%2Cb');
  });

  describe('with filters by a price', () => {
    const filter = (field: string, operator: string, value: string): Filter => ({
      field,
      key: '',
      operator,
      value,
    });
    const amount = (value: string, operator = 'lte') => filter('price.amount', operator, value);
    const currency = (value: string, operator = 'equals') => filter('price.currency', operator, value);
    const sentAs = (kind: NumberKind, one: Filter, ...others: readonly Filter[]) => {
      const found = sentFilter(one, [one, ...others], kind);
      return 'code' in found ? found.code : found.value;
    };
    const sent = (...filters: readonly [Filter, ...Filter[]]) => sentAs('amount', ...filters);
    const typed = (one: Filter, ...others: readonly Filter[]) =>
      typedFilter(one, [one, ...others], 'amount').value.replace(/(?<=\d),(?=\d)/g, '.');

    it('sends the smallest unit of what a person types in the major one, and shows it as it was typed', () => {
      expect(sent(amount('49.90'))).to.equal('4990');
      expect(typed(amount('4990'))).to.equal('49.90');
      expect(sent(amount('4.990'), currency('KWD'))).to.equal('4990');
      expect(typed(amount('4990'), currency('KWD'))).to.equal('4.990');
      expect(sent(amount('4990'), currency('JPY,KRW', 'in'))).to.equal('4990');
      expect(typed(amount('1,4990', 'in'))).to.match(/^0\.01[,;] 49\.90$/);
      expect(sent(typedFilter(amount('1,4990', 'in'), [], 'amount'))).to.equal('1,4990');
    });

    it('has two digits if the filters name no currency, or currencies with different digits', () => {
      for (const others of [[], [currency('JPY,EUR', 'in')], [currency('JPY', 'ne')], [currency('')]]) {
        expect(currencyOf(amount('1'), others)).to.equal(undefined);
        expect(sent(amount('1'), ...others)).to.equal('100');
      }
      expect(currencyOf(amount('1'), [currency('EUR,USD', 'in')])).to.equal('EUR');
    });

    it('sends no text that breaks the rule, and leaves every other filter as it is', () => {
      for (const text of ['cheap', '4.999', '-1']) expect(sent(amount(text)), text).to.equal('not_a_price');
      expect(sent(amount('1,000'))).to.equal('ambiguous');
      expect(sent(amount('1.5'), currency('JPY'))).to.equal('not_a_price');
      const exists = amount('true', 'exists');
      expect(sentFilter(exists, [], undefined)).to.equal(exists);
      expect(typedFilter(exists, [], undefined)).to.equal(exists);
      expect(typed(amount('cheap'))).to.equal('cheap');
    });

    it('sends other numbers as the API writes them', () => {
      const stock = filter('stock', 'gte', '1 000');
      expect(sentAs('integer', stock)).to.equal('1000');
      expect(sentAs('integer', { ...stock, value: '1.000' })).to.equal('ambiguous');
      expect(sentAs('number', { ...stock, value: '1,5' })).to.equal('1.5');
      const shown = typedFilter({ ...stock, value: '1.125' }, [], 'number');
      expect(sentAs('number', shown)).to.equal('1.125');
    });
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
