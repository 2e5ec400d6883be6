import { expect } from 'chai';
import { beyondPosition, filterConditions, Parameters } from '#src/adapters/outbound/postgresql/filter.js';
import { scanOrder } from '#src/adapters/outbound/sql/keyset.js';
import type { Filter, SearchFilter, Value } from '#src/application/ports/list-query.js';
import { by } from '../../../../contract/repository/records.js';
import { PRODUCTS } from '../../../../support/tables.js';

/** The largest number that the filters compare. */
const BEYOND = 2 ** 60;

/** Values that no record has. `queryProperty` and `postgresql-plans.test.ts` have all others. */
describe('the filters of PostgreSQL', () => {
  const written = (filter: Exclude<Filter, SearchFilter>): unknown[] => {
    const parameters = new Parameters();
    return [filterConditions(PRODUCTS, [filter], parameters, []).join(' AND '), ...parameters.values];
  };

  for (const [field, operator, value, ...expected] of [
    ['id', 'gte', -0.5, 'id > $1', -1],
    ['stock', 'eq', 1.5, 'FALSE'],
    ['stock', 'ne', 1.5, '"stock" IS NOT NULL'],
    ['stock', 'lt', 1.5, '"stock" <= $1', 1],
    ['stock', 'lte', 1.5, '"stock" <= $1', 1],
    ['stock', 'gt', 1.5, '"stock" > $1', 1],
    ['stock', 'gte', 1.5, '"stock" > $1', 1],
    ['stock', 'lt', 1e300, '"stock" < $1', BEYOND],
    ['stock', 'gte', -1e300, '"stock" >= $1', -BEYOND],
    ['stock', 'eq', Number.POSITIVE_INFINITY, '"stock" = $1', BEYOND],
    ['name', 'eq', 'a\0b', 'FALSE'],
    ['name', 'ne', 'a\0b', '"name" IS NOT NULL'],
    ['name', 'prefix', 'a\0', 'FALSE'],
    ['name', 'lt', 'a\0b', '"name" <= $1', 'a'],
    ['name', 'lte', 'a\0b', '"name" <= $1', 'a'],
    ['name', 'gt', 'a\0b', '"name" > $1', 'a'],
    ['name', 'gte', '\0', '"name" > $1', ''],
  ] as const)
    it(`${field} ${operator} ${JSON.stringify(value)}`, () => {
      expect(written({ field, operator, value })).to.deep.equal(expected);
    });

  it('look up the values of a list from the position of a page by id on', () => {
    const tag: Filter = { field: 'tags', operator: 'eq', value: 'a' };
    expect(filterConditions(PRODUCTS, [tag], new Parameters(), ['id > 7'])).to.deep.equal([
      `id IN (SELECT id FROM products_values WHERE field = 'tags' AND value = $1 AND id > 7)`,
    ]);
  });

  it('leave out the values of a list that no record has', () => {
    const among = (field: string, values: readonly Value[]) => written({ field, operator: 'in', values });
    expect(among('stock', [1, 1.5, 2])).to.deep.equal(['"stock" = ANY($1)', [1, 2]]);
    expect(among('name', ['a', 'a\0'])).to.deep.equal(['"name" = ANY($1)', ['a']]);
    expect(among('name', [])).to.deep.equal(['"name" = ANY($1)', []]);
  });

  it('match no attribute with a text that the server cannot have', () => {
    const attribute = { field: 'attributes', operator: 'attribute' } as const;
    for (const text of ['a\0', '\ud800']) {
      expect(written({ ...attribute, key: text, value: 'x' })).to.deep.equal(['FALSE']);
      expect(written({ ...attribute, key: 'a', value: text })).to.deep.equal(['FALSE']);
      expect(written({ ...attribute, key: text, exists: true })).to.deep.equal(['FALSE']);
      expect(written({ ...attribute, key: text, exists: false })).to.deep.equal(['TRUE']);
    }
  });

  it('are no text of a client', () => {
    const evil = `"; DROP TABLE products; --`;
    expect(written({ field: 'name', operator: 'eq', value: evil })[0]).not.to.include('DROP');
    expect(() => written({ field: evil, operator: 'eq', value: 'x' })).to.throw('has no field');
    expect(() => written({ field: evil, operator: 'exists', value: true })).to.throw('has no field');
  });
});

describe('the position of a list in PostgreSQL', () => {
  const beyond = (sort: string, values: (Value | null)[], inclusive = false) => {
    const parameters = new Parameters();
    const from = { side: 'after', inclusive, values } as const;
    const order = scanOrder(PRODUCTS, { order: by(sort), from });
    return [beyondPosition(order, from, parameters), ...parameters.values];
  };

  it('ends at a value that no record has', () => {
    expect(beyond('createdAt,id', [5.5, 7])).to.deep.equal(['(created_at) > ($1)', 5]);
    expect(beyond('-createdAt,id', [5.5, 7])).to.deep.equal(['(created_at) <= ($1)', 5]);
    expect(beyond('name,createdAt,id', ['a', 5.5, 7])).to.deep.equal(['("name", created_at) > ($1, $2)', 'a', 5]);
    expect(beyond('name,id', ['a\0b', 7], true)).to.deep.equal(['("name") > ($1)', 'a']);
    expect(beyond('id', [1e300])).to.deep.equal(['(id) > ($1)', BEYOND]);
  });
});
