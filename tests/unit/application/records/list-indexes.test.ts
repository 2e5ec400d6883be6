import { expect } from 'chai';
import type { Filter, RecordTable, SortOrder } from '#src/application/ports/list-query.js';
import { isIndexed, listIndexes } from '#src/application/records/list-indexes.js';
import { list } from '../../../support/list.js';
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

/** Lists of a table, each as its filters and its order: `name:gt by name,id`. */
type Lists = readonly (readonly [table: RecordTable, lists: readonly string[]])[];

const INDEXED: Lists = [
  [
    PRODUCTS,
    list`by id  by -id  by -name,id  by updatedAt,-id  id:gt id:lt by id  name:prefix by name,id
      createdAt:gte createdAt:lt by -createdAt,id  price.currency:eq by id  price.amount:eq id:gt by -id
      sku:eq price.amount:gt attributes by name,updatedAt,id  id:in name:ne by -createdAt,id  price.amount:missing by -id
      price.currency:missing id:gt by id  sku:eq q sku:present by -name,id  tags:eq by id
      price.amount:present by price.amount,id  price.amount:gt price.amount:lt by -price.amount,id
      stock:present by -stock,id  brand:present by -brand,-id  sku:present by sku,id  sku:prefix sku:ne by -sku,brand,id
      tags:eq id:gt by id  name:eq id:gt by -name,id  name:eq name:gt by name,id`,
  ],
  [
    ORDERS,
    list`userId:eq by id  userId:eq by userId,id  userId:eq by -createdAt,id  userId:eq by createdAt,-id
      userId:eq createdAt:gte createdAt:lt by -createdAt,id  userId:eq createdAt:eq by id`,
  ],
  [USERS, list`by -email,id  by email,-name,id  email:in by name,id  email:lt by email,id`],
];

const NOT_INDEXED: Lists = [
  [
    PRODUCTS,
    list`by name,createdAt,id  name:prefix by id  price.amount:gt by id  price.amount:in by id  price.amount:eq by name,id
      price.amount:eq price.currency:eq by id  price.currency:ne by id  sku:prefix by id  attributes by id
      brand:present by -brand,id  stock:present by stock,brand,id  name:gt by sku,id  sku:present by name,sku,id
      price.amount:missing by name,id  price.amount:present by id  price.amount:missing price.currency:missing by id
      sku:missing by id  sku:present by id  tags:eq tags:eq by id  tags:in by id  images:present by id  q by id
      q name:eq by id  id:gt by name,id  price.amount:eq by -createdAt,id`,
  ],
  [
    ORDERS,
    list`userId:eq by createdAt,id  userId:eq by -createdAt,-id  userId:eq by -updatedAt,id  userId:in by -createdAt,id
      userId:eq updatedAt:gt by -createdAt,id`,
  ],
  [USERS, list`email:prefix by email,id  email:ne by email,id`],
];

it('a list uses an index, or none', () => {
  for (const [tables, expected] of [
    [INDEXED, true],
    [NOT_INDEXED, false],
  ] as const)
    for (const [table, lists] of tables)
      for (const text of lists) {
        const [filter = '', sorted = ''] = text.split(/ ?by /);
        const query = { filters: filters(filter), order: order(sorted) };
        expect(isIndexed(table, query, listIndexes(table)), `${table.name}: ${text}`).to.equal(expected);
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
