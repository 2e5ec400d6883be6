import { expect } from 'chai';
import { issueLocations } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { LOCAL_STORE_NAMES } from '../support/local-stores.js';
import { resourceContract } from './resource.contract.js';

const FULL = {
  name: 'Lamp',
  description: 'Bright\n',
  sku: 'L-1.a_b',
  price: { amount: 1999, currency: 'EUR' },
  attributes: { 'a.b': 'x', $k: 1.5, on: true },
};

resourceContract(
  {
    plural: 'products',
    cacheControl: 'private, no-cache',
    fields: (n) => ({ name: `product ${n}` }),
    faulty: [
      ['an empty name', { name: '' }, [['too_short', '/name']]],
      [
        'several at once',
        { sku: 'ä', price: { amount: -1, currency: 'EUR' }, attributes: { '': 1 } },
        [
          ['invalid_format', '/sku'],
          ['out_of_range', '/price/amount'],
          ['too_short', '/attributes/'],
        ],
      ],
    ],
  },
  [
    ...LOCAL_STORE_NAMES.filter((store) => store !== 'memory').map((store) => ({
      store,
      prefix: '/v1' as const,
    })),
    { store: 'memory', prefix: '' },
  ],
);

for (const store of LOCAL_STORE_NAMES) {
  describe(`products on ${store}`, () => {
    const service = inProcessService({ STORE: store });
    const request = () => service.client;
    const created = async (body: object = { name: 'Lamp' }) =>
      `/v1/products/${(await request().post('/products', body)).json.id}`;

    describe('fields', () => {
      it('are kept as they were sent', async () => {
        const { id, ...rest } = (await request().post('/products', FULL)).json;
        expect(rest).to.deep.equal(FULL);
        expect((await request().get(`/products/${id}`)).json).to.deep.equal({ id, ...FULL });
        await request().delete(`/products/${id}`);
      });

      it('take 1e2 and 100.0 for the integer 100', async () => {
        for (const amount of ['1e2', '100.0', '100']) {
          const body = `{"name":"Lamp","price":{"amount":${amount},"currency":"EUR"}}`;
          expect((await request().post('/products', body)).json.price.amount, amount).to.equal(100);
        }
      });

      it('show no empty attributes, but an empty description and an empty text', async () => {
        const empty = (await request().post('/products', { name: 'Lamp', description: '', attributes: {} }))
          .json;
        expect(empty).to.deep.equal({ id: empty.id, name: 'Lamp', description: '' });
        const { attributes } = (await request().post('/products', { name: 'Lamp', attributes: { a: '' } }))
          .json;
        expect(attributes).to.deep.equal({ a: '' });
      });
    });

    describe('a sku', () => {
      const TAKEN = [
        { code: 'duplicate_value', message: 'Another record has this sku.', in: 'body', pointer: '/sku' },
      ];

      it('is refused where another product has it, and freed with its product', async () => {
        const owner = await created({ name: 'One', sku: 'unique' });
        const other = await created();
        for (const response of [
          await request().post('/products', { name: 'Two', sku: 'unique' }),
          await request().put(other, { name: 'Two', sku: 'unique' }),
          await request().patch(other, { sku: 'unique' }),
        ]) {
          expect([response.status, response.json.code]).to.deep.equal([409, 'duplicate_value']);
          expect(response.json.details).to.deep.equal(TAKEN);
        }
        await request().delete(owner);
        expect((await request().post('/products', { name: 'Two', sku: 'unique' })).status).to.equal(201);
      });
    });

    describe('PUT', () => {
      it('replaces all: absent optional fields go', async () => {
        const item = await created(FULL);
        const response = await request().put(item, { name: 'Torch' });
        expect([response.status, response.json.name, Object.keys(response.json)]).to.deep.equal([
          200,
          'Torch',
          ['id', 'name'],
        ]);
        expect((await request().get(item)).text).to.equal(response.text);
      });

      it('leaves the version where nothing changes, whatever the order of the fields', async () => {
        const item = await created({
          name: 'Lamp',
          attributes: { a: 1, b: 2 },
          price: { amount: 0, currency: 'EUR' },
        });
        const same = `{"price":{"currency":"EUR","amount":-0},"attributes":{"b":2,"a":1},"name":"Lamp"}`;
        const response = await request().put(item, same);
        expect([response.status, response.headers.etag]).to.deep.equal([200, '"1"']);
      });
    });

    describe('PATCH', () => {
      it('removes optional fields by null, and merges what is in price and attributes', async () => {
        const item = await created(FULL);
        const patch = {
          name: 'Torch',
          sku: null,
          price: { amount: 5 },
          attributes: { 'a.b': null, new: 'n' },
        };
        const { id: _, ...rest } = (await request().patch(item, patch)).json;
        expect(rest).to.deep.equal({
          name: 'Torch',
          description: 'Bright\n',
          price: { amount: 5, currency: 'EUR' },
          attributes: { $k: 1.5, on: true, new: 'n' },
        });
      });

      it('judges the outcome by the rules of the resource', async () => {
        const item = await created(FULL);
        const patch = { name: null, price: { currency: null }, id: 0, x: 1 };
        expect(issueLocations(await request().patch(item, patch))).to.deep.equal([
          ['read_only_field', '/id'],
          ['required', '/name'],
          ['required', '/price/currency'],
          ['unknown_field', '/x'],
        ]);
        expect((await request().get(item)).headers.etag).to.equal('"1"');
        await request().delete(item);
      });

      it('removes all attributes when the last goes', async () => {
        const item = await created({ name: 'Lamp', attributes: { a: 1 } });
        const { id: _, ...rest } = (await request().patch(item, { attributes: { a: null } })).json;
        expect(rest).to.deep.equal({ name: 'Lamp' });
      });

      it('loses none of many patches of other fields that race', async () => {
        const item = await created();
        const keys = Array.from({ length: 50 }, (_, i) => `k${i}`);
        const responses = await Promise.all(
          keys.map((key) => request().patch(item, { attributes: { [key]: 1 } })),
        );
        expect(responses.map(({ status }) => status)).to.deep.equal(keys.map(() => 200));
        const final = await request().get(item);
        expect(Object.keys(final.json.attributes)).to.have.members(keys);
        expect(final.headers.etag).to.equal('"51"');
      });
    });
  });
}
