import { expect } from 'chai';
import fc from 'fast-check';
import { Filters } from '#src/adapters/inbound/http/parameters/filters.js';
import { PRODUCTS, USERS } from '#src/adapters/inbound/http/resources/definitions.js';

describe('Filters', () => {
  const read = (pairs: Record<string, string>) => new Filters(PRODUCTS).read(new Map(Object.entries(pairs)));

  it('parses each value by the type of its field', () => {
    expect(
      read({
        limit: '5',
        sort: 'name',
        name: '1',
        'name.in': '1,2',
        'price.amount.gte': '-0',
        'id.in': '1,-2',
        'createdAt.lt': '1970-01-01T00:00:01.0005Z',
        'attributes.a.b': '5',
        'attributes[a.ne]': '6',
        'attributes.a:ne': '7',
      }),
    ).to.deep.equal([
      { field: 'name', operator: 'eq', value: '1' },
      { field: 'name', operator: 'in', values: ['1', '2'] },
      { field: 'price.amount', operator: 'gte', value: 0 },
      { field: 'id', operator: 'in', values: [1, -2] },
      { field: 'createdAt', operator: 'lt', value: 1000.5 },
      { field: 'attributes', operator: 'attribute', key: 'a.b', value: '5' },
      { field: 'attributes', operator: 'attribute', key: 'a.ne', value: '6' },
      { field: 'attributes', operator: 'attribute', key: 'a:ne', value: '7' },
    ]);
  });

  it('finds any key between the first [ and the last ], unless a final [] makes the name that of a list', () => {
    const filters = new Filters(PRODUCTS);
    const parts = fc.constantFrom('[', ']', '.', ':', 'in', 'ne', 'a', ' ', 'é', '=', '[]', '].in');
    fc.assert(
      fc.property(fc.array(parts, { minLength: 1, maxLength: 6 }), (texts) => {
        const key = texts.join('');
        const found = filters.find(`attributes[${key}]`);
        const isOtherBetween = /^.+\]\[(?:in|ne)?(?:\]\[)?$/s.test(key);
        const isOtherBehindDot = /\.(?:in|ne)$|\[(?:in|ne)?\]$/s.test(key);
        const name = isOtherBehindDot ? `attributes[${key}]` : `attributes.${key}`;
        if (key.endsWith('[') || isOtherBetween) expect(found).to.equal(undefined);
        else expect(found).to.include({ name });
        const dotted = filters.find(`attributes.${key}`);
        if (isOtherBehindDot) expect(dotted).to.equal(undefined);
        else expect(dotted).to.include({ name });
        // The query is read again under this name.
        const [filter] = filters.read(new Map([[name, 'x']]));
        expect(filter).to.include({ key });
        expect(found ?? dotted, 'every key has a spelling').to.not.equal(undefined);
        expect(filters.find(`attributes[${key}].x`)).to.equal(undefined);
      }),
      { numRuns: 300 },
    );
  });

  it('finds any key before an operator, in both spellings', () => {
    const filters = new Filters(PRODUCTS);
    const parts = fc.constantFrom('[', ']', '.', ':', 'in', 'a', ' ', 'é', '[]', '].in', '].gt', ']:lt');
    const operators = fc.constantFrom(...['in', 'exists', 'lt', 'lte', 'gt', 'gte']);
    fc.assert(
      fc.property(
        fc.array(parts, { minLength: 1, maxLength: 6 }),
        operators,
        fc.constantFrom('.', ':'),
        (texts, operator, separator) => {
          const key = texts.join('');
          const found = filters.find(`attributes[${key}]${separator}${operator}`);
          expect(found).to.include({ name: `attributes[${key}].${operator}` });
          const value = operator === 'exists' ? 'true' : '1';
          const [filter] = filters.read(new Map([[`attributes[${key}].${operator}`, value]]));
          expect(filter).to.include({ operator: 'attribute', key });
        },
      ),
      { numRuns: 300 },
    );
  });

  it('takes at most 100 values of a field and of an attribute', () => {
    const filters = new Filters(PRODUCTS);
    const values = Array.from({ length: 100 }, (_, n) => `${n}`).join(',');
    for (const name of ['brand.in', 'tags.all', 'attributes[size].in']) {
      expect(filters.find(name)?.issues(values, name), name).to.deep.equal([]);
      const issues = filters.find(name)?.issues(`${values},100`, name) ?? [];
      expect(
        issues.map(({ code }) => code),
        name,
      ).to.deep.equal(['too_long']);
    }
  });

  it('has one name for both spellings of an operator', () => {
    const filters = new Filters(PRODUCTS);
    for (const operator of ['ne', 'lt', 'lte', 'gt', 'gte', 'prefix', 'in'])
      for (const separator of ['.', ':'])
        expect(filters.find(`name${separator}${operator}`)).to.include({ name: `name.${operator}` });
  });

  it('accepts only the fields of the resource', () => {
    const users = new Filters(USERS);
    expect(users.find('email.prefix')).to.not.equal(undefined);
    expect(users.find('attributes.a')).to.equal(undefined);
    expect(users.find('price.amount')).to.equal(undefined);
    expect(new Filters(PRODUCTS).find('email')).to.equal(undefined);
  });
});
