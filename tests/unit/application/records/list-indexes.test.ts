import { expect } from 'chai';
import type { Filter, RecordTable, SortOrder } from '#src/application/ports/list-query.js';
import { isIndexed, listIndexes } from '#src/application/records/list-indexes.js';
import { ORDERS, PRODUCTS, USERS } from '../../../support/tables.js';

/** Parses an order such as `-name,id`. */
function order(text: string): SortOrder {
  return text.split(',').map((key) => ({ field: key.replace(/^-/, ''), descending: key.startsWith('-') }));
}

/** Parses filters such as `name:gt`, with arbitrary values. */
function filters(text: string): Filter[] {
  return text.split(' ').flatMap((filter): Filter[] => {
    const [field = '', operator = ''] = filter.split(':');
    if (field === '') return [];
    if (field === 'attributes') return [{ field, operator: 'attribute', key: 'k', value: 'v' }];
    if (field === 'q') return [{ field, operator: 'search', words: ['a'] }];
    if (operator === 'missing' || operator === 'present')
      return [{ field, operator: 'exists', value: operator === 'present' }];
    if (operator === 'in') return [{ field, operator, values: ['1', '2'] }];
    return [{ field, operator, value: '1' } as Filter];
  });
}

type Case = readonly [table: RecordTable, filters: string, order: string];

const INDEXED: readonly Case[] = [
  [PRODUCTS, '', 'id'],
  [PRODUCTS, '', '-id'],
  [PRODUCTS, '', '-name,id'],
  [PRODUCTS, '', 'updatedAt,-id'],
  [PRODUCTS, 'id:gt id:lt', 'id'],
  [PRODUCTS, 'name:prefix', 'name,id'],
  [PRODUCTS, 'createdAt:gte createdAt:lt', '-createdAt,id'],
  [PRODUCTS, 'price.currency:eq', 'id'],
  [PRODUCTS, 'price.amount:eq id:gt', '-id'],
  [PRODUCTS, 'sku:eq price.amount:gt attributes', 'name,updatedAt,id'],
  [PRODUCTS, 'id:in name:ne', '-createdAt,id'],
  [PRODUCTS, 'price.amount:missing', '-id'],
  [PRODUCTS, 'price.currency:missing id:gt', 'id'],
  [PRODUCTS, 'sku:eq q sku:present', '-name,id'],
  [PRODUCTS, 'tags:eq', 'id'],
  [ORDERS, 'userId:eq', 'id'],
  [ORDERS, 'userId:eq', 'userId,id'],
  [ORDERS, 'userId:eq', '-createdAt,id'],
  [ORDERS, 'userId:eq', 'createdAt,-id'],
  [ORDERS, 'userId:eq createdAt:gte createdAt:lt', '-createdAt,id'],
  [PRODUCTS, 'price.amount:present', 'price.amount,id'],
  [PRODUCTS, 'price.amount:gt price.amount:lt', '-price.amount,id'],
  [PRODUCTS, 'stock:present', '-stock,id'],
  [PRODUCTS, 'brand:present', '-brand,-id'],
  [PRODUCTS, 'sku:present', 'sku,id'],
  [PRODUCTS, 'sku:prefix sku:ne', '-sku,brand,id'],
  [USERS, '', '-email,id'],
  [USERS, '', 'email,-name,id'],
  [USERS, 'email:in', 'name,id'],
  [USERS, 'email:lt', 'email,id'],
  [PRODUCTS, 'tags:eq id:gt', 'id'],
  [PRODUCTS, 'name:eq id:gt', '-name,id'],
  [PRODUCTS, 'name:eq name:gt', 'name,id'],
  [ORDERS, 'userId:eq createdAt:eq', 'id'],
];

const NOT_INDEXED: readonly Case[] = [
  [PRODUCTS, '', 'name,createdAt,id'],
  [PRODUCTS, 'name:prefix', 'id'],
  [PRODUCTS, 'price.amount:gt', 'id'],
  [PRODUCTS, 'price.amount:in', 'id'],
  [PRODUCTS, 'price.amount:eq', 'name,id'],
  [PRODUCTS, 'price.amount:eq price.currency:eq', 'id'],
  [PRODUCTS, 'price.currency:ne', 'id'],
  [PRODUCTS, 'sku:prefix', 'id'],
  [PRODUCTS, 'attributes', 'id'],
  [PRODUCTS, 'brand:present', '-brand,id'],
  [PRODUCTS, 'stock:present', 'stock,brand,id'],
  [PRODUCTS, 'name:gt', 'sku,id'],
  [PRODUCTS, 'sku:present', 'name,sku,id'],
  [PRODUCTS, 'price.amount:missing', 'name,id'],
  [PRODUCTS, 'price.amount:present', 'id'],
  [PRODUCTS, 'price.amount:missing price.currency:missing', 'id'],
  [PRODUCTS, 'sku:missing', 'id'],
  [PRODUCTS, 'sku:present', 'id'],
  [PRODUCTS, 'tags:eq tags:eq', 'id'],
  [PRODUCTS, 'tags:in', 'id'],
  [PRODUCTS, 'images:present', 'id'],
  [PRODUCTS, 'q', 'id'],
  [PRODUCTS, 'q name:eq', 'id'],
  [PRODUCTS, 'id:gt', 'name,id'],
  [ORDERS, 'userId:eq', 'createdAt,id'],
  [ORDERS, 'userId:eq', '-createdAt,-id'],
  [ORDERS, 'userId:eq', '-updatedAt,id'],
  [ORDERS, 'userId:in', '-createdAt,id'],
  [ORDERS, 'userId:eq updatedAt:gt', '-createdAt,id'],
  [PRODUCTS, 'price.amount:eq', '-createdAt,id'],
  [USERS, 'email:prefix', 'email,id'],
  [USERS, 'email:ne', 'email,id'],
];

it('a list uses an index, or none', () => {
  for (const [cases, expected] of [
    [INDEXED, true],
    [NOT_INDEXED, false],
  ] as const)
    for (const [table, filter, sorted] of cases) {
      const list = { filters: filters(filter), order: order(sorted) };
      const what = `${table.name}, filtered by ${filter || 'nothing'}, sorted by ${sorted}`;
      expect(isIndexed(table, list, listIndexes(table)), what).to.equal(expected);
    }
});

it('a list by id with one value of one attribute uses an index on attributes, if the store has it', () => {
  const attributes = order('attributes,id');
  const is = (filter: string, sorted = 'id', more: Filter[] = []) =>
    isIndexed(PRODUCTS, { filters: [...filters(filter), ...more], order: order(sorted) }, [attributes]);
  const other = { field: 'attributes', operator: 'attribute', key: 'l' } as const;
  expect(is('attributes')).to.equal(true);
  expect(is('attributes id:gt', '-id')).to.equal(true);
  expect(is('attributes', 'name,id')).to.equal(false);
  expect(is('attributes attributes')).to.equal(false);
  expect(is('attributes brand:eq')).to.equal(false);
  expect(is('', 'id', [{ ...other, values: ['1', '2'] }])).to.equal(false);
  expect(is('', 'id', [{ ...other, comparison: 'gt', number: 1 }])).to.equal(false);
  expect(is('', 'id', [{ ...other, exists: true }])).to.equal(false);
  expect(is('', 'id', [{ ...other, exists: false }])).to.equal(false);
});
