import { expect } from 'chai';
import { API_KEYS } from '#src/adapters/inbound/http/resources/api-keys.js';
import { ORDERS, PRODUCTS, USERS } from '#src/adapters/inbound/http/resources/definitions.js';
import type { RecordFormat } from '#src/application/records/record-format.js';
import { SCOPES } from '#src/domain/access.js';
import type { FieldTable } from '#src/domain/fields.js';
import { entityValidator } from '#src/domain/validation.js';
import { RECORD_PLURALS } from '../../../../../support/tables.js';

/** Fields that are laid over valid ones, and the issues that the body then has: `code pointer`. */
type Case = readonly [fields: object, ...issues: string[]];

function has({ validate }: Pick<RecordFormat<never>, 'validate'>, valid: object, cases: readonly Case[]): void {
  for (const [fields, ...expected] of cases) {
    const issues = validate({ ...valid, ...fields }).map(
      (issue) => `${issue.code} ${'pointer' in issue && issue.pointer}`,
    );
    expect(issues, JSON.stringify(fields).slice(0, 200)).to.deep.equal(expected);
  }
}

const letters = (count: number) => 'x'.repeat(count);
const MAX = Number.MAX_SAFE_INTEGER;

describe('the rules of a product', () => {
  it('bound its texts', () => {
    has(PRODUCTS, { name: 'x' }, [
      [{}],
      [{ name: 'x' }],
      [{ name: letters(200) }],
      [{ name: '😀'.repeat(200) }],
      [{ name: letters(201) }, 'too_long /name'],
      [{ name: '😀'.repeat(201) }, 'too_long /name'],
      [{ name: `😀${letters(400)}` }, 'too_long /name'],
      [{ name: '' }, 'too_short /name'],
      [{ name: 'a\tb' }, 'invalid_format /name'],
      [{ name: 'a\u007f' }, 'invalid_format /name'],
      [{ name: '\udc00' }, 'invalid_format /name'],
      [{ name: `\n${letters(300)}` }, 'too_long /name', 'invalid_format /name'],
      [{ description: '' }],
      [{ description: '\t\r\n ' }],
      [{ description: letters(5_000) }],
      [{ description: letters(5_001) }, 'too_long /description'],
      ...['\u0000', '\u0008', '\u000b', '\u000c', '\u000e', '\u001f', '\u007f', '\ud800'].map(
        (control): Case => [{ description: `a${control}b` }, 'invalid_format /description'],
      ),
      [{ sku: 'A-z_0.9' }],
      [{ sku: letters(64) }],
      [{ sku: letters(65) }, 'too_long /sku'],
      [{ sku: '' }, 'too_short /sku'],
      [{ sku: ' ' }, 'invalid_format /sku'],
      [{ sku: '/a' }, 'invalid_format /sku'],
      [{ sku: 'a/' }, 'invalid_format /sku'],
    ]);
  });

  it('bound its price', () => {
    const price = (amount: number, currency = 'EUR') => ({ price: { amount, currency } });
    has(PRODUCTS, { name: 'x' }, [
      [price(0)],
      [price(-0)],
      [price(MAX)],
      [price(-1), 'out_of_range /price/amount'],
      [price(MAX + 1), 'out_of_range /price/amount'],
      [price(0.5), 'invalid_type /price/amount'],
      [price(1, ''), 'too_short /price/currency'],
      ...['eur', 'EU', 'EURO', '1EUR', 'EU1'].map(
        (currency): Case => [price(1, currency), 'invalid_format /price/currency'],
      ),
      [price(-1, 'x'), 'out_of_range /price/amount', 'invalid_format /price/currency'],
    ]);
  });

  it('bound its attributes', () => {
    const attributes = (count: number, value: unknown = true) => ({
      attributes: Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value])),
    });
    has(PRODUCTS, { name: 'x' }, [
      [{ attributes: {} }],
      [attributes(50)],
      [attributes(51), 'too_long /attributes'],
      [{ attributes: { [letters(64)]: false } }],
      [{ attributes: { [letters(65)]: false } }, `too_long /attributes/${letters(65)}`],
      [{ attributes: { '': 1 } }, 'too_short /attributes/'],
      [{ attributes: { 'a\nb': 1 } }, 'invalid_format /attributes/a\nb'],
      [{ attributes: { 'a/~': letters(501) } }, 'too_long /attributes/a~1~0'],
      [{ attributes: { a: '' } }],
      [{ attributes: { a: letters(500) } }],
      [{ attributes: { a: '\n' } }, 'invalid_format /attributes/a'],
      [{ attributes: { a: MAX, b: -MAX, c: 0.1, d: -0 } }],
      [{ attributes: { a: MAX + 1 } }, 'out_of_range /attributes/a'],
      [{ attributes: { a: -MAX - 1 } }, 'out_of_range /attributes/a'],
      [{ attributes: { a: null, b: [], c: {} } }, ...['a', 'b', 'c'].map((key) => `invalid_type /attributes/${key}`)],
      [{ attributes: { '': null } }, 'too_short /attributes/', 'invalid_type /attributes/'],
    ]);
    expect(PRODUCTS.validate({ name: 'x', ...attributes(1_500, null) })).to.have.length(1_000);
  });
});

