import { expect } from 'chai';
import type { Document, IndexDescription } from 'mongodb';
import { conditionsOf } from '#src/adapters/outbound/mongo/filter.js';
import { indexesOnFields, listKeys } from '#src/adapters/outbound/mongo/indexes.js';
import { sortOf } from '#src/adapters/outbound/mongo/list.js';
import type { Filter, RecordTable, SortOrder } from '#src/application/ports/list-query.js';
import { decidingKeys, isIndexed } from '#src/application/records/list-indexes.js';
import { type FieldSpecs, SYSTEM_FIELDS, sortableFields } from '#src/domain/fields.js';
import { PRODUCTS, TABLES } from '../../../../support/tables.js';

type Keys = [path: string, direction: number][];

interface IndexedQuery {
  readonly filters: readonly Filter[];
  readonly order: SortOrder;
}

type Predicate = { readonly path: string; readonly isPoint: boolean; readonly isPoints: boolean };

/** By filters, because many queries and indexes share them. */
const known = new WeakMap<readonly Filter[], readonly Predicate[]>();

const keysOf = once(
  (key: IndexDescription['key']): Readonly<Keys> =>
    Object.entries(key).map(([path, direction]) => [path, Number(direction)]),
);

const sortKeys = once((order: SortOrder) => keysOf(sortOf(order, 'after')));

const ID_INDEX: IndexDescription = { key: { _id: 1 }, name: '_id_', unique: true };

describe('the queries that isIndexed accepts for MongoDB', () => {
  for (const table of TABLES) {
    const indexes = [...indexesOnFields(table), ID_INDEX];
    const keys = listKeys(table);
    const served = everyQuery(table)
      .filter((query) => isIndexed(table, query, keys))
      .map((query) => ({
        query,
        by: indexes.filter((index) => selectsFew(table, query, index) || fits(table, query, index)),
      }));

    it(`have an index whose prefix fits, or a unique index that selects few records: ${table.name}`, () => {
      const unserved = served.filter(({ by }) => by.length === 0);
      expect(unserved.slice(0, 3).map(({ query }) => JSON.stringify(query))).to.deep.equal([]);
    });

    it(`need each of the indexes: ${table.name}`, () => {
      const needless = indexes.filter((index) => served.every(({ by }) => by.some((other) => other !== index)));
      expect(needless.map(({ name }) => name)).to.deep.equal([]);
    });
  }

  it('exclude another order, another field and a range on a field before the order', () => {
    const index: IndexDescription = { key: { live: 1, 'fields.name': 1, _id: 1 } };
    const by = (...fields: string[]) =>
      fields.map((field) => ({ field: field.replace('-', ''), descending: field.startsWith('-') }));
    const name = (operator: 'eq' | 'gt'): Filter => ({ field: 'name', operator, value: 'x' });
    const is = (filters: Filter[], order: SortOrder) => fits(PRODUCTS, { filters, order }, index);
    expect(is([], by('name', 'id'))).to.equal(true);
    expect(is([], by('-name', '-id'))).to.equal(true);
    expect(is([name('gt')], by('name', 'id'))).to.equal(true);
    expect(is([name('eq')], by('id'))).to.equal(true);
    expect(is([], by('-name', 'id'))).to.equal(false);
    expect(is([], by('id'))).to.equal(false);
    expect(is([name('gt')], by('id'))).to.equal(false);
    expect(is([{ field: 'sku', operator: 'eq', value: 'x' }], by('name', 'id'))).to.equal(false);
    expect(is([], by('name', 'createdAt', 'id'))).to.equal(false);
    const bySku: IndexDescription = { key: { 'fields.sku': 1 }, unique: true, sparse: true };
    const sku: Filter = { field: 'sku', operator: 'exists', value: true };
    expect(fits(PRODUCTS, { filters: [sku], order: by('-sku', 'name', 'id') }, bySku)).to.equal(true);
    expect(fits(PRODUCTS, { filters: [sku], order: by('name', 'id') }, bySku)).to.equal(false);
    expect(fits(PRODUCTS, { filters: [], order: by('sku', 'id') }, bySku)).to.equal(false);
  });
});

/** Whether the index is unique and a filter selects values of it, so that few records are left to sort. */
function selectsFew(table: RecordTable, { filters }: IndexedQuery, { key, unique }: IndexDescription): boolean {
  const [path] = keysOf(key)[0] as Keys[number];
  return unique === true && predicates(table, filters).some((one) => one.path === path && one.isPoints);
}

/** Whether the keys are equality first, then the order in either direction, with ranges only on its first key. */
function fits(table: RecordTable, query: IndexedQuery, { key, sparse }: IndexDescription): boolean {
  const order = decidingKeys(table, query.order);
  // A sparse index has records alone, and serves only conditions on its own field.
  const conditions = predicates(table, query.filters).filter(({ path }) => !sparse || path !== 'live');
  if (sparse && !conditions.some(({ path }) => path === keysOf(key)[0]?.[0])) return false;
  const fixed = new Set(conditions.filter(({ isPoint }) => isPoint).map(({ path }) => path));
  const scanned = [...keysOf(key)];
  while (scanned[0] && fixed.has(scanned[0][0])) fixed.delete((scanned.shift() as Keys[number])[0]);
  const sorted = sortKeys(order).filter(([path]) => scanned.some(([one]) => one === path));
  const isComplete = sorted.length + keysInPrefix(key, scanned, order) === order.length;
  const isInOrder = [1, -1].some((sign) =>
    sorted.every(([path, direction], at) => scanned[at]?.[0] === path && scanned[at]?.[1] === direction * sign),
  );
  const bounded = conditions.filter(({ path }) => !isInPrefix(key, scanned, path)).map(({ path }) => path);
  return isComplete && isInOrder && bounded.every((path) => path === scanned[0]?.[0]);
}

