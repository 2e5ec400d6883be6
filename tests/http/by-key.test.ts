import { expect } from 'chai';

import { HTTP_STORE_NAMES } from '../stores/index.js';
import { expectRefusal, type HttpClient, issuesOf } from '../support/http-client.js';
import { type InProcessService, inProcessService } from '../support/in-process-service.js';
import { ANNOUNCED, twoVersions } from '../support/two-versions.js';
import { stableHeaders } from './resource/collection.js';

/** A resource whose records have a second address. */
interface KeyedResource {
  readonly plural: 'products' | 'users';
  readonly field: string;
  readonly cacheControl: string;
  /** A valid key for each number. */
  key(n: number): string;
  /** A value that is no key, with the code of its issue. */
  readonly invalid: string;
}

const PRODUCTS: KeyedResource = {
  plural: 'products',
  field: 'sku',
  cacheControl: 'private, no-cache',
  key: (n) => `L-${n}.a_b`,
  invalid: 'a b',
};

const USERS: KeyedResource = {
  plural: 'users',
  field: 'email',
  cacheControl: 'no-store',
  key: (n) => `Ann.${n}+tag@Example.com`,
  invalid: 'nobody',
};

/** The addresses of one resource, in one form, in a running service. */
class Addresses {
  private static count = 0;
  readonly byKey: string;

  constructor(
    readonly resource: KeyedResource,
    readonly collection: string,
    private readonly service: InProcessService,
  ) {
    this.byKey = `${collection}/${resource.field}`;
  }

  get client(): HttpClient {
    return this.service.client;
  }

  /** @returns a key that no record has */
  newKey = () => this.resource.key(++Addresses.count);

  to = (key: string) => `${this.byKey}/${encodeURIComponent(key)}`;

  /** Always with the version, in whichever form was asked. */
  canonical = (id: number) => `/v1/${this.resource.plural}/${id}`;

  async create(fields: object = {}) {
    const key = this.newKey();
    const body = { name: 'Lamp', [this.resource.field]: key, ...fields };
    const response = await this.client.post(this.collection, body);
    expect(response.status, response.text).to.equal(201);
    const { id } = response.json;
    return { key, id: id as number, path: this.to(key), byId: `${this.collection}/${id}`, shown: response.json };
  }

  /** The ids of the records that have a key. */
  async idsOf(key: string): Promise<number[]> {
    const { json } = await this.client.get(`${this.collection}?${this.resource.field}=${encodeURIComponent(key)}`);
    return json.map(({ id }: { id: number }) => id);
  }
}

const ifMatch = (tag: string) => ({ headers: { 'If-Match': tag } });
const ifNoneMatch = (tag: string) => ({ headers: { 'If-None-Match': tag } });
const MINIMAL = { Prefer: 'return=minimal' };
const METHODS = 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS';
const PATCH_TYPES = 'application/merge-patch+json, application/json-patch+json, application/json';

// Each resource has another form of the addresses: they are the same code.
for (const store of HTTP_STORE_NAMES)
  for (const [prefix, resource] of Object.entries({ '': USERS, '/v1': PRODUCTS })) {
    const collection = `${prefix}/${resource.plural}`;
    describe(`${collection}/${resource.field}/… on ${store}`, () => {
      describeByKey(new Addresses(resource, collection, inProcessService({ STORE: store })));
    });
  }

