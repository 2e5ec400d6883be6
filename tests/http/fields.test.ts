import { expect } from 'chai';
import { expectIssues } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { list } from '../support/list.js';

describe('fields', () => {
  const service = inProcessService();
  const PRICED = { name: 'Lamp', description: 'bright', sku: 'L-1', price: { amount: 1, currency: 'EUR' } };
  const FULL = { ...PRICED, attributes: { z: 1, a: 2 } };
  let created: string;

  before(async () => {
    await service.post('/products', FULL);
    await service.post('/products', { name: 'bare' });
    created = (await service.get('/products/1?fields=createdAt')).json.createdAt;
  });

  it('selects these fields only, in the usual order, without those that have no value', async () => {
    const time = `"createdAt":"${created}","updatedAt":"${created}"`;
    for (const [fields, shown] of [
      ['id,name,version', '{"id":1,"name":"Lamp","version":1}'],
      ['version,name,id', '{"id":1,"name":"Lamp","version":1}'],
      ['id,id', '{"id":1}'],
      ['updatedAt,createdAt', `{${time}}`],
      ['price', '{"price":{"amount":1,"currency":"EUR"}}'],
      ['attributes,sku', '{"sku":"L-1","attributes":{"z":1,"a":2}}'],
      [
        'updatedAt,createdAt,version,attributes,price,sku,description,name,id',
        `{"id":1,${JSON.stringify(FULL).slice(1, -1)},"version":1,${time}}`,
      ],
    ] as const) {
      const item = await service.get(`/products/1?fields=${fields}`);
      expect([item.status, item.text], fields).to.deep.equal([200, shown]);
      const found = await service.get(`/products?fields=${fields}&id=1`);
      expect([found.status, found.text], fields).to.deep.equal([200, `[${shown}]`]);
    }
    expect((await service.get('/products/2?fields=sku,price,attributes')).text).to.equal('{}');
    expect((await service.get('/products?fields=sku')).text).to.equal('[{"sku":"L-1"},{}]');
  });

  it('rejects fields that there are not', async () => {
    for (const [fields, ...codes] of [
      ...['', 'id,', ','].map((fields) => [fields, 'too_short']),
      ...list`x  Name  price.amount  attributes.z  %20id  -id  *  constructor  __proto__  id%00`.map((fields) => [
        fields,
        'unknown_field',
      ]),
      ['x,,id', 'too_short', 'unknown_field'],
    ])
      for (const path of ['/products/1', '/products']) {
        const response = await service.get(`${path}?fields=${fields}`);
        const issues = codes.map((code) => `${code} fields`);
        await expectIssues(response, 'invalid_parameter', issues, path);
      }
  });

  describe('of an item', () => {
    const ifNoneMatch = (tag: string) => ({ headers: { 'If-None-Match': tag } });

    it('gives each selection its own ETag, independent of the order of the fields', async () => {
      for (const fields of ['id,name', 'name,id', 'name,id,name'])
        expect((await service.get(`/products/1?fields=${fields}`)).headers.etag).to.equal('"1:id,name"');
      expect((await service.get('/products/1')).headers.etag).to.equal('"1"');
    });

    it('is 304 only for the ETag of the same selection', async () => {
      for (const method of ['GET', 'HEAD']) {
        for (const [tag, status] of [
          ['"1:id,name"', 304],
          ['W/"1:id,name"', 304],
          ['"1:id,name-gzip"', 304],
          ['W/"1:id,name;br"', 304],
          ['"1:id-gzip"', 200],
          ['"1-gzip"', 200],
          ['"x", "1:id,name"', 304],
          ['*', 304],
          ['"1"', 200],
          ['"1:id"', 200],
          ['"1:name,id"', 200],
        ] as const) {
          const response = await service.request(method, '/products/1?fields=name,id', ifNoneMatch(tag));
          expect([response.status, response.headers.etag], tag).to.deep.equal([status, '"1:id,name"']);
        }
        expect((await service.request(method, '/products/1', ifNoneMatch('"1:id,name"'))).status).to.equal(200);
      }
    });

    it('gives an ETag that a write rejects', async () => {
      for (const tag of ['"1:id,name"', 'W/"1:id,name"', '"1:id,name-gzip"']) {
        const response = await service.put('/products/1', FULL, { headers: { 'If-Match': tag } });
        expect([response.status, response.headers.etag], tag).to.deep.equal([412, '"1"']);
      }
      expect((await service.put('/products/1', FULL, { headers: { 'If-Match': '"1"' } })).status).to.equal(200);
    });
  });
});
