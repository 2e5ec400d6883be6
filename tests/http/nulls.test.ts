import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { issuesOf } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';

const JSON_PATCH = { headers: { 'Content-Type': 'application/json-patch+json' } };

/** As pandas, Jackson and dataclasses write a product of which only the name and one attribute are known. */
const SPARSE = {
  ...{ id: null, version: null, createdAt: null, updatedAt: null },
  ...{ name: 'Lamp', description: null, sku: null, price: null, attributes: { colour: 'green', watts: null } },
};
const SHOWN = { name: 'Lamp', attributes: { colour: 'green' } };

// random-values.test.ts has null where a value is due.
describe('null', () => {
  const service = inProcessService();
  const made = async (body: object) => (await service.post('/v1/products', body)).json.id;

  before(async () => {
    await service.post('/v1/users', { name: 'Ann', email: 'ann@example.com' });
    await service.post('/v1/products', { name: 'Desk' });
  });

  it('is no value in a POST', async () => {
    const { status, json } = await service.post('/v1/products', SPARSE);
    expect([status, json]).to.deep.equal([201, { id: json.id, ...SHOWN }]);
  });

  it('is no value in a PUT, and takes away what was there', async () => {
    const id = await made({ name: 'x', sku: 'NULL-1', price: { amount: 1, currency: 'EUR' } });
    const { status, json } = await service.put(`/v1/products/${id}`, SPARSE);
    expect([status, json]).to.deep.equal([200, { id, ...SHOWN }]);
  });

  it('is no value in the result of a JSON Patch, however it came there', async () => {
    const id = await made({ name: 'Lamp', sku: 'NULL-2', attributes: { colour: 'green', watts: 7 } });
    const patch = [
      { op: 'replace', path: '/sku', value: null },
      { op: 'replace', path: '/attributes/watts', value: null },
      { op: 'add', path: '/price', value: null },
    ];
    const { status, json } = await service.patch(`/v1/products/${id}`, patch, JSON_PATCH);
    expect([status, json]).to.deep.equal([200, { id, ...SHOWN }]);
    for (const path of ['/name', '/id']) {
      const refused = await service.patch(`/v1/products/${id}`, [{ op: 'replace', path, value: null }], JSON_PATCH);
      const code = path === '/id' ? 'read_only_field' : 'invalid_type';
      expect(refused.json.details, path).to.have.length(1);
      expect(refused.json.details[0], path).to.include({ code, pointer: path });
    }
  });

  it('removes in a merge patch, and is refused there for fields of the service', async () => {
    const id = await made({ name: 'Lamp', sku: 'NULL-3', attributes: { colour: 'green', watts: 7 } });
    const path = `/v1/products/${id}`;
    const { json } = await service.patch(path, { sku: null, attributes: { watts: null } });
    expect(json).to.deep.equal({ id, ...SHOWN });
    const refused = await service.patch(path, { version: null, name: null });
    expect(issuesOf(refused)).to.deep.equal(['read_only_field /version', 'required /name']);
  });

  it('is no value in an API key', async () => {
    const body = { name: 'x', scopes: ['users:read'], expiresAt: null, key: null, lastUsedAt: null, usage: null };
    const { status, json } = await service.post('/v1/api-keys', body);
    expect([status, 'expiresAt' in json]).to.deep.equal([201, false]);
  });

  it('leaves an unknown field unknown', async () => {
    const { json } = await service.post('/v1/products', { name: 'x', colour: null });
    expect(json.details[0]).to.include({ code: 'unknown_field', pointer: '/colour' });
  });

  it('is not counted among the keys of attributes, whatever their names', async () => {
    const nulls = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`${'k'.repeat(70)}${at}`, null]));
    const { status, json } = await service.post('/v1/products', { name: 'x', attributes: nulls });
    expect([status, json]).to.deep.equal([201, { id: json.id, name: 'x' }]);
  });

  it('makes another body for an Idempotency-Key, which compares what was sent', async () => {
    const key = { headers: { 'Idempotency-Key': randomUUID() } };
    const send = async (body: object) => (await service.post('/v1/products', body, key)).status;
    expect([await send({ name: 'x', sku: null }), await send({ name: 'x', sku: null })]).to.deep.equal([201, 201]);
    expect(await send({ name: 'x' })).to.equal(422);
  });
});

describe('live, the status of a product without one', () => {
  const service = inProcessService();
  const made = async (body: object) => (await service.post('/v1/products', { name: 'Lamp', ...body })).json.id;

  it('is no value in a POST, a PUT, a merge patch and a line of an import', async () => {
    const created = await service.post('/v1/products', { name: 'Lamp', status: 'live' });
    expect([created.status, created.json]).to.deep.equal([201, { id: created.json.id, name: 'Lamp' }]);
    for (const send of [
      (path: string) => service.put(path, { name: 'Lamp', status: 'live' }),
      (path: string) => service.patch(path, { status: 'live' }),
    ]) {
      const id = await made({ status: 'draft' });
      const path = `/v1/products/${id}`;
      const { json } = await send(path);
      expect(json).to.deep.equal({ id, name: 'Lamp' });
      await send(path);
      expect((await service.get(`${path}?fields=version,status`)).json).to.deep.equal({ version: 2 });
    }
    await made({ sku: 'L-1', status: 'draft' });
    await made({ sku: 'L-2', status: 'archived' });
    for (const [existing, type, body] of [
      ['merge', 'text/csv', 'sku,name,status\nL-1,Lamp,live\nL-2,Lamp,live\nL-3,Lamp,live'],
      ['replace', 'application/x-ndjson', '{"sku":"L-1","name":"Lamp","status":"live"}'],
    ] as const) {
      const path = `/v1/products/imports?match=sku&existing=${existing}`;
      const { text } = await service.post(path, body, { headers: { 'Content-Type': type } });
      expect(text).to.not.include('error');
    }
    const { json } = await service.get('/v1/products?sku.prefix=L-&fields=sku,status,version');
    expect(json).to.deep.equal([
      { sku: 'L-1', version: 2 },
      { sku: 'L-2', version: 2 },
      { sku: 'L-3', version: 1 },
    ]);
  });

  it('is no value in the result of a JSON Patch, and a test finds no value to compare with it', async () => {
    const id = await made({ status: 'draft' });
    const patch = (...operations: object[]) => service.patch(`/v1/products/${id}`, operations, JSON_PATCH);
    const test = { op: 'test', path: '/status', value: 'live' };
    expect((await patch(test)).json.code).to.equal('patch_test_failed');
    expect((await patch({ op: 'replace', path: '/status', value: 'live' })).json).to.deep.equal({ id, name: 'Lamp' });
    expect([(await patch(test)).status, (await patch(test)).json.code]).to.deep.equal([409, 'patch_test_failed']);
    expect((await patch({ op: 'add', path: '/status', value: 'live' })).json).to.deep.equal({ id, name: 'Lamp' });
  });

  it('is a value of no other field, and in no other spelling', async () => {
    for (const status of ['Live', 'live ', '', ['live']]) {
      const { json } = await service.post('/v1/products', { name: 'live', status });
      expect(json.details).to.have.length(1);
      expect(json.details[0]).to.include({ pointer: '/status' });
      expect(json.details[0].message).to.include('one of draft, archived; live stands for no value');
    }
    const live = { name: 'live', tags: ['live'], attributes: { status: 'live' } };
    const { json } = await service.post('/v1/products', live);
    expect(json).to.deep.equal({ id: json.id, name: 'live', attributes: { status: 'live' }, tags: ['live'] });
  });
});