describe('the rules of a user', () => {
  it('bound the name and the e-mail address', () => {
    const label = (count: number) => letters(count);
    has(USERS, { name: 'x', email: 'x@y' }, [
      [{ name: 'Ann', email: 'ann@x' }],
      [{ name: ' ' }, 'invalid_format /name'],
      [{ email: `${letters(250)}@a.b` }],
      [{ email: `${letters(251)}@a.b` }, 'too_long /email'],
      [{ email: '' }, 'too_short /email'],
      ...[
        "a.!#$%&'*+/=?^_`{|}~-Z9@a",
        'a@a-b',
        'a@0',
        `a@${label(63)}`,
        `a@${label(63)}.${label(63)}`,
        'a@a.b.c',
        '.@x',
      ].map((email): Case => [{ email }]),
      ...[
        'a',
        '@a',
        'a@',
        'a@-a',
        'a@a-',
        `a@${label(64)}`,
        `a@a.${label(64)}`,
        'a@a.',
        'a@.a',
        'a@a..b',
        'a@b@c',
        'a b@c',
        'é@a',
        'a@é',
        'a@a.-b',
        'a@a.b-',
        'a@a_b',
        ' a@b',
        'a@b ',
      ].map((email): Case => [{ email }, 'invalid_format /email']),
    ]);
  });
});

describe('the rules of an order', () => {
  const items = (...ids: unknown[]) => ({ items: ids.map((productId) => ({ productId, quantity: 1 })) });
  const many = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

  it('bound the ids that it names', () => {
    has(ORDERS, { userId: 1, items: [{ productId: 1, quantity: 1 }] }, [
      [{ userId: 1 }],
      [{ userId: MAX }],
      ...[0, -1, MAX + 1].map((userId): Case => [{ userId }, 'out_of_range /userId']),
      [{ userId: 1.5 }, 'invalid_type /userId'],
      [items(0), 'out_of_range /items/0/productId'],
    ]);
  });

  it('bound its items, and let none repeat a product', () => {
    has(ORDERS, { userId: 1, items: [{ productId: 1, quantity: 1 }] }, [
      [items(1)],
      [items(...many(100))],
      [items(...many(101)), 'too_long /items'],
      [items(), 'too_short /items'],
      [{ items: [{ productId: 1, quantity: 1_000_000 }] }],
      [
        { items: [{ productId: 1, quantity: 0.5 }] },
        'invalid_type /items/0/quantity',
        'out_of_range /items/0/quantity',
      ],
      ...[0, 1_000_001].map(
        (quantity): Case => [{ items: [{ productId: 1, quantity }] }, 'out_of_range /items/0/quantity'],
      ),
      [items(1, 2, 1, 1), 'duplicate_value /items/2/productId', 'duplicate_value /items/3/productId'],
      [items(0, 0), 'out_of_range /items/0/productId', 'out_of_range /items/1/productId'],
    ]);
  });
});

