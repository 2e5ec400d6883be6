import { expect } from 'chai';
import type { AttributeFilter, Comparison, Filter, Membership, SortOrder } from '#src/application/ports/list-query.js';
import {
  attributeValues,
  comparedValue,
  compareInOrder,
  compareValues,
  fieldValue,
  isFolded,
  matchesFilter,
  positionOf,
  prefixRange,
  uniqueValueOf,
  valuesOf,
} from '#src/application/records/query-semantics.js';
import type { Versioned } from '#src/domain/record.js';
import { by, product, user } from '../../../contract/repository/records.js';
import { PRODUCTS, USERS } from '../../../support/tables.js';

const RECORD = {
  ...product(7, { name: 'Lamp', price: { amount: 5, currency: 'EUR' }, attributes: { id: 'x' } }),
  createdAt: 1,
  updatedAt: 2,
};

describe('fieldValue', () => {
  it('reads a field, a nested field and a system field', () => {
    const values = ['name', 'price.amount', 'price.currency', 'id', 'createdAt', 'updatedAt'].map((field) =>
      fieldValue(RECORD, field),
    );
    expect(values).to.deep.equal(['Lamp', 5, 'EUR', 7, 1, 2]);
  });

  it('is null in a position of a record that lacks it', () => {
    expect(valuesOf(product(1), by('sku,id'))).to.deep.equal([null, 1]);
  });

  it('returns undefined if the field, or the object around it, is absent', () => {
    expect(fieldValue(product(1), 'sku')).to.equal(undefined);
    expect(fieldValue(product(1), 'price.amount')).to.equal(undefined);
    expect(fieldValue(product(1, { sku: '' }), 'sku')).to.equal('');
  });
});

describe('the order of records', () => {
  it('compares numbers by size and texts by code point', () => {
    expect(compareValues(9, 10)).to.be.below(0);
    expect(compareValues('9', '10')).to.be.above(0);
    expect(compareValues(2 ** 53 - 1, 2 ** 53 - 2)).to.be.above(0);
    expect(compareValues('\uffff', '😀')).to.be.below(0);
    expect(compareValues('a', 'a')).to.equal(0);
    expect(compareValues(10, '9'), 'as texts').to.be.below(0);
    expect(compareValues('10', 9), 'as texts').to.be.below(0);
  });

  it('puts what is missing last, in both directions', () => {
    for (const sort of ['brand,id', '-brand,id']) {
      expect(compareInOrder(by(sort), [null, 1], ['a', 2])).to.be.above(0);
      expect(compareInOrder(by(sort), ['a', 2], [null, 1])).to.be.below(0);
      expect(compareInOrder(by(sort), [null, 1], [null, 2])).to.be.below(0);
    }
  });

  it('compares key by key, each in its own direction', () => {
    const order = by('name,-createdAt,id');
    expect(compareInOrder(order, ['a', 1, 9], ['b', 2, 1])).to.be.below(0);
    expect(compareInOrder(order, ['a', 1, 1], ['a', 2, 9])).to.be.above(0);
    expect(compareInOrder(order, ['a', 1, 1], ['a', 1, 9])).to.be.below(0);
    expect(compareInOrder(order, ['a', 1, 1], ['a', 1, 1])).to.equal(0);
    expect(compareInOrder(by('-id'), [1], [2])).to.be.above(0);
  });

  it('defines the position of a record by its values of the keys', () => {
    const order: SortOrder = by('-updatedAt,name,id');
    expect(valuesOf(RECORD, order)).to.deep.equal([2, 'Lamp', 7]);
    expect(positionOf(RECORD, order, 'after')).to.deep.equal({
      side: 'after',
      inclusive: false,
      values: [2, 'Lamp', 7],
    });
    expect(positionOf(RECORD, by('id'), 'before', true)).to.deep.equal({
      side: 'before',
      inclusive: true,
      values: [7],
    });
  });
});