/** The number of keys of the order that have only one value in the scanned range. */
function keysInPrefix(key: IndexDescription['key'], scanned: Readonly<Keys>, order: SortOrder): number {
  return sortKeys(order).filter(([path]) => isInPrefix(key, scanned, path)).length;
}

function isInPrefix(key: IndexDescription['key'], scanned: Readonly<Keys>, path: string): boolean {
  return keysOf(key).some(([one]) => one === path) && !scanned.some(([one]) => one === path);
}

/** Makes the value of each object once. */
function once<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, Value>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}

function predicates(table: RecordTable, filters: readonly Filter[]): readonly Predicate[] {
  const found = known.get(filters) ?? newPredicates(table, filters);
  known.set(filters, found);
  return found;
}

function newPredicates(table: RecordTable, filters: readonly Filter[]): Predicate[] {
  return conditionsOf(table, filters).flatMap(predicatesOn);
}

function predicatesOn(condition: Document): Predicate[] {
  return Object.entries(condition).flatMap(([path, is]): Predicate[] => {
    // The bounds on members of one element apply together.
    const { $elemMatch } = is as Document;
    if ($elemMatch?.key) return predicatesOn($elemMatch).map((one) => ({ ...one, path: `${path}.${one.path}` }));
    const { $eq, $in, $exists, $ne } = is as Document;
    // Records without a value have the key null in an index that is not sparse.
    const isMissing = $exists === false && $ne === undefined;
    const isPoint = is === true || $eq !== undefined || $in?.length === 1 || isMissing;
    return [{ path, isPoint, isPoints: isPoint || $in !== undefined }];
  });
}

/**
 * All queries with up to two filters, of every field and kind of operator, in every order by one or two keys that a store gets.
 * An index is read in both directions: those with two filters have one of each two orders that are the reverse of each
 * other.
 */
function everyQuery(table: RecordTable): IndexedQuery[] {
  const single = everyFilter(table);
  // Beside another filter, one kind of range stands for all.
  const kinds = single.filter(({ operator }) => !['lt', 'lte', 'gt'].includes(operator));
  const pairs = kinds.flatMap((one, at) => kinds.slice(at).map((other) => [one, other]));
  const few = [[], ...single.map((one) => [one])];
  const all = [...few, ...pairs];
  const fields = fieldsOf(table);
  const hasFirst = ([first]: SortOrder, filters: readonly Filter[]) =>
    fields[first?.field ?? '']?.required ||
    filters.some(({ field, ...is }) => field === first?.field && !(is.operator === 'exists' && !is.value));
  return everyOrder(table).flatMap((order) =>
    (order[0]?.descending ? few : all)
      .filter((filters) => hasFirst(order, filters))
      .map((filters) => ({ filters, order })),
  );
}

function everyFilter(table: RecordTable): Filter[] {
  return Object.entries(fieldsOf(table)).flatMap(([field, { type, required }]): Filter[] => {
    const attribute = { field: 'attributes', operator: 'attribute', key: 'k' } as const;
    if (type === 'attributes')
      return [
        { ...attribute, value: 'v' },
        { ...attribute, values: ['v', 'w'] },
        { ...attribute, comparison: 'gt', number: 1 },
        { ...attribute, exists: true },
        { ...attribute, exists: false },
      ];
    const value = type === 'text' ? 'a' : 1;
    const existence = [true, false].map((value): Filter => ({ field, operator: 'exists', value }));
    const operators = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte', ...(type === 'text' ? ['prefix'] : [])];
    const compared = operators.map((operator) => ({ field, operator, value }) as Filter);
    return [
      ...(required ? [] : existence),
      ...compared,
      { field, operator: 'in', values: [value, type === 'text' ? 'b' : 2] },
    ];
  });
}

function everyOrder(table: RecordTable): SortOrder[] {
  const sortable = sortableFields(table.fields).filter((field) => field !== 'id');
  const fields = fieldsOf(table);
  const required = sortable.filter((field) => fields[field]?.required);
  const directions = (field: string) => [false, true].map((descending) => ({ field, descending }));
  const keys = required.flatMap(directions);
  return directions('id').flatMap((id) => [
    [id],
    ...sortable.flatMap(directions).map((key) => [key, id]),
    ...keys.flatMap((key) =>
      keys.filter((two) => two.field !== key.field && !two.descending).map((two) => [key, two, id]),
    ),
  ]);
}

function fieldsOf({ fields }: RecordTable): FieldSpecs {
  return { ...SYSTEM_FIELDS, ...fields };
}
