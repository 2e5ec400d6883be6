import { expect } from 'chai';
import type {
  AttributeFilter,
  Comparison,
  Membership,
  SortOrder,
} from '#src/application/records/list-query.js';
import {
  attributeValues,
  comparedValue,
  compareInOrder,
  compareValues,
  fieldValue,
  isFolded,
  positionOf,
  prefixRange,
  valuesOf,
} from '#src/application/records/query-semantics.js';
import { by, product } from '../../../contract/repository/records.js';
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
    for (const text of [
      '',
      ' ',
      '1.50',
      '1e2',
      '0.0000001',
      '+1',
      '-0',
      '01',
      '0x10',
      '1 ',
      'True',
      'null',
    ]) {
      expect(valuesFor(text), text).to.deep.equal([text]);
    }
    for (const text of ['NaN', 'Infinity', '-Infinity']) expect(valuesFor(text), text).to.deep.equal([text]);
  });

  it('define the range of texts with this prefix', () => {
    expect(prefixRange('ab')).to.deep.equal({ from: 'ab', before: 'ac' });
    expect(prefixRange('')).to.deep.equal({ from: '', before: undefined });
  });
});