describe('matchesFilter', () => {
  const lamp = product(7, {
    name: 'Lamp',
    price: { amount: 5, currency: 'EUR' },
    attributes: { color: 'red', size: 5, isNew: true },
  });
  const ann = user(1, 'Ann@X.org');
  const attribute = (key: string, value: string): Filter => ({
    field: 'attributes',
    operator: 'attribute',
    key,
    value,
  });
  const search = (...words: string[]): Filter => ({ field: 'q', operator: 'search', words });

  const outcomesOf = (filters: readonly Filter[], table = PRODUCTS, record: Versioned<unknown> = lamp) =>
    filters.map((filter) => matchesFilter(table, record, filter));

  it('compares a value with smaller, equal and greater ones', () => {
    const operators = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte'] as const;
    const outcomes = Object.fromEntries(
      operators.map((operator) => [
        operator,
        outcomesOf([4, 5, 6].map((value) => ({ field: 'price.amount', operator, value }))),
      ]),
    );
    expect(outcomes).to.deep.equal({
      eq: [false, true, false],
      ne: [true, false, true],
      lt: [false, false, true],
      lte: [false, true, true],
      gt: [true, false, false],
      gte: [true, true, false],
    });
  });

  it('compares a value with several, and with the beginning of a text', () => {
    const among = (...values: string[]): Filter => ({ field: 'name', operator: 'in', values });
    expect(outcomesOf([among('x', 'Lamp'), among('Lamp'), among('x', 'lamp'), among()])).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
    const beginning = (value: string): Filter => ({ field: 'name', operator: 'prefix', value });
    expect(outcomesOf(['La', 'Lamp', 'Lamps', 'mp', 'la', ''].map(beginning))).to.deep.equal([
      true,
      true,
      false,
      false,
      false,
      true,
    ]);
  });

  it('ignores case in a field that does', () => {
    const filters: Filter[] = [
      { field: 'email', operator: 'eq', value: 'ANN@x.ORG' },
      { field: 'email', operator: 'ne', value: 'ANN@x.ORG' },
      { field: 'email', operator: 'in', values: ['b@x.org', 'ann@X.org'] },
      { field: 'email', operator: 'prefix', value: 'aNN' },
      { field: 'name', operator: 'eq', value: 'USER 1' },
    ];
    expect(outcomesOf(filters, USERS, ann)).to.deep.equal([true, false, true, true, false]);
  });

  it('matches a record without a value only if the filter asks for that', () => {
    const absent: Filter[] = [
      { field: 'sku', operator: 'exists', value: false },
      { field: 'sku', operator: 'exists', value: true },
      { field: 'sku', operator: 'ne', value: 'A' },
      { field: 'sku', operator: 'in', values: ['A'] },
      { field: 'sku', operator: 'prefix', value: '' },
    ];
    expect(outcomesOf(absent)).to.deep.equal([true, false, false, false, false]);
    const present = (value: boolean): Filter => ({ field: 'price.amount', operator: 'exists', value });
    expect(outcomesOf([present(true), present(false)])).to.deep.equal([true, false]);
  });

  it('compares an attribute of its own with a text', () => {
    const filters = [
      attribute('color', 'red'),
      attribute('color', 'blue'),
      attribute('size', '5'),
      attribute('size', '6'),
      attribute('isNew', 'true'),
      attribute('isNew', 'false'),
      attribute('missing', 'undefined'),
      attribute('constructor', 'red'),
    ];
    expect(outcomesOf(filters)).to.deep.equal([true, false, true, false, true, false, false, false]);
    expect(outcomesOf([attribute('color', 'red')], PRODUCTS, product(1))).to.deep.equal([false]);
  });

  it('finds the beginnings of all words', () => {
    expect(outcomesOf([search('la'), search('la', 're'), search('la', 'x'), search('amp')])).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('uniqueValueOf', () => {
  it('returns the value, folded if the field ignores case', () => {
    expect(uniqueValueOf(USERS, user(1, 'Ann@X.org'), 'email')).to.equal('ann@x.org');
    expect(uniqueValueOf(USERS, user(1, 'Ann@X.org'), 'name')).to.equal('user 1');
    expect(uniqueValueOf(PRODUCTS, product(1, { sku: 'A-1' }), 'sku')).to.equal('A-1');
    expect(uniqueValueOf(PRODUCTS, product(1), 'sku')).to.equal(undefined);
    expect(uniqueValueOf(PRODUCTS, product(3), 'id')).to.equal(3);
  });
});

describe('the values of filters', () => {
  const filter = (field: string, operator: Comparison['operator'] = 'eq'): Comparison => ({
    field,
    operator,
    value: 'Ann@X',
  });

  it('are folded for equality and prefixes in a case-insensitive field, not for ranges', () => {
    const membership: Membership = { field: 'email', operator: 'in', values: ['Ann@X'] };
    for (const one of [filter('email'), filter('email', 'ne'), filter('email', 'prefix'), membership]) {
      expect(isFolded(USERS, one), one.operator).to.equal(true);
      expect(comparedValue(USERS, one, 'Ann@X'), one.operator).to.equal('ann@x');
    }
    for (const operator of ['lt', 'lte', 'gt', 'gte'] as const) {
      expect(isFolded(USERS, filter('email', operator)), operator).to.equal(false);
      expect(comparedValue(USERS, filter('email', operator), 'Ann@X'), operator).to.equal('Ann@X');
    }
  });

  it('are unchanged in every other field, and if they are numbers', () => {
    expect(comparedValue(PRODUCTS, filter('sku'), 'Ann@X')).to.equal('Ann@X');
    expect(comparedValue(USERS, filter('name'), 'Ann@X')).to.equal('Ann@X');
    expect(comparedValue(USERS, filter('id'), 5)).to.equal(5);
  });

  it('match every attribute value that has this text: string, number or boolean', () => {
    const valuesFor = (value: string) =>
      attributeValues({
        field: 'attributes',
        operator: 'attribute',
        key: 'a',
        value,
      } satisfies AttributeFilter);
    expect(valuesFor('red')).to.deep.equal(['red']);
    expect(valuesFor('1.5')).to.deep.equal(['1.5', 1.5]);
    expect(valuesFor('1e-7')).to.deep.equal(['1e-7', 1e-7]);
    expect(valuesFor('-5')).to.deep.equal(['-5', -5]);
    expect(valuesFor('0')).to.deep.equal(['0', 0]);
    expect(valuesFor('true')).to.deep.equal(['true', true]);
    expect(valuesFor('false')).to.deep.equal(['false', false]);
    for (const text of ['', ' ', '1.50', '1e2', '0.0000001', '+1', '-0', '01', '0x10', '1 ', 'True', 'null']) {
      expect(valuesFor(text), text).to.deep.equal([text]);
    }
    for (const text of ['NaN', 'Infinity', '-Infinity']) expect(valuesFor(text), text).to.deep.equal([text]);
  });

  it('define the range of texts with this prefix', () => {
    expect(prefixRange('ab')).to.deep.equal({ from: 'ab', before: 'ac' });
    expect(prefixRange('')).to.deep.equal({ from: '', before: undefined });
  });
});