function describeByKey(at: Addresses): void {
  const { resource, byKey } = at;
  const { field } = resource;
  const readOnly = [`read_only_field /${field}`];

  describe('GET', () => {
    it('returns what the id returns, with the address that has the id', async () => {
      const { id, path, byId } = await at.create();
      const [found, expected] = [await at.client.get(path), await at.client.get(byId)];
      expect([found.status, found.text]).to.deep.equal([200, expected.text]);
      const { 'content-location': contentLocation, ...headers } = stableHeaders(found);
      expect(contentLocation).to.equal(at.canonical(id));
      expect(headers).to.deep.equal(stableHeaders(expected));
      expect(headers).to.include({ etag: '"1"', 'cache-control': resource.cacheControl });
      const head = await at.client.request('HEAD', path);
      expect([head.status, head.text]).to.deep.equal([200, '']);
      expect(stableHeaders(head)).to.deep.equal(stableHeaders(found));
    });

    it('shows the chosen fields, and is 304 for their own tag alone', async () => {
      const { id, path } = await at.create();
      const view = await at.client.get(`${path}?fields=id,version`);
      expect(view.json).to.deep.equal({ id, version: 1 });
      for (const [query, tag, status] of [
        ['', 'W/"1-gzip"', 304],
        ['', '"2"', 200],
        ['?fields=id,version', view.headers.etag ?? '', 304],
        ['?fields=id,version', '"1"', 200],
      ] as const) {
        const response = await at.client.get(path + query, ifNoneMatch(tag));
        expect(response.status, `${query} ${tag}`).to.equal(status);
        // RFC 9110 section 15.4.5
        expect(response.headers['content-location']).to.equal(at.canonical(id));
      }
    });

    it('has no address if it is refused, or no record has the value', async () => {
      const { path } = await at.create();
      for (const [url, status, code] of [
        [`${path}?limit=1`, 400, 'unknown_parameter'],
        [at.to(at.newKey()), 404, 'not_found'],
      ] as const) {
        const response = await at.client.get(url);
        expect([response.status, response.json.code]).to.deep.equal([status, code]);
        expect(response.headers).to.not.have.any.keys('content-location', 'etag', 'location');
        expect(response.headers['cache-control']).to.equal('no-store');
      }
    });
  });

  describe('PUT', () => {
    it('creates the record that is missing, whether the body repeats the value or not', async () => {
      for (const more of [{}, { [field]: null }, undefined]) {
        const key = at.newKey();
        const response = await at.client.put(at.to(key), { name: 'Lamp', ...(more ?? { [field]: key }) });
        const [id = 0] = await at.idsOf(key);
        expect([response.status, response.json]).to.deep.equal([201, { id, name: 'Lamp', [field]: key }]);
        expect(response.headers).to.include({
          location: at.canonical(id),
          'content-location': at.canonical(id),
          etag: '"1"',
          'cache-control': 'no-store',
          'api-version': '1',
        });
        expect((await at.client.get(at.canonical(id))).text).to.equal(response.text);
      }
    });

    it('replaces the record that has the value, and keeps the version if nothing changes', async () => {
      const { key, id, path, byId } = await at.create();
      for (const more of [{}, { [field]: key }, { [field]: null }]) {
        const { status, json, headers } = await at.client.put(path, { name: 'Torch', ...more });
        expect([status, json]).to.deep.equal([200, { id, name: 'Torch', [field]: key }]);
        expect(headers).to.include({ etag: '"2"', 'content-location': at.canonical(id) });
        expect(headers).to.not.have.property('location');
      }
      expect((await at.client.get(byId)).json.name).to.equal('Torch');
    });

    it('refuses another value than that of the path, with what else is wrong', async () => {
      const { path, byId, shown } = await at.create();
      const missing = at.newKey();
      for (const url of [path, at.to(missing)]) {
        for (const value of [at.newKey(), resource.invalid, '', 5, [], {}, false]) {
          const attempt = at.client.put(url, { name: 'Lamp', [field]: value });
          const response = await expectRefusal(attempt, 'validation_failed');
          expect(issuesOf(response), JSON.stringify(value)).to.deep.equal(readOnly);
          expect(response.headers).to.not.have.any.keys('content-location', 'location', 'etag');
        }
        const both = await at.client.put(url, { name: '', [field]: at.newKey(), x: 1 });
        expect(issuesOf(both)).to.have.deep.members([...readOnly, 'too_short /name', 'unknown_field /x']);
      }
      expect((await at.client.get(byId)).json).to.deep.equal(shown);
      expect(await at.idsOf(missing)).to.deep.equal([]);
    });

    it('takes the id and the times of the record back, and refuses any others', async () => {
      const { id, path, byId } = await at.create();
      const { json } = await at.client.get(`${byId}?fields=id,name,version,createdAt,updatedAt`);
      const edited = await at.client.put(path, { ...json, name: 'Torch' });
      expect([edited.status, edited.json.name]).to.deep.equal([200, 'Torch']);
      const others = { id: id + 1, version: 7, createdAt: 'x', updatedAt: null };
      const refused = await at.client.put(path, { name: 'Lamp', ...others });
      const issues = ['id', 'version', 'createdAt'].map((name) => `read_only_field /${name}`);
      expect(issuesOf(refused)).to.deep.equal(issues);
      const key = at.newKey();
      const created = await at.client.put(at.to(key), { name: 'Lamp', ...others, id });
      expect(issuesOf(created)).to.deep.equal(issues);
      expect(await at.idsOf(key)).to.deep.equal([]);
    });

    it('has no body under return=minimal, and no address of one', async () => {
      const key = at.newKey();
      const created = await at.client.put(at.to(key), { name: 'Lamp' }, { headers: MINIMAL });
      const [id = 0] = await at.idsOf(key);
      expect([created.status, created.text]).to.deep.equal([201, '']);
      expect(created.headers).to.include({ location: at.canonical(id), etag: '"1"' });
      const replaced = await at.client.put(at.to(key), { name: 'Torch' }, { headers: MINIMAL });
      expect([replaced.status, replaced.text, replaced.headers.etag]).to.deep.equal([204, '', '"2"']);
      expect(replaced.headers).to.not.have.property('location');
      for (const { headers } of [created, replaced]) {
        expect(headers['preference-applied']).to.equal('return=minimal');
        expect(headers).to.not.have.any.keys('content-location', 'content-type');
      }
    });

    it('creates only with If-None-Match: *, and says which version there is', async () => {
      const key = at.newKey();
      const put = (name: string, tag: string) => at.client.put(at.to(key), { name }, ifNoneMatch(tag));
      expect((await put('Lamp', '*')).status).to.equal(201);
      await at.client.put(at.to(key), { name: 'Torch' });
      for (const tag of ['*', '"2"', '"1", "2"', 'W/"2"']) {
        const response = await put('Late', tag);
        expect((await expectRefusal(response, 'precondition_failed', tag)).headers.etag).to.equal('"2"');
        expect(response.headers).to.not.have.any.keys('content-location', 'location');
      }
      expect((await put('Late', '"1"')).status, 'another version').to.equal(200);
      const other = at.newKey();
      expect((await at.client.put(at.to(other), { name: 'x' }, ifNoneMatch('"1"'))).status).to.equal(201);
    });

    it('never creates with If-Match, and replaces only the version that it names', async () => {
      const key = at.newKey();
      const put = (tag: string, body: object = { name: 'x' }) => at.client.put(at.to(key), body, ifMatch(tag));
      for (const tag of ['*', '"1"']) {
        for (const body of [{ name: 'x' }, {}]) await expectRefusal(put(tag, body), 'not_found');
        const both = { headers: { 'If-Match': tag, 'If-None-Match': '*' } };
        expect((await at.client.put(at.to(key), { name: 'x' }, both)).status).to.equal(404);
      }
      expect(await at.idsOf(key)).to.deep.equal([]);
      await at.client.put(at.to(key), { name: 'Lamp' });
      const stale = await put('"2"');
      expect([stale.status, stale.headers.etag]).to.deep.equal([412, '"1"']);
      expect((await put('"9"', {})).status, 'before the body is validated').to.equal(412);
      expect((await put('"1"')).status).to.equal(200);
      expect((await put('*', { name: 'y' })).status).to.equal(200);
      for (const tag of ['1', '', 'x']) expect(issuesOf(await put(tag))).to.deep.equal(['invalid_format If-Match']);
    });
  });

  describe('PATCH', () => {
    const patch = (path: string, body: unknown, headers: Record<string, string> = {}) =>
      at.client.patch(path, body, { headers });

    it('changes the record, with the address that has the id', async () => {
      const { key, id, path } = await at.create();
      const response = await patch(path, { name: 'two' });
      expect([response.status, response.json]).to.deep.equal([200, { id, name: 'two', [field]: key }]);
      expect(response.headers['content-location']).to.equal(at.canonical(id));
      expect(response.headers).to.not.have.property('location');
      const test = [{ op: 'test', path: '/name', value: 'x' }];
      await expectRefusal(patch(path, test, { 'Content-Type': 'application/json-patch+json' }), 'patch_test_failed');
    });

    it('may change the value, and then the record has another address', async () => {
      const { id, path, byId } = await at.create();
      const [second, third] = [at.newKey(), at.newKey()];
      expect((await patch(path, { [field]: second })).json[field]).to.equal(second);
      expect((await at.client.get(path)).status).to.equal(404);
      expect((await at.client.get(at.to(second))).json.id).to.equal(id);
      expect((await patch(byId, { [field]: third })).status).to.equal(200);
      expect((await at.client.get(at.to(second))).status).to.equal(404);
      expect((await at.client.get(at.to(third))).json.id).to.equal(id);
      const other = await at.create();
      const taken = await patch(at.to(third), { [field]: other.key });
      expect([taken.status, taken.json.details[0].id]).to.deep.equal([409, other.id]);
    });

    it('is 404 where no record has the value, whatever else is wrong', async () => {
      for (const [body, headers] of [
        [{ name: 'x' }, {}],
        ['{', {}],
        [{}, { 'Content-Type': 'text/plain' }],
        [{}, { 'If-Match': '"1"' }],
        [{}, { 'If-Match': 'nonsense' }],
      ] as const)
        await expectRefusal(patch(`${at.to(at.newKey())}?x=1`, body, headers), 'not_found');
    });
  });

  describe('DELETE', () => {
    it('deletes the record, and every later request is 404 until a PUT creates another', async () => {
      const { id, path, byId } = await at.create();
      const response = await at.client.delete(path);
      expect([response.status, response.text]).to.deep.equal([204, '']);
      expect(response.headers).to.not.have.property('content-location');
      for (const method of ['GET', 'HEAD', 'PATCH', 'DELETE'])
        for (const url of [path, byId])
          expect((await at.client.request(method, url, method === 'PATCH' ? { body: {} } : {})).status).to.equal(404);
      const created = await at.client.put(path, { name: 'Again' });
      expect(created.status).to.equal(201);
      expect(created.json.id).to.be.greaterThan(id);
    });
  });

  it('respects preconditions with PATCH and DELETE', async () => {
    const { path } = await at.create();
    const body = { name: 'x' };
    for (const [method, version, status] of [
      ['PATCH', 2, 412],
      ['DELETE', 2, 412],
      ['PATCH', 1, 204],
      ['DELETE', 2, 204],
    ] as const) {
      const headers = { 'If-Match': `"${version}"`, ...MINIMAL };
      const response = await at.client.request(method, path, { headers, ...(method === 'PATCH' && { body }) });
      expect([response.status, response.headers['content-location']], method).to.deep.equal([status, undefined]);
      if (status === 412) expect(response.headers.etag).to.equal('"1"');
    }
  });

  it('has the methods of an item, and no others', async () => {
    for (const path of [at.to(at.newKey()), (await at.create()).path]) {
      const post = await expectRefusal(at.client.post(path, { name: 'x' }), 'method_not_allowed');
      const options = await at.client.request('OPTIONS', path, { token: null });
      expect(options.status).to.equal(204);
      for (const { headers } of [post, options]) {
        expect(headers).to.include({ allow: METHODS, 'accept-patch': PATCH_TYPES });
        expect(headers).to.not.have.property('content-location');
      }
    }
  });

  it('is decoded once', async () => {
    const { id, key } = await at.create();
    const encoded = [...key].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');
    for (const segment of [encoded, encoded.toUpperCase(), encodeURIComponent(key), encodeURI(key)])
      expect((await at.client.get(`${byKey}/${segment}`)).json.id, segment).to.equal(id);
    expect((await at.client.get(`${byKey}/${encodeURIComponent(encoded)}`)).status).to.equal(404);
  });
}

