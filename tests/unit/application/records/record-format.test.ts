import { expect } from 'chai';
import { PRODUCTS as VIEW } from '#src/adapters/inbound/http/resources/definitions.js';
import {
  type Change,
  changedDraft,
  type Draft,
  fieldReader,
  newDraft,
  responseMapper,
} from '#src/application/records/record-format.js';
import { responseJson, StoredRecord } from '#src/application/records/record-json.js';
import { API_KEY } from '#src/domain/api-key.js';
import type { FieldTable } from '#src/domain/fields.js';
import { ORDER } from '#src/domain/order.js';
import { PRODUCT } from '#src/domain/product.js';

const PRODUCTS = [
  { name: 'Lamp' },
  { name: '"quoted" \\ \\" \\\\', description: 'tab\tline\r\nend \u2028 é 😀 \u0001' },
  { name: 'x', sku: 'A-1', price: { amount: 4990, currency: 'EUR' } },
  { name: 'x', price: { amount: 1e21, currency: 'EUR' }, attributes: {} },
  { name: 'x', attributes: { 1: 'one', 'a"b': '"', c: -1.5e-7, d: true, e: false, '}],{': '}]' } },
];
const ORDERS = [
  { userId: 1, items: [{ productId: 1, quantity: 2 }] },
  {
    userId: 9007199254740991,
    items: [
      { productId: 1, quantity: 2 },
      { productId: 2, quantity: 3 },
    ],
  },
];
const KEYS = [{ name: 'x', scopes: ['products:read'], digest: 'aa', expiresAt: 1 }];

/** Fields that are not stored as the table shows them. */
const OTHERS: Record<string, [FieldTable, object]> = {
  'another order': [PRODUCT, { sku: 'A', name: 'x' }],
  'another order in an object': [PRODUCT, { name: 'x', price: { currency: 'EUR', amount: 1 } }],
  'another order in a list': [ORDER, { userId: 1, items: [{ quantity: 1, productId: 2 }] }],
  'a field that is not in the table': [PRODUCT, { name: 'x', secret: 'y' }],
  'a field after the last one': [PRODUCT, { name: 'x', attributes: { a: 1 }, secret: 'y' }],
  'a field before the first one': [PRODUCT, { secret: 'y', name: 'x' }],
  'an object that is not in the table': [PRODUCT, { name: 'x', secret: { name: 'y' } }],
  'a field in an object': [PRODUCT, { name: 'x', price: { amount: 1, currency: 'EUR', secret: 1 } }],
  'a field in a list': [ORDER, { userId: 1, items: [{ productId: 1, quantity: 1, secret: 2 }] }],
  'a field with the end of another in its name': [PRODUCT, { name: 'x', '","sku': 'y' }],
  'a table without the field': [{ name: PRODUCT.name }, { name: 'x', sku: 'y' }],
  'a table in which the field has another name': [{ title: PRODUCT.name }, { name: 'x' }],
  'no fields': [PRODUCT, {}],
};

const stored = (fields: object) => StoredRecord.fromJson<object>(7, 1, 2, 2, JSON.stringify(fields));

describe('responseJson', () => {
  for (const [table, all] of [
    [PRODUCT, PRODUCTS],
    [ORDER, ORDERS],
    [API_KEY, KEYS],
  ] as const)
    it(`sends the stored text of a record that has the form of its table: ${Object.keys(table)}`, () => {
      const present = responseMapper<object>(table);
      for (const fields of all) {
        const json = responseJson(present, stored(fields));
        expect(json).to.equal(JSON.stringify({ id: 7, ...fields }));
        expect(json).to.equal(JSON.stringify(present(stored(fields))));
        expect(present.storedResponse?.(stored(fields))).to.equal(json);
      }
    });

  for (const [what, [table, fields]] of Object.entries(OTHERS))
    it(`never sends a stored text with ${what}`, () => {
      const present = responseMapper<object>(table);
      expect(present.storedResponse?.(stored(fields))).to.equal(undefined);
      expect(responseJson(present, stored(fields))).to.equal(JSON.stringify(present(stored(fields))));
    });

  it('uses no text for a function that is not made from a table', () => {
    const json = responseJson(({ id }) => ({ id, title: 'x' }), stored({ name: 'x' }));
    expect(json).to.equal('{"id":7,"title":"x"}');
  });
});

describe('fieldReader', () => {
  it('makes zero of minus zero, and nothing of empty attributes and lists', () => {
    const read = fieldReader(PRODUCT);
    // A strict comparison: -0 is not 0 in a deep equality of chai.
    for (const [sent, expected] of [
      [{ attributes: {}, tags: [], images: [] }, {}],
      [{ attributes: { a: -0, b: 'c', d: true, e: 7 } }, { attributes: { a: 0, b: 'c', d: true, e: 7 } }],
      [{ price: { amount: -0, currency: 'EUR' } }, { price: { amount: 0, currency: 'EUR' } }],
      [{ tags: {}, attributes: 'x' }, { attributes: 'x' }],
    ])
      expect(read({ name: 'x', ...sent })).to.deep.equal({ name: 'x', ...expected });
  });

  it('returns the fields in the order of the table, also inside objects and lists', () => {
    const product = { attributes: { b: 1, a: 2 }, price: { currency: 'EUR', amount: 1 }, name: 'x' };
    expect(JSON.stringify(fieldReader(PRODUCT)(product))).to.equal(
      '{"name":"x","price":{"amount":1,"currency":"EUR"},"attributes":{"b":1,"a":2}}',
    );
    const order = { items: [{ quantity: 2, productId: 1 }], userId: 3 };
    expect(JSON.stringify(fieldReader(ORDER)(order))).to.equal('{"userId":3,"items":[{"productId":1,"quantity":2}]}');
  });

  it('keeps values of wrong types', () => {
    const fields = { name: 1, price: [], attributes: null };
    expect(fieldReader(PRODUCT)(fields)).to.deep.equal(fields);
    expect(fieldReader(ORDER)({ items: [1, null, {}] })).to.deep.equal({ items: [1, null, {}] });
  });

  it('keeps fields of the current record that belong to another version', () => {
    const current = { lastName: 'y', name: 'old', price: { amount: 1, currency: 'EUR', unit: 'kg' } };
    const read = fieldReader<object>(PRODUCT);
    expect(read({ name: 'new', price: { amount: 2, currency: 'EUR' } }, current)).to.deep.equal({
      name: 'new',
      price: { amount: 2, currency: 'EUR', unit: 'kg' },
      lastName: 'y',
    });
    expect(read({ name: 'new', price: { amount: 2, currency: 'EUR' } }, { name: 'old' })).to.deep.equal({
      name: 'new',
      price: { amount: 2, currency: 'EUR' },
    });
  });
});

