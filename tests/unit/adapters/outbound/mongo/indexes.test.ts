import { expect } from 'chai';
import type { Document, IndexDescription } from 'mongodb';
import { conditionsOf } from '#src/adapters/outbound/mongo/filter.js';
import { indexesOnFields, isIndexed } from '#src/adapters/outbound/mongo/indexes.js';
import { sortOf } from '#src/adapters/outbound/mongo/list.js';
import type { Filter, Order, RecordTable } from '#src/application/records/list-query.js';
import { SYSTEM_FIELDS } from '#src/domain/fields.js';
import { PRODUCTS, TABLES } from '../../../../support/tables.js';

type Keys = [path: string, way: number][];

interface Asked {
  readonly filters: readonly Filter[];
  readonly order: Order;
}

/** A table like none of the service: all of its fields are optional. */
const OPTIONAL: RecordTable = {
  name: 'optional',
  firstId: 1,
  fields: { text: { type: 'text' }, parentId: { type: 'integer', reference: true } },
};

const BY_ITSELF: IndexDescription = { key: { _id: 1 }, name: '_id_', unique: true };

describe('what is said to be served in MongoDB', () => {
  for (const table of [...TABLES, OPTIONAL]) {
    const indexes = [...indexesOnFields(table), BY_ITSELF];
    const served = everyQuery(table).filter((requested) => isIndexed(table, requested));
    const serves = (index: IndexDescription, requested: Asked) =>
      names(table, requested, index) || fits(table, requested, index);

    it(`has an index whose prefix fits, or a unique one that names the records: ${table.name}`, () => {
      const unserved = served.filter((requested) => !indexes.some((index) => serves(index, requested)));
      expect(unserved.slice(0, 3).map((requested) => JSON.stringify(requested))).to.deep.equal([]);
    });

    it(`needs each of the indexes: ${table.name}`, () => {
      const needless = indexes.filter((index) => {
        const others = indexes.filter((other) => other !== index);
        return served.every((requested) => others.some((other) => serves(other, requested)));
      });
      expect(needless.map(({ name }) => name)).to.deep.equal([]);
    });
  }

  it('is no other order, no other field and no range before the order', () => {
    const index: IndexDescription = { key: { live: 1, 'fields.name': 1, _id: 1 } };
    const by = (...fields: string[]) =>
      fields.map((field) => ({ field: field.replace('-', ''), descending: field.startsWith('-') }));
    const name = (operator: 'eq' | 'gt'): Filter => ({ field: 'name', operator, value: 'x' });
    const is = (filters: Filter[], order: Order) => fits(PRODUCTS, { filters, order }, index);
    expect(is([], by('name', 'id'))).to.equal(true);
    expect(is([], by('-name', '-id'))).to.equal(true);
    expect(is([name('gt')], by('name', 'id'))).to.equal(true);
    expect(is([name('eq')], by('id'))).to.equal(true);
    expect(is([], by('-name', 'id'))).to.equal(false);
    expect(is([], by('id'))).to.equal(false);
    expect(is([name('gt')], by('id'))).to.equal(false);
    expect(is([{ field: 'sku', operator: 'eq', value: 'x' }], by('name', 'id'))).to.equal(false);
    expect(is([], by('name', 'createdAt', 'id'))).to.equal(false);
  });
});

/** Whether the index is unique, and a filter asks for values of it: then few records are left, whatever their order. */
function names(table: RecordTable, { filters }: Asked, { key, unique }: IndexDescription): boolean {
  const [path] = keysOf(key)[0] as Keys[number];
  return unique === true && predicates(table, filters).some((one) => one.path === path && one.isPoints);
}

/** Equality first, then the order, either way round; ranges are on the key where the order begins, and nothing else is. */
function fits(table: RecordTable, { filters, order }: Asked, { key }: IndexDescription): boolean {
  const requested = predicates(table, filters);
  const fixed = new Set(requested.filter(({ isPoint }) => isPoint).map(({ path }) => path));
  const scanned = keysOf(key);
  while (scanned[0] && fixed.has(scanned[0][0])) fixed.delete((scanned.shift() as Keys[number])[0]);
  const sorted = keysOf(sortOf(order, 'after')).filter(([path]) => scanned.some(([one]) => one === path));
  const isAllThere = sorted.length + keysInPrefix(key, scanned, order) === order.length;
  const isInOrder = [1, -1].some((turn) =>
    sorted.every(([path, way], at) => scanned[at]?.[0] === path && scanned[at]?.[1] === way * turn),
  );
  const bounded = requested.filter(({ path }) => !isInPrefix(key, scanned, path)).map(({ path }) => path);
  return isAllThere && isInOrder && bounded.every((path) => path === scanned[0]?.[0]);
}

/** How many keys of the order have one value in all that is read. */
function keysInPrefix(key: IndexDescription['key'], scanned: Keys, order: Order): number {
  return keysOf(sortOf(order, 'after')).filter(([path]) => isInPrefix(key, scanned, path)).length;
}

function isInPrefix(key: IndexDescription['key'], scanned: Keys, path: string): boolean {
  return keysOf(key).some(([one]) => one === path) && !scanned.some(([one]) => one === path);
}

function keysOf(key: IndexDescription['key']): Keys {
  return Object.entries(key).map(([path, way]) => [path, Number(way)]);
}

function predicates(table: RecordTable, filters: readonly Filter[]) {
  return conditionsOf(table, filters).map((condition) => {
    const [[path, is]] = Object.entries(condition) as [[string, unknown]];
    const { $eq, $in } = is as Document;
    const isPoint = is === true || $eq !== undefined || $in?.length === 1;
    return { path, isPoint, isPoints: isPoint || $in !== undefined };
  });
}

/** With no filter, with one and with two, of every field and operator, in every order by one key or two. */
function everyQuery(table: RecordTable): Asked[] {
  const single = everyFilter(table);
  const pairs = single.flatMap((one, at) => single.slice(at).map((other) => [one, other]));
  const all = [[], ...single.map((one) => [one]), ...pairs];
  return everyOrder(table).flatMap((order) => all.map((filters) => ({ filters, order })));
}

function everyFilter(table: RecordTable): Filter[] {
  return Object.entries({ ...SYSTEM_FIELDS, ...table.fields }).flatMap(([field, { type }]): Filter[] => {
    if (type === 'attributes') return [{ field: 'attributes', operator: 'attribute', key: 'k', value: 'v' }];
    const value = type === 'text' ? 'a' : 1;
    const operators = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', ...(type === 'text' ? ['prefix'] : [])];
    const compared = operators.map((operator) => ({ field, operator, value }) as Filter);
    return [...compared, { field, operator: 'in', values: [value, type === 'text' ? 'b' : 2] }];
  });
}

function everyOrder(table: RecordTable): Order[] {
  const required = Object.entries({ ...SYSTEM_FIELDS, ...table.fields })
    .filter(([field, spec]) => spec.required && field !== 'id')
    .map(([field]) => field);
  const ways = (field: string) => [false, true].map((descending) => ({ field, descending }));
  const keys = required.flatMap(ways);
  return ways('id').flatMap((id) => [
    [id],
    ...keys.map((key) => [key, id]),
    ...keys.flatMap((key) =>
      keys.filter((two) => two.field !== key.field && !two.descending).map((two) => [key, two, id]),
    ),
  ]);
}
