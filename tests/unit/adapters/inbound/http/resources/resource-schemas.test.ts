import { expect } from 'chai';
import { ORDERS } from '#src/adapters/inbound/http/resources/orders.js';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/products.js';
import { USERS } from '#src/adapters/inbound/http/resources/users.js';
import type { Issue } from '#src/domain/errors.js';
import { type Order, validateOrder } from '#src/domain/order.js';
import { type Product, validateProduct } from '#src/domain/product.js';
import { type User, validateUser } from '#src/domain/user.js';

const product = (fields: Partial<Product>): Product => ({ name: 'x', ...fields });
const user = (fields: Partial<User>): User => ({ name: 'x', email: 'x@y', ...fields });
const order = (...items: [productId: number, quantity: number][]): Order => ({
  userId: 1,
  items: items.map(([productId, quantity]) => ({ productId, quantity })),
});
const times = (count: number) => Array.from({ length: count }, (_, i): [number, number] => [i + 1, 1]);

type Cases<Fields> = Readonly<Record<string, [Fields, string[]]>>;

const INVALID_PRODUCTS: Cases<Product> = {
  emptiness: [product({ name: '', sku: '' }), ['too_short /name', 'too_short /sku']],
  text: [
    { name: ' '.repeat(201), description: '\u0000', sku: ' ' },
    ['too_long /name', 'invalid_format /name', 'invalid_format /description', 'invalid_format /sku'],
  ],
  price: [
    product({ price: { amount: -1, currency: 'e' } }),
    ['out_of_range /price/amount', 'invalid_format /price/currency'],
  ],
  attributes: [
    product({ attributes: { '': 'x', a: 2 ** 53, 'b/c': 'x'.repeat(501) } }),
    ['too_short /attributes/', 'out_of_range /attributes/a', 'too_long /attributes/b~1c'],
  ],
  count: [
    product({ attributes: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`${i}`, i])) }),
    ['too_long /attributes'],
  ],
};

const INVALID_USERS: Cases<User> = {
  emptiness: [user({ name: '', email: '' }), ['too_short /name', 'too_short /email']],
  text: [
    user({ name: '\u2003'.repeat(201), email: ' '.repeat(255) }),
    ['too_long /name', 'invalid_format /name', 'too_long /email', 'invalid_format /email'],
  ],
};

const INVALID_ORDERS: Cases<Order> = {
  emptiness: [order(), ['too_short /items']],
  count: [order(...times(101)), ['too_long /items']],
  numbers: [
    { ...order([0, 0], [2 ** 53, 1_000_001]), userId: 0 },
    [
      'out_of_range /userId',
      'out_of_range /items/0/productId',
      'out_of_range /items/0/quantity',
      'out_of_range /items/1/productId',
      'out_of_range /items/1/quantity',
    ],
  ],
  repetition: [
    order([1, 1], [2, 1], [1, 2], [1, 1]),
    ['duplicate_value /items/2/productId', 'duplicate_value /items/3/productId'],
  ],
};

const VALID_PRODUCTS = [
  product({ description: '', sku: 'x', price: { amount: 0, currency: 'EUR' }, attributes: { a: '' } }),
];
const VALID_USERS = [user({}), user({ name: 'é'.repeat(200), email: `${'x'.repeat(252)}@y` })];
const VALID_ORDERS = [
  order([Number.MAX_SAFE_INTEGER, 1_000_000]),
  { ...order(...times(100)), userId: Number.MAX_SAFE_INTEGER },
];

const codesOf = (issues: readonly Issue[]) =>
  issues.map((issue) => `${issue.code} ${issue.in === 'body' ? issue.pointer : ''}`);

function testRules<Fields>(
  resource: string,
  validate: (fields: never) => readonly Issue[],
  issues: (fields: Fields) => Issue[],
  invalid: Cases<Fields>,
  valid: readonly Fields[],
): void {
  describe(`the rules of ${resource}`, () => {
    for (const [kind, [fields, expected]] of Object.entries(invalid)) {
      it(`are the same at the edge and in the domain: ${kind}`, () => {
        expect(codesOf(validate(fields as never)), 'edge').to.deep.equal(expected);
        expect(issues(fields), 'domain').to.deep.equal(validate(fields as never));
      });
    }

    it('accept valid fields', () => {
      for (const fields of valid) {
        expect(validate(fields as never)).to.deep.equal([]);
        expect(issues(fields)).to.deep.equal([]);
      }
    });
  });
}

testRules('a product', PRODUCTS.validate, validateProduct, INVALID_PRODUCTS, VALID_PRODUCTS);
testRules('a user', USERS.validate, validateUser, INVALID_USERS, VALID_USERS);
testRules('an order', ORDERS.validate, validateOrder, INVALID_ORDERS, VALID_ORDERS);
