import { expect } from 'chai';
import { HTTP_STORE_NAMES } from '../stores/index.js';
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
    invalid: [
      ['an empty name', { name: '' }, ['too_short /name']],
      [
        'several invalid fields',
        { sku: 'ä', price: { amount: -1, currency: 'EUR' }, attributes: { '': 1 } },
        ['invalid_format /sku', 'out_of_range /price/amount', 'too_short /attributes/'],
      ],
    ],
  },
  HTTP_STORE_NAMES.map((store) => ({ store, parts: 'whole' })),
);

for (const store of HTTP_STORE_NAMES)
  describe(`products on ${store}`, () => {
    const service = inProcessService({ STORE: store });
    const create = async (body: object = { name: 'Lamp' }) =>
      `/v1/products/${(await service.post('/products', body)).json.id}`;

    describe('fields', () => {
      it('accept 1e2 and 100.0 as the integer 100', async () => {
        for (const amount of ['1e2', '100.0', '100']) {
          const body = `{"name":"Lamp","price":{"amount":${amount},"currency":"EUR"}}`;
          expect((await service.post('/products', body)).json.price.amount, amount).to.equal(100);
        }
      });

      it('omit empty attributes, but keep an empty description and an empty attribute value', async () => {
        const empty = (await service.post('/products', { name: 'Lamp', description: '', attributes: {} })).json;
        expect(empty).to.deep.equal({ id: empty.id, name: 'Lamp', description: '' });
        const { attributes } = (await service.post('/products', { name: 'Lamp', attributes: { a: '' } })).json;
        expect(attributes).to.deep.equal({ a: '' });
      });
    });

    describe('PATCH', () => {
      it('removes fields that are null, and merges price and attributes', async () => {
        const item = await create(FULL);
        const patch = { name: 'Torch', sku: null, price: { amount: 5 }, attributes: { 'a.b': null, new: 'n' } };
        const { id: _, ...patched } = (await service.patch(item, patch)).json;
        const { sku: _removed, ...kept } = FULL;
        const attributes = { $k: 1.5, on: true, new: 'n' };
        expect(patched).to.deep.equal({ ...kept, name: 'Torch', price: { amount: 5, currency: 'EUR' }, attributes });
      });

      it('drops attributes with the last one', async () => {
        const item = await create({ name: 'Lamp', attributes: { a: 1 } });
        const { id: _, ...rest } = (await service.patch(item, { attributes: { a: null } })).json;
        expect(rest).to.deep.equal({ name: 'Lamp' });
      });
    });
  });
