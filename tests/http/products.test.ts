import { expect } from 'chai';
import { HTTP_STORE_NAMES } from '../stores/index.js';
import { issueLocations } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { resourceContract } from './resource.contract.js';

const FULL = {
  name: 'Lamp',
  description: 'Bright\n',
  sku: 'L-1.a_b',
  price: { amount: 1999, currency: 'EUR' },
  attributes: { 'a.b': 'x', $k: 1.5, on: true },
  status: 'draft',
  tags: ['lighting/lamps', 'Ä b'],
  images: [{ url: 'https://example.com/1.jpg', alt: '' }, { url: 'http://[::1]:8080/2.jpg?a=%20' }],
  url: 'HTTPS://example.com',
  brand: 'Nordlicht',
  gtin: '4006381333931',
  group: 'L-1',
  stock: 0,
};

resourceContract(
  {
    plural: 'products',
    cacheControl: 'private, no-cache',
    fields: (n) => ({ name: `product ${n}` }),
    filters: {
      strings: ['name', 'sku', 'price.currency', 'status', 'brand', 'gtin', 'group'],
      others: ['price.amount', 'stock'],
      optional: [
        ...['sku', 'price.amount', 'price.currency', 'status', 'brand', 'gtin', 'group', 'stock'],
        ...['tags', 'images', 'url'],
      ],
      lists: ['tags'],
      more: ['q', 'attributes'],
    },
    invalid: [
      ['an empty name', { name: '' }, [['too_short', '/name']]],
      [
        'several invalid fields',
        { sku: 'ä', price: { amount: -1, currency: 'EUR' }, attributes: { '': 1 } },
        [
          ['invalid_format', '/sku'],
          ['out_of_range', '/price/amount'],
          ['too_short', '/attributes/'],
        ],
      ],
    ],
  },
  HTTP_STORE_NAMES.map((store) => ({ store, parts: 'whole' })),
);

for (const store of HTTP_STORE_NAMES) {
  describe(`products on ${store}`, () => {
    const service = inProcessService({ STORE: store });
    const request = () => service.client;
    const create = async (body: object = { name: 'Lamp' }) =>
      `/v1/products/${(await request().post('/products', body)).json.id}`;

    describe('fields', () => {
      it('are stored unchanged', async () => {
        const { id, ...rest } = (await request().post('/products', FULL)).json;
        expect(rest).to.deep.equal(FULL);
        expect((await request().get(`/products/${id}`)).json).to.deep.equal({ id, ...FULL });
        await request().delete(`/products/${id}`);
      });

      it('accept 1e2 and 100.0 as the integer 100', async () => {
        for (const amount of ['1e2', '100.0', '100']) {
          const body = `{"name":"Lamp","price":{"amount":${amount},"currency":"EUR"}}`;
          expect((await request().post('/products', body)).json.price.amount, amount).to.equal(100);
        }
      });

      it('omit empty attributes, but keep an empty description and an empty attribute value', async () => {
        const empty = (await request().post('/products', { name: 'Lamp', description: '', attributes: {} }))
          .json;
        expect(empty).to.deep.equal({ id: empty.id, name: 'Lamp', description: '' });
        const { attributes } = (await request().post('/products', { name: 'Lamp', attributes: { a: '' } }))
          .json;
        expect(attributes).to.deep.equal({ a: '' });
      });
    });

    describe('a sku', () => {
      const duplicateOf = (url: string) => [
        {
          code: 'duplicate_value',
          message: 'Another record has this sku.',
          in: 'body',
          pointer: '/sku',
          id: Number(url.split('/').at(-1)),
        },
      ];

      it('is rejected if another product has it, and is free again after its deletion', async () => {
        const owner = await create({ name: 'One', sku: 'unique' });
        const other = await create();
        for (const response of [
          await request().post('/products', { name: 'Two', sku: 'unique' }),
          await request().put(other, { name: 'Two', sku: 'unique' }),
          await request().patch(other, { sku: 'unique' }),
        ]) {
          expect([response.status, response.json.code]).to.deep.equal([409, 'duplicate_value']);
          expect(response.json.details).to.deep.equal(duplicateOf(owner));
        }
        await request().delete(owner);
        expect((await request().post('/products', { name: 'Two', sku: 'unique' })).status).to.equal(201);
      });
    });

    describe('PUT', () => {
      it('replaces everything, and removes absent optional fields', async () => {
        const item = await create(FULL);
        const response = await request().put(item, { name: 'Torch' });
        expect([response.status, response.json.name, Object.keys(response.json)]).to.deep.equal([
          200,
          'Torch',
          ['id', 'name'],
        ]);
        expect((await request().get(item)).text).to.equal(response.text);
      });

      it('keeps the version if nothing changes, in any order of the fields', async () => {
        const item = await create({
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
      it('removes fields that are null, and merges price and attributes', async () => {
        const item = await create(FULL);
        const patch = {
          name: 'Torch',
          sku: null,
          price: { amount: 5 },
          attributes: { 'a.b': null, new: 'n' },
        };
        const { id: _, ...patched } = (await request().patch(item, patch)).json;
        const { sku: _removed, ...kept } = FULL;
        expect(patched).to.deep.equal({
          ...kept,
          name: 'Torch',
          price: { amount: 5, currency: 'EUR' },
          attributes: { $k: 1.5, on: true, new: 'n' },
        });
      });

      it('validates the patched product', async () => {
        const item = await create(FULL);
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

      it('drops attributes with the last one', async () => {
        const item = await create({ name: 'Lamp', attributes: { a: 1 } });
        const { id: _, ...rest } = (await request().patch(item, { attributes: { a: null } })).json;
        expect(rest).to.deep.equal({ name: 'Lamp' });
      });

      it('loses none of 50 concurrent patches of different attributes', async () => {
        const item = await create();
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
