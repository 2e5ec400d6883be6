import { expect } from 'chai';
import fc from 'fast-check';
import {
  bodyOf,
  type ChipsField,
  type Field,
  formFields,
  formOf,
  type ListField,
  type MapRow,
  newListRow,
  newMapRow,
  withTyped,
} from '#packages/pages/console/edit/form-model.js';
import type { JsonObject } from '#packages/pages/console/edit/json.js';
import type { OpenApi } from '#packages/pages/docs/openapi.js';
import { References } from '#packages/pages/docs/references.js';
import { DEFINITIONS } from '#src/composition/resources.js';
import { documentOf } from '../../../../support/openapi/described.js';
import { CHARACTER } from '../../../../support/unicode-texts.js';

const REFERENCES = new References(documentOf({}) as OpenApi);
const fieldsOf = (schema: string) => formFields({ $ref: `#/components/schemas/${schema}` }, REFERENCES);
const PRODUCT = fieldsOf('ProductInput');
const USER = fieldsOf('UserInput');
const ORDER = fieldsOf('OrderInput');
const API_KEY = fieldsOf('ApiKeyInput');

const text = (most: number) => fc.string({ maxLength: most, unit: CHARACTER });
const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const anyNumber = fc.double({ noNaN: true, min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
const product = fc.record(
  {
    name: fc.string({ minLength: 1 }),
    description: text(50),
    sku: fc.stringMatching(/^[A-Za-z0-9._-]+$/),
    price: fc.record({ amount: fc.maxSafeNat(), currency: fc.stringMatching(/^[A-Z]{3}$/) }),
    attributes: fc.dictionary(
      fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('__proto__', 'constructor', 'a/b', '~')),
      fc.oneof(
        text(20),
        fc.boolean(),
        fc.integer(),
        anyNumber.map((one) => (Object.is(one, -0) ? 0 : one)),
      ),
      { minKeys: 1, maxKeys: 8 },
    ),
    status: fc.constantFrom('draft', 'archived'),
    tags: fc.uniqueArray(fc.string({ minLength: 1, unit: CHARACTER }), { minLength: 1, maxLength: 5 }),
    images: fc.array(fc.record({ url: fc.webUrl(), alt: text(20) }, { requiredKeys: ['url'], noNullPrototype: true }), {
      minLength: 1,
      maxLength: 5,
    }),
    url: fc.webUrl(),
    brand: fc.string({ minLength: 1 }),
    gtin: fc.constantFrom('4006381333931', '00012345678905'),
    group: fc.stringMatching(/^[A-Za-z0-9._-]+$/),
    stock: fc.maxSafeNat(),
  },
  { requiredKeys: ['name'], noNullPrototype: true },
);
const order = fc.record({
  userId: id,
  items: fc.array(fc.record({ productId: id, quantity: id }), { minLength: 1, maxLength: 5 }),
});

function expectRoundTrip(fields: readonly Field[], record: object): void {
  const { body, problems } = bodyOf(fields, formOf(fields, record as JsonObject));
  expect(problems).to.deep.equal([]);
  expect(JSON.stringify(body)).to.equal(JSON.stringify(sorted(fields, record as JsonObject)));
}

/** The record with its members in the order of the fields. */
function sorted(fields: readonly Field[], record: JsonObject): object {
  return Object.fromEntries(
    fields.filter(({ name }) => Object.hasOwn(record, name)).map(({ name }) => [name, record[name]]),
  );
}

describe('the fields of a form', () => {
  it('follow the document: every field of every resource, with its kind', () => {
    const shapeOf = ({ name, kind, isRequired, ...rest }: Field): unknown => [
      name,
      kind,
      isRequired,
      ...('fields' in rest ? [rest.fields.map(shapeOf)] : []),
    ];
    const number = (name: string, required = true) => [name, 'number', required];
    expect(PRODUCT.map(({ name }) => name)).to.deep.equal(Object.keys(DEFINITIONS.products.table));
    expect(PRODUCT.map(shapeOf)).to.deep.include.members([
      ['name', 'text', true],
      ['description', 'text', false],
      ['sku', 'text', false],
      ['price', 'price', false, [number('amount', false), ['currency', 'text', false]]],
      ['attributes', 'map', false],
      ['status', 'choice', false],
      ['tags', 'chips', false],
      [
        'images',
        'list',
        false,
        [
          ['url', 'text', true],
          ['alt', 'text', false],
        ],
      ],
      ['gtin', 'text', false],
      number('stock', false),
    ]);
    expect(USER.map(shapeOf)).to.deep.equal([
      ['name', 'text', true],
      ['email', 'text', true],
    ]);
    expect(ORDER.map(shapeOf)).to.deep.equal([
      number('userId'),
      ['items', 'list', true, [number('productId'), number('quantity')]],
    ]);
    expect(API_KEY.map(shapeOf)).to.deep.equal([
      ['name', 'text', true],
      ['scopes', 'choices', true],
      ['expiresAt', 'moment', false],
    ]);
    const [name, description, sku] = PRODUCT;
    expect(name).to.include({ isMultiline: false, allowsEmpty: false });
    expect(description).to.include({ isMultiline: true, allowsEmpty: true });
    expect(sku).to.include({ isMultiline: false, allowsEmpty: false });
  });

  for (const [pattern, typed, added] of [
    ['^[^,|]*$', ' oak , brass|new\r\n', ['oak', 'brass', 'new']],
    ['^[^,|]*$', 'oak;brass', ['oak;brass']],
    ['', 'oak, brass|new\nlast\n\n', ['oak, brass|new', 'last']],
    ['', 'first\noak\noak\n ', ['oak']],
    ['', ' ', []],
  ] as const)
    it(`take ${JSON.stringify(typed)} for texts of ${pattern || 'any form'}`, () => {
      const items = { type: 'string', pattern };
      const [field] = formFields({ properties: { tags: { type: 'array', items } } }, REFERENCES);
      const texts = withTyped({ texts: ['first'], typed }, field as ChipsField);
      expect(texts).to.deep.equal(['first', ...added]);
    });

  it('report a schema that they cannot show', () => {
    const schema = { type: 'object', properties: { odd: { type: ['string', 'boolean'] } } };
    expect(() => formFields(schema, REFERENCES)).to.throw('odd');
  });
});

describe('a form', () => {
  it('gives back every record as it was', () => {
    expectRoundTrip(PRODUCT, DEFINITIONS.products.example);
    fc.assert(fc.property(product, (one) => expectRoundTrip(PRODUCT, one)));
    fc.assert(fc.property(order, (one) => expectRoundTrip(ORDER, one)));
    const scopes = ['users:read', 'keys:admin'];
    expectRoundTrip(API_KEY, { name: 'shop', scopes, expiresAt: '2099-01-31T12:00:59.000Z' });
    expectRoundTrip(API_KEY, { name: 'shop', scopes: [] });
  });

  it('leaves out every field without a value', () => {
    expect(bodyOf(PRODUCT, formOf(PRODUCT, {})).body).to.deep.equal({});
    expect(bodyOf(ORDER, formOf(ORDER, {})).body).to.deep.equal({ items: [] });
  });

  it('sends a typed price in the smallest unit, or says what is wrong with it', () => {
    const typed = (amount: string, currency: string) => {
      const { body, problems } = bodyOf(PRODUCT, { ...formOf(PRODUCT, {}), price: { amount, currency } });
      return problems.length > 0 ? problems : body['price'];
    };
    const problem = (code: string, more = {}) => [{ pointer: '/price/amount', code, ...more }];
    expect(typed('4.99', 'EUR')).to.deep.equal({ amount: 499, currency: 'EUR' });
    expect(typed(' 4990', 'JPY')).to.deep.equal({ amount: 4990, currency: 'JPY' });
    expect(typed('', 'EUR')).to.deep.equal({ currency: 'EUR' });
    expect(typed('1', '')).to.deep.equal({ amount: 100 });
    expect(typed(' ', '')).to.equal(undefined);
    expect(typed('4.999', 'EUR')).to.deep.equal(problem('not_a_price', { currency: 'EUR' }));
    expect(typed('4.9', 'JPY')).to.deep.equal(problem('not_a_price', { currency: 'JPY' }));
    expect(typed('1.000', 'EUR')).to.deep.equal(problem('ambiguous', { readings: ['1000', '1.000'] }));
    expect(typed('90071992547409.92', 'EUR')).to.deep.equal(problem('too_precise'));
  });

  it('tells an empty text from no value', () => {
    const values = formOf(PRODUCT, { name: 'Lamp', attributes: { note: '' } });
    const empty = { ...values, description: '' };
    expect(bodyOf(PRODUCT, values).body).to.deep.equal({ name: 'Lamp', attributes: { note: '' } });
    expect(bodyOf(PRODUCT, empty).body).to.deep.equal({
      name: 'Lamp',
      description: '',
      attributes: { note: '' },
    });
  });

  it('sends half of an object, so that the service reports the other half', () => {
    const values = formOf(PRODUCT, {});
    const half = { ...values, price: { amount: '5', currency: '' } };
    expect(bodyOf(PRODUCT, half).body).to.deep.equal({ price: { amount: 500 } });
  });

  const typed = (text: string) => {
    const attributes: MapRow[] = [{ ...newMapRow(), key: 'watts', type: 'number', text }];
    const { body, problems } = bodyOf(PRODUCT, { ...formOf(PRODUCT, {}), attributes });
    return problems.length > 0 ? problems : (body['attributes'] as JsonObject)['watts'];
  };
  for (const [text, number] of [
    ['1e2', 100],
    ['100.0', 100],
    [' 7 ', 7],
    ['-5', -5],
    ['0.10', 0.1],
    ['1e-7', 1e-7],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992],
    ['0e9', 0],
    ['1,5', 1.5],
    ['1 000,25', 1000.25],
  ] as const)
    it(`sends ${text} as the number that it is`, () => expect(typed(text)).to.equal(number));
  for (const text of ['9007199254740993', '0.1000000000000000055511151231257827', '1e400', '1e-400'])
    it(`does not round ${text}`, () =>
      expect(typed(text)).to.deep.equal([{ pointer: '/attributes/watts', code: 'too_precise' }]));
  for (const text of ['abc', '007', '0x10', '1_000', 'Infinity', '+1', '.5'])
    it(`reports that ${text} is no number`, () =>
      expect(typed(text)).to.deep.equal([{ pointer: '/attributes/watts', code: 'not_a_number' }]));

  it('takes an integer with all its digits, and none that could be another', () => {
    const codes = (text: string) => {
      const [, items] = ORDER as [Field, ListField];
      const row = { ...newListRow(items), values: { productId: '1', quantity: text } };
      const { body, problems } = bodyOf(ORDER, { userId: text, items: [row] });
      return problems.length > 0 ? problems.map(({ pointer, code }) => `${pointer} ${code}`) : body['userId'];
    };
    const both = (code: string) => [`/userId ${code}`, `/items/0/quantity ${code}`];
    expect(codes('1 000')).to.equal(1000);
    expect(codes('1.000')).to.deep.equal(both('ambiguous'));
    expect(codes('1e3')).to.deep.equal(both('not_an_integer'));
  });

  it('takes a number exactly or not at all', () => {
    const digits = fc.stringMatching(/^-?[1-9][0-9]{3,24}(\.[0-9]{1,20})?(e[+-]?[0-9]{1,2})?$/);
    /** The value as whole units of ten to the power of -130. */
    const units = (text: string) => {
      const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(text) ?? [];
      return BigInt(`${sign}${whole}${fraction}`) * 10n ** BigInt(130 + Number(exponent) - fraction.length);
    };
    fc.assert(
      fc.property(digits, (text) => {
        const result = typed(text);
        const isExact = units(String(Number(text))) === units(text);
        expect(typeof result === 'number').to.equal(isExact);
      }),
    );
  });

  it('reports a key that is there twice, and ignores a row in which nothing was typed', () => {
    const row = (more: Partial<MapRow>): MapRow => ({ ...newMapRow(), ...more });
    const attributes = [row({ key: 'a/b', text: '1' }), row({ key: 'a/b', type: 'boolean' }), row({})];
    const { problems } = bodyOf(PRODUCT, { ...formOf(PRODUCT, {}), attributes });
    expect(problems).to.deep.equal([{ pointer: '/attributes/a~1b', code: 'repeated_key' }]);
    const alone = bodyOf(PRODUCT, { ...formOf(PRODUCT, {}), attributes: [row({})] });
    expect(alone).to.deep.equal({ body: {}, problems: [] });
  });
});
