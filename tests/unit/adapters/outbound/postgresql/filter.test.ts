import { expect } from 'chai';
import { beyondPosition, filterConditions, Parameters } from '#src/adapters/outbound/postgresql/filter.js';
import { orderBy, scanOrder } from '#src/adapters/outbound/sql/keyset.js';
import type { Filter, SearchFilter, Value } from '#src/application/ports/list-query.js';
import { by } from '../../../../contract/repository/records.js';
import { PRODUCTS, USERS } from '../../../../support/tables.js';

type Written = [text: string, ...values: unknown[]];

/** The largest number that the filters compare. */
const BEYOND = 2 ** 60;

describe('the filters of PostgreSQL', () => {
  const written = (filter: Exclude<Filter, SearchFilter>, table = PRODUCTS): Written => {
    const parameters = new Parameters();
    return [filterConditions(table, [filter], parameters, []).join(' AND '), ...parameters.values];
  };

  it('look up the values of a list from the position of a page by id on', () => {
    const parameters = new Parameters();
    const tag: Filter = { field: 'tags', operator: 'eq', value: 'a' };
    expect(filterConditions(PRODUCTS, [tag], parameters, ['id > 7'])).to.deep.equal([
      `id IN (SELECT id FROM products_values WHERE field = 'tags' AND value = $1 AND id > 7)`,
    ]);
  });

  it('compare the elements of a list beside other filters than of ids, or in another order', () => {
    const tag: Filter = { field: 'tags', operator: 'eq', value: 'a' };
    const some: Filter = { field: 'tags', operator: 'in', values: ['b', 'c\0'] };
    const conditions = (filters: Filter[], byId?: string[]) => {
      const parameters = new Parameters();
      return [filterConditions(PRODUCTS, filters, parameters, byId), ...parameters.values];
    };
    expect(conditions([tag, some], [])).to.deep.equal([['"tags" && $1', '"tags" && $2'], ['a'], ['b']]);
    expect(conditions([tag])).to.deep.equal([['"tags" && $1'], ['a']]);
    expect(conditions([tag, { field: 'id', operator: 'gt', value: 7 }], [])).to.deep.equal([
      [`id IN (SELECT id FROM products_values WHERE field = 'tags' AND value = $1)`, 'id > $2'],
      ...['a', 7],
    ]);
    expect(conditions([{ field: 'tags', operator: 'prefix', value: 'a' }, tag])).to.deep.equal([
      [`id IN (SELECT id FROM products_values WHERE field = 'tags' AND value >= $1 AND value < $2)`, '"tags" && $3'],
      ...['a', 'b'],
      ['a'],
    ]);
  });

  for (const [field, operator, value, ...expected] of [
    ['name', 'eq', "a'b", '"name" = $1', "a'b"],
    ['name', 'ne', '', '"name" <> $1', ''],
    ['name', 'prefix', 'ab', '"name" >= $1 AND "name" < $2', 'ab', 'ac'],
    ['name', 'prefix', '', '"name" >= $1', ''],
    ['createdAt', 'lt', 7, 'created_at < $1', 7],
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

  it('leave out the values of a list that no record has', () => {
    const among = (field: string, values: readonly Value[]) => written({ field, operator: 'in', values });
    expect(among('stock', [1, 1.5, 2])).to.deep.equal(['"stock" = ANY($1)', [1, 2]]);
    expect(among('name', ['a', 'a\0'])).to.deep.equal(['"name" = ANY($1)', ['a']]);
    expect(among('name', [])).to.deep.equal(['"name" = ANY($1)', []]);
  });

  it('compare the folded copy of a field that ignores case, but not with lt', () => {
    const compared = (operator: 'eq' | 'lt') => written({ field: 'email', operator, value: 'A@x' }, USERS);
    expect(compared('eq')).to.deep.equal(['"email folded" = $1', 'a@x']);
    expect(compared('lt')).to.deep.equal(['"email" < $1', 'A@x']);
    expect(written({ field: 'gtin', operator: 'eq', value: '96385074' })).to.deep.equal([
      '"gtin folded" = $1',
      '00000096385074',
    ]);
    expect(written({ field: 'gtin', operator: 'prefix', value: '9' })[0]).to.match(/^"gtin" >= /);
  });

  it('look up the values of a list in their own table', () => {
    const ids = "id IN (SELECT id FROM products_values WHERE field = 'tags' AND";
    const tags = { field: 'tags' } as const;
    expect(written({ ...tags, operator: 'eq', value: 'a' })).to.deep.equal([`${ids} value = $1)`, 'a']);
    const among = written({ ...tags, operator: 'in', values: ['a', 'b'] });
    expect(among).to.deep.equal([`${ids} value = ANY($1))`, ['a', 'b']]);
    const begun = written({ ...tags, operator: 'prefix', value: 'a' });
    expect(begun).to.deep.equal([`${ids} value >= $1 AND value < $2)`, 'a', 'b']);
    const existing = written({ ...tags, operator: 'exists', value: false });
    expect(existing).to.deep.equal(['"tags" IS NULL']);
  });

  describe('of attributes', () => {
    const matches = '"attributes document" @@ $1::jsonpath';
    const attribute = { field: 'attributes', operator: 'attribute' } as const;

    it('compare their document, and find it by its entries', () => {
      const isValue = `${matches} AND "attributes" && $2`;
      expect(written({ ...attribute, key: 'a"', value: '1.5' })).to.deep.equal([
        isValue,
        String.raw`$."a\"" == "1.5" || $."a\"" == 1.5`,
        [String.raw`["a\"","1.5"]`, String.raw`["a\"",1.5]`],
      ]);
      expect(written({ ...attribute, key: 'a', values: ['x\0', 'true'] })).to.deep.equal([
        isValue,
        '$."a" == "true" || $."a" == true',
        ['["a","true"]', '["a",true]'],
      ]);
      expect(written({ ...attribute, key: 'a', exists: false })).to.deep.equal([
        `${matches} IS NOT TRUE`,
        'exists($."a")',
      ]);
    });

    it('compare the numbers of one key together', () => {
      const parameters = new Parameters();
      const filters = [
        { ...attribute, key: 'a', comparison: 'gt', number: 1 },
        { ...attribute, key: 'b', exists: true },
        { ...attribute, key: 'a', comparison: 'lte', number: 1 },
      ] satisfies Filter[];
      expect(filterConditions(PRODUCTS, filters, parameters)).to.deep.equal([
        `${matches} AND "attributes" && $2`,
        `${matches} AND "attributes" && $2`.replaceAll(/\$(\d)/g, (_, at) => `$${Number(at) + 2}`),
      ]);
      expect(parameters.values).to.deep.equal(['$."a" > 1 && $."a" <= 1', ['c000 a'], 'exists($."b")', [' b']]);
    });

    it('match no text that the server cannot have', () => {
      for (const text of ['a\0', '\ud800']) {
        expect(written({ ...attribute, key: text, value: 'x' })).to.deep.equal(['FALSE']);
        expect(written({ ...attribute, key: 'a', value: text })).to.deep.equal(['FALSE']);
        expect(written({ ...attribute, key: text, exists: true })).to.deep.equal(['FALSE']);
        expect(written({ ...attribute, key: text, exists: false })).to.deep.equal(['TRUE']);
      }
    });
  });

  it('are no text of a client', () => {
    const evil = `"; DROP TABLE products; --`;
    expect(written({ field: 'name', operator: 'eq', value: evil })[0]).not.to.include('DROP');
    expect(() => written({ field: evil, operator: 'eq', value: 'x' })).to.throw('has no field');
    expect(() => written({ field: evil, operator: 'exists', value: true })).to.throw('has no field');
  });
});

describe('the position of a list in PostgreSQL', () => {
  const beyond = (sort: string, values: (Value | null)[], inclusive = false, side: 'after' | 'before' = 'after') => {
    const parameters = new Parameters();
    const from = { side, inclusive, values };
    const order = scanOrder(PRODUCTS, { order: by(sort), from });
    return [beyondPosition(order, from, parameters), ...parameters.values];
  };

  it('is compared as a row if all keys have one direction', () => {
    expect(beyond('id', [7])).to.deep.equal(['(id) > ($1)', 7]);
    expect(beyond('-id', [7], true)).to.deep.equal(['(id) <= ($1)', 7]);
    expect(beyond('name,id', ['a', 7])).to.deep.equal(['("name", id) > ($1, $2)', 'a', 7]);
    expect(beyond('name,id', ['a', 7], true, 'before')).to.deep.equal(['("name", id) <= ($1, $2)', 'a', 7]);
  });

  it('bounds the first key if the directions differ', () => {
    expect(beyond('-createdAt,id', [5, 7])).to.deep.equal([
      'created_at <= $1 AND (created_at < $2 OR (id) > ($3))',
      ...[5, 5, 7],
    ]);
    expect(beyond('-createdAt,name,-id', [5, 'a', 7], true)).to.deep.equal([
      'created_at <= $1 AND (created_at < $2 OR "name" >= $3 AND ("name" > $4 OR (id) <= ($5)))',
      ...[5, 5, 'a', 'a', 7],
    ]);
  });

  it('ends at a value that no record has', () => {
    expect(beyond('createdAt,id', [5.5, 7])).to.deep.equal(['(created_at) > ($1)', 5]);
    expect(beyond('-createdAt,id', [5.5, 7])).to.deep.equal(['(created_at) <= ($1)', 5]);
    expect(beyond('name,createdAt,id', ['a', 5.5, 7])).to.deep.equal(['("name", created_at) > ($1, $2)', 'a', 5]);
    expect(beyond('name,id', ['a\0b', 7], true)).to.deep.equal(['("name") > ($1)', 'a']);
    expect(beyond('id', [1e300])).to.deep.equal(['(id) > ($1)', BEYOND]);
  });

  it('is followed in the reversed order backwards', () => {
    const from = { side: 'before', inclusive: false, values: [] } as const;
    expect(orderBy(scanOrder(PRODUCTS, { order: by('-createdAt,id'), from }))).to.equal('created_at, id DESC');
  });

  it('has a row without a value of a further key last, and first backwards', () => {
    const order = (side: 'after' | 'before', sort: string) =>
      orderBy(scanOrder(PRODUCTS, { order: by(sort), from: { side, inclusive: false, values: [] } }));
    expect(order('after', 'brand,-stock,gtin,id')).to.equal('"brand", "stock" DESC NULLS LAST, "gtin" NULLS LAST, id');
    expect(order('before', 'brand,-stock,gtin,id')).to.equal(
      '"brand" DESC, "stock" NULLS FIRST, "gtin" DESC NULLS FIRST, id DESC',
    );
    const at = (stock: number | null, side: 'after' | 'before') =>
      beyond('name,stock,id', ['a', stock, 7], false, side);
    const bound = (sign: string, rest: string) => `"name" ${sign}= $1 AND ("name" ${sign} $2 OR ${rest})`;
    expect(at(5, 'after')).to.deep.equal([
      bound('>', '("stock" > $3 OR "stock" IS NULL OR "stock" = $4 AND (id) > ($5))'),
      ...['a', 'a', 5, 5, 7],
    ]);
    expect(at(5, 'before')).to.deep.equal([
      bound('<', '("stock" < $3 OR "stock" = $4 AND (id) < ($5))'),
      ...['a', 'a', 5, 5, 7],
    ]);
    expect(at(null, 'after')).to.deep.equal([bound('>', '("stock" IS NULL AND (id) > ($3))'), ...['a', 'a', 7]]);
    expect(at(null, 'before')).to.deep.equal([bound('<', '("stock" IS NOT NULL OR (id) < ($3))'), ...['a', 'a', 7]]);
    expect(beyond('brand,id', [null, 7])).to.deep.equal(['("brand" IS NULL AND (id) > ($1))', 7]);
  });
});