describe('the e-mail address in a path', () => {
  const service = inProcessService({ STORE: 'sqlite' });
  const at = (email: string) => `/v1/users/email/${encodeURIComponent(email)}`;

  it('finds an address in any case, and keeps the spelling that was sent', async () => {
    const created = await service.put(at('Ann.Case@Example.com'), { name: 'Ann' });
    expect([created.status, created.json.email]).to.deep.equal([201, 'Ann.Case@Example.com']);
    for (const email of ['ann.case@example.com', 'ANN.CASE@EXAMPLE.COM', 'Ann.Case@Example.com']) {
      expect((await service.get(at(email))).text, email).to.equal(created.text);
      const same = await service.put(at(email), { name: 'Ann' });
      expect([same.status, same.text, same.headers.etag]).to.deep.equal([200, created.text, '"1"']);
      expect((await service.patch(at(email), { name: 'Ann' })).text).to.equal(created.text);
    }
    const respelt = await service.put(at('ann.CASE@example.com'), { name: 'Ann', email: 'ann.case@EXAMPLE.com' });
    expect([respelt.status, respelt.json.email]).to.deep.equal([200, 'ann.case@EXAMPLE.com']);
    expect((await service.put(at('ANN.case@example.com'), { name: 'A' }, ifNoneMatch('*'))).status).to.equal(412);
    expect((await service.delete(at('ANN.CASE@EXAMPLE.COM'))).status).to.equal(204);
  });

  it('takes every character of an address, percent-encoded or not', async () => {
    for (const [email, ...segments] of [
      ['a+b@x.example', 'a+b@x.example', 'a%2Bb%40x.example', 'A+B@X.EXAMPLE'],
      ["!#$%&'*+/=?^_`{|}~-@x", "!%23$%25&'*+%2F=%3F%5E_`{|}~-@x"],
      ['a%40b@x', 'a%2540b@x'],
      ['..@x', '..@x', '%2E.%40x'],
    ]) {
      const created = await service.put(at(email ?? ''), { name: 'Ann' });
      expect([created.status, created.json.email]).to.deep.equal([201, email]);
      for (const segment of segments)
        expect((await service.get(`/v1/users/email/${segment}`)).text, segment).to.equal(created.text);
    }
    expect((await service.get('/v1/users/email/a%20b@x.example')).status, 'no space').to.equal(404);
  });
});

