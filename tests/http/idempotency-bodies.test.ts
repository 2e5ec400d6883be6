import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { HTTP_STORE_NAMES } from '../stores/index.js';
import { MADE, MEBIBYTE, outcome, posting, REPLAYED, REUSED } from '../support/idempotent-posts.js';
import { inProcessService } from '../support/in-process-service.js';

for (const store of HTTP_STORE_NAMES)
  describe(`the body of a request with an Idempotency-Key, on ${store}`, () => {
    const { post, fresh, count } = posting(inProcessService({ STORE: store }));

    describe('is equal despite', () => {
      const equal: readonly [title: string, first: string, again: string][] = [
        [
          'numbers in another notation',
          '{"price":{"amount":100,"currency":"EUR"},"name":"x"}',
          '{"price":{"amount":1e2,"currency":"EUR"},"name":"x"}',
        ],
        [
          'a fraction of zero',
          '{"name":"x","attributes":{"a":100.0}}',
          '{"name":"x","attributes":{"a":100}}',
        ],
        [
          'escaped characters',
          '{"name":"A\\u0041/\\/","sku":"S"}',
          '{"name":"\\u0041A\\/\\u002f","s\\u006bu":"S"}',
        ],
        ['an escaped character above U+FFFF', '{"name":"\u{1f600}"}', '{"name":"\\ud83d\\ude00"}'],
        [
          'members in another order, at every level',
          '{"name":"x","price":{"amount":1,"currency":"EUR"},"attributes":{"b":1,"a":2,"10":3,"9":4}}',
          '{"attributes":{"9":4,"10":3,"a":2,"b":1},"price":{"currency":"EUR","amount":1},"name":"x"}',
        ],
        [
          'minus zero for zero',
          '{"name":"x","attributes":{"a":-0},"price":{"amount":0,"currency":"EUR"}}',
          '{"name":"x","attributes":{"a":0},"price":{"amount":-0,"currency":"EUR"}}',
        ],
        ['white space between tokens', '{"name":"x"}', ' {\r\n\t"name" : "x" }\n'],
      ];
      for (const [title, first, again] of equal) {
        it(`${title}, and replays the first response byte for byte`, async () => {
          const [key, sku] = [randomUUID(), fresh()];
          const body = (text: string) => text.replace('"S"', `"${sku}"`);
          const created = await post('/products', body(first), key);
          const replayed = await post('/products', body(again), key);
          expect([outcome(created), outcome(replayed)]).to.deep.equal([MADE, REPLAYED]);
          expect(replayed.text).to.equal(created.text);
        });
      }

      it('1 MiB with its white space removed', async () => {
        const key = randomUUID();
        const large = JSON.stringify({ name: 'x', description: '\u{1f600}'.repeat(5_000) });
        const padding = ' '.repeat(MEBIBYTE - Buffer.byteLength(large));
        const first = await post('/products', large + padding, key);
        const again = await post('/products', large, key);
        expect([outcome(first), outcome(again), again.text]).to.deep.equal([MADE, REPLAYED, first.text]);
      });
    });

    describe('differs by', () => {
      const lamp = (attributes: object) => ({ name: 'x', attributes });
      const different: readonly [title: string, body: unknown, other: unknown][] = [
        ['a string and a number', lamp({ a: '1' }), lamp({ a: 1 })],
        ['a string and a boolean', lamp({ a: 'true' }), lamp({ a: true })],
        ['a boolean and a number', lamp({ a: true }), lamp({ a: 1 })],
        ['composed and decomposed characters', { name: '\u00e9' }, { name: 'e\u0301' }],
        ['an empty field and a missing field', lamp({}), { name: 'x' }],
        ['swapped values of two members', lamp({ b: 1, a: 2 }), lamp({ b: 2, a: 1 })],
        ['an additional member', lamp({ a: 1 }), lamp({ a: 1, b: 1 })],
        ['white space in a string', { name: 'a b' }, { name: 'a  b' }],
        ['upper and lower case', { name: 'A' }, { name: 'a' }],
        ['a valid body and one with an unknown field', { name: 'x' }, { name: 'x', nonsense: 1 }],
        ['an object and an array', { name: 'x' }, [{ name: 'x' }]],
      ];
      for (const [title, body, other] of different) {
        it(title, async () => {
          const key = randomUUID();
          expect(outcome(await post('/products', body, key))).to.deep.equal(MADE);
          const before = await count('/products');
          expect(outcome(await post('/products', other, key))).to.deep.equal(REUSED);
          expect(await count('/products')).to.equal(before);
        });
      }

      it('the order of a list', async () => {
        const [key, name] = [randomUUID(), fresh()];
        const items = [];
        for (const quantity of [1, 2]) {
          const { id } = (await post('/products', { name }, randomUUID())).json;
          items.push({ productId: id, quantity });
        }
        const user = (await post('/users', { name, email: `${name}@example.com` }, randomUUID())).json.id;
        expect(outcome(await post('/orders', { userId: user, items }, key))).to.deep.equal(MADE);
        const reversed = items.toReversed();
        expect(outcome(await post('/orders', { userId: user, items: reversed }, key))).to.deep.equal(REUSED);
      });
    });
  });