describe('the rules of an API key', () => {
  it('bound its scopes and its expiry', () => {
    has(API_KEYS, { name: 'k', scopes: ['products:read'] }, [
      [{ scopes: [...SCOPES], expiresAt: '2030-01-31T00:00:00Z' }],
      [{ scopes: [] }, 'too_short /scopes'],
      [{ scopes: ['products:write'] }],
      [{ scopes: ['x'] }, 'invalid_format /scopes/0'],
      [{ scopes: [''] }, 'too_short /scopes/0'],
      [{ scopes: ['users:read', 'users:read'] }, 'duplicate_value /scopes/1'],
      [{ scopes: ['x', 'x'] }, 'invalid_format /scopes/0', 'invalid_format /scopes/1'],
      [{ scopes: [...SCOPES, 'users:read'] }, `duplicate_value /scopes/${SCOPES.length}`, 'too_long /scopes'],
      [{ expiresAt: '' }, 'too_short /expiresAt'],
      [{ expiresAt: '2030-02-30T00:00:00Z' }, 'invalid_format /expiresAt'],
      [{ expiresAt: 0 }, 'invalid_type /expiresAt'],
    ]);
  });

  it('refuse the fields that only the service sets', () => {
    const names = ['createdAt', 'lastUsedAt', 'createdBy', 'createdBySubject', 'usage', 'key'];
    for (const name of names)
      has(API_KEYS, { name: 'k', scopes: ['products:read'] }, [[{ [name]: 1 }, `read_only_field /${name}`]]);
    has(API_KEYS, { name: 'k', scopes: ['products:read'] }, [[{ digest: 'x' }, 'unknown_field /digest']]);
  });

  it('name a scope to read and one to write each resource, and one for keys and for webhooks', () => {
    const scopes = RECORD_PLURALS.flatMap((plural) => [`${plural}:read`, `${plural}:write`]);
    expect(SCOPES).to.deep.equal([...scopes, 'keys:admin', 'webhooks:admin']);
  });
});

describe('a validator', () => {
  const list = (of: FieldTable[string], distinct?: string[]): FieldTable => ({
    l: { description: '', kind: 'list', of, min: 0, max: 9, ...(distinct && { distinct }) },
  });
  const validator = (table: FieldTable) => ({ validate: entityValidator(table) });
  const code = { description: '', kind: 'code', pattern: /x/, form: 'x', example: 'x' } as const;

  it('finds the texts that a list repeats, if they must be distinct', () => {
    const text = {
      kind: 'text',
      description: '',
      min: 1,
      max: 9,
      allowed: /^x*$/,
      characters: 'x',
      example: 'x',
    } as const;
    const l = ['x', 'xx', 'x', 'y', 'y'];
    const wrong = ['invalid_format /l/3', 'invalid_format /l/4'];
    has(validator(list(text, [])), {}, [[{ l }, ...wrong, 'duplicate_value /l/2']]);
    has(validator(list(text)), {}, [[{ l }, ...wrong]]);
  });

  it('is not made for a list that is distinct by an absent field, or by one without definite values', () => {
    expect(() => validator(list(code, ['a']))).to.throw('by a: its elements have no such field');
    expect(() => validator(list({ description: '', kind: 'object', fields: {} }, ['a']))).to.throw('by a');
    expect(() => validator(list(code, []))).to.throw('the kind code');
  });

  it('reports at most 1,000 issues of a body', () => {
    const others = Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`u${at}`, at]));
    const codes = PRODUCTS.validate({ ...others, name: 1 }).map(({ code }) => code);
    expect(codes).to.deep.equal(['invalid_type', ...Array(999).fill('unknown_field')]);
    const long = { l: { ...list(code)['l'], max: 9_999 } } as FieldTable;
    has(validator(long), {}, [[{ l: Array(9_999).fill('x') }]]);
  });
});