describe('a record by a unique field', () => {
  describe('under REQUIRE_IF_MATCH', () => {
    const service = inProcessService({ REQUIRE_IF_MATCH: 'true' });

    it('needs a version only where the record exists', async () => {
      const [path, missing] = ['/v1/products/sku/R-1', '/v1/products/sku/R-2'];
      expect((await service.put(path, { name: 'Lamp' })).status).to.equal(201);
      expect((await service.put(missing, {})).status).to.equal(400);
      for (const body of [{ name: 'Torch' }, { name: 'Lamp' }, {}, { name: 'x', sku: 'other' }]) {
        await expectRefusal(service.put(path, body), 'precondition_required');
        expect((await service.put(path, body, ifNoneMatch('"9"'))).status).to.equal(428);
      }
      const exists = await service.put(path, { name: 'Torch' }, ifNoneMatch('*'));
      expect([exists.status, exists.headers.etag]).to.deep.equal([412, '"1"']);
      expect((await service.put('/v1/products/sku/R-3', { name: 'x' }, ifNoneMatch('*'))).status).to.equal(201);
      for (const tag of ['"1"', '*'])
        expect((await service.put(path, { name: tag }, ifMatch(tag))).status).to.equal(200);
      for (const method of ['PATCH', 'DELETE']) {
        const options = method === 'PATCH' ? { body: {} } : {};
        expect((await service.request(method, path, options)).status, method).to.equal(428);
        expect((await service.request(method, missing, options)).status, method).to.equal(404);
      }
      expect((await service.delete(path, ifMatch('"3"'))).status).to.equal(204);
    });
  });

  describe('of a deprecated version', () => {
    const service = twoVersions();

    it('has the address of its version, and says where the next one is', async () => {
      const first = await service.put('/v1/products/sku/D-1', { name: 'Lamp' });
      expect(first.status).to.equal(201);
      expect(first.headers).to.include({ ...ANNOUNCED, 'content-location': `/v1/products/${first.json.id}` });
      expect(first.headers['link']).to.include('</v2/products/sku/D-1>; rel="successor-version"');
      const second = await service.get('/v2/products/sku/D-1');
      expect(second.json).to.deep.equal({ id: first.json.id, title: 'Lamp', sku: 'D-1' });
      expect(second.headers).to.include({ etag: '"v2.1"', 'content-location': `/v2/products/${first.json.id}` });
      const headers = { 'API-Version': '2' };
      const replaced = await service.put('/products/sku/D-1', { title: 'Torch' }, { headers });
      expect([replaced.status, replaced.headers.etag]).to.deep.equal([200, '"v2.2"']);
      const created = await service.put('/v2/products/sku/D-2', { title: 'New' });
      expect([created.status, created.headers.location]).to.deep.equal([201, `/v2/products/${created.json.id}`]);
    });
  });
});