describe('the draft of a new record', () => {
  it('has the fields of the body, and its issues', () => {
    expect(newDraft(VIEW, { sku: 'A', name: 'Lamp' })).to.deep.equal({
      fields: { name: 'Lamp', sku: 'A' },
      issues: [],
    });
    const pointers = issuesOf(newDraft(VIEW, { name: 1, color: 'red' })).map(([, pointer]) => pointer);
    expect(pointers).to.have.members(['/name', '/color']);
  });

  it("refuses the service's own fields", () => {
    const body = { name: 'Lamp', id: 1, version: 1, createdAt: 'x', updatedAt: 'x' };
    const draft = newDraft(VIEW, body);
    expect(issuesOf(draft)).to.deep.equal(
      ['/id', '/version', '/createdAt', '/updatedAt'].map((pointer) => ['read_only_field', pointer]),
    );
    expect(draft.fields).to.deep.equal({ name: 'Lamp' });
  });

  it('refuses what is no object', () => {
    for (const body of [null, [], 'text', 5]) expect(issuesOf(newDraft(VIEW, body))).to.deep.equal(NO_OBJECT);
  });
});

describe('the draft of a changed record', () => {
  const CURRENT = {
    id: 7,
    version: 3,
    createdAt: 0,
    updatedAt: 1_000,
    fields: { name: 'Lamp', sku: 'A', price: { amount: 1, currency: 'EUR' } },
  };
  const OWN = { id: 7, version: 3, createdAt: '1970-01-01T00:00:00.000Z', updatedAt: '1970-01-01T00:00:01.000Z' };
  const KINDS = ['replacement', 'merge-patch'] as const;
  const draft = (kind: Change['kind'], body: unknown) => changedDraft(VIEW, { kind, body }, CURRENT);

  it('has the fields of a replacement only, and those that a patch leaves', () => {
    expect(draft('replacement', { name: 'New' }).fields).to.deep.equal({ name: 'New' });
    expect(draft('merge-patch', { name: 'New', sku: null, price: { amount: 2 } }).fields).to.deep.equal({
      name: 'New',
      price: { amount: 2, currency: 'EUR' },
    });
    const operations = [
      { op: 'replace', path: '/name', value: 'New' },
      { op: 'remove', path: '/price' },
    ];
    expect(draft('json-patch', operations).fields).to.deep.equal({ name: 'New', sku: 'A' });
  });

  it("may contain the service's own fields unchanged", () => {
    for (const kind of KINDS) expect(draft(kind, { ...OWN, name: 'Lamp' }).issues, kind).to.deep.equal([]);
    const operations = [{ op: 'add', path: '/id', value: 7 }];
    expect(draft('json-patch', operations).issues).to.deep.equal([]);
  });

  for (const [field, value] of Object.entries({ id: 8, version: 4, createdAt: 'x', updatedAt: 'x' }))
    it(`may not change ${field}`, () => {
      for (const kind of KINDS)
        expect(issuesOf(draft(kind, { name: 'Lamp', [field]: value })), kind).to.deep.equal([
          ['read_only_field', `/${field}`],
        ]);
      const operations = [{ op: 'add', path: `/${field}`, value }];
      expect(issuesOf(draft('json-patch', operations))).to.deep.equal([['read_only_field', `/${field}`]]);
    });

  it('may not remove the id, which the record shows', () => {
    const operations = [{ op: 'remove', path: '/id' }];
    expect(issuesOf(draft('json-patch', operations))).to.deep.equal([['read_only_field', '/id']]);
  });

  it("has the issues of the service's own fields before those of the others", () => {
    expect(issuesOf(draft('replacement', { id: 8 })).map(([, pointer]) => pointer)).to.deep.equal(['/id', '/name']);
  });

  it('must be an object', () => {
    for (const kind of KINDS)
      for (const body of [null, [], 'text', 5]) expect(issuesOf(draft(kind, body)), kind).to.deep.equal(NO_OBJECT);
    for (const value of [null, [], 'text', 5])
      expect(issuesOf(draft('json-patch', [{ op: 'replace', path: '', value }]))).to.deep.equal(NO_OBJECT);
  });
});

const NO_OBJECT = [['invalid_type', '']];

function issuesOf({ issues }: Draft<unknown>) {
  return issues.map(({ code, pointer }) => [code, pointer]);
}
