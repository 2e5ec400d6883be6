import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { BY_ID } from '#src/application/ports/list-query.js';
import type { WebhookTransport } from '#src/application/ports/webhooks.js';
import { SCOPES } from '#src/domain/access.js';
import { unavailable } from '#src/domain/errors.js';
import { RESOURCES, type Versioned } from '#src/domain/record.js';
import type { Webhook } from '#src/domain/webhook.js';
import { HTTP_STORE_NAMES } from '../stores/index.js';
import {
  expectIssues,
  expectRefusal,
  type HttpResponse,
  type RequestOptions,
  refusalOf,
} from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { list } from '../support/list.js';
import { TestIssuer } from '../support/test-issuer.js';

const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;
const NETWORKS = { WEBHOOK_NETWORKS: '127.0.0.0/8' };
/** Nothing listens on this port. */
const RECEIVER = { name: 'index', url: 'https://127.0.0.1:9/hook?token=x', resources: ['products'] };

const withIdempotencyKey = (key: string): RequestOptions => ({ headers: { 'Idempotency-Key': key } });
const replayed = ({ headers }: HttpResponse) => headers['idempotency-replayed'];

for (const store of HTTP_STORE_NAMES)
  describe(`webhooks on ${store}`, () => {
    const path = '/v1/webhooks';
    const service = inProcessService({ STORE: store, ...NETWORKS });
    const create = async (fields: object = {}, options: RequestOptions = {}) => {
      const response = await service.post(path, { ...RECEIVER, ...fields }, options);
      expect(response.status, response.text).to.equal(201);
      const { id, secret } = response.json;
      return { response, id, secret, path: `${path}/${id}` };
    };
    const patch = (item: string, fields: object, options: RequestOptions = {}) => service.patch(item, fields, options);
    const makeKey = async (scopes: readonly string[], fields: object = {}) => {
      const { json } = await service.post('/v1/api-keys', { name: 'x', scopes, ...fields });
      return json as { id: number; key: string };
    };
    const listed = async () => (await service.get(`${path}?limit=1000`)).json.map(({ id }: { id: number }) => id);

    it('are created with a secret that one response alone shows', async () => {
      const { response, id, secret, path: item } = await create();
      const { createdAt } = response.json;
      const shown = { id, ...RECEIVER, status: 'active', createdBy: 1, createdAt };
      expect(response.text).to.equal(JSON.stringify({ ...shown, secret }));
      expect(secret).to.match(SECRET);
      expect(Buffer.from(secret.slice(6), 'base64')).to.have.length(32);
      expect(response.headers).to.include({
        location: `/v1/webhooks/${id}`,
        etag: '"1"',
        'cache-control': 'no-store',
        'api-version': '1',
      });
      const { status, headers, json } = await service.get(item);
      expect([status, json, headers['cache-control']]).to.deep.equal([200, shown, 'no-store']);
      const all = await service.get(`${path}?id=${id}`);
      expect(all.json).to.deep.equal([shown]);
      for (const Accept of ['application/x-ndjson', 'text/csv'])
        expect((await service.get(path, { headers: { Accept } })).text).to.not.include('whsec_');
    });

    it('have no secret in a replayed response, which shows them as they were created', async () => {
      const options = withIdempotencyKey(randomUUID());
      const { response, id, path: item } = await create({}, options);
      const { secret: _, ...rest } = response.json;
      for (const use of [() => patch(item, { name: 'another' }), () => service.delete(item)]) {
        expect((await use()).status).to.be.within(200, 204);
        const again = await create({}, options);
        expect([replayed(again.response), again.response.json]).to.deep.equal(['true', rest]);
        expect(again.response.headers).to.include({ location: `/v1/webhooks/${id}`, etag: '"1"' });
      }
      await expectRefusal(service.post(path, { ...RECEIVER, name: 'y' }, options), 'idempotency_key_reused');
    });

    const ISSUES: readonly (readonly [title: string, fields: object, ...issues: string[]])[] = [
      ['http', { url: 'http://127.0.0.1/x' }, 'invalid_format /url'],
      ['no resources', { resources: [] }, 'too_short /resources'],
      ['a private address', { url: 'https://10.0.0.1/' }, 'invalid_format /url'],
      ['a metadata service', { url: 'https://169.254.169.254/latest' }, 'invalid_format /url'],
      [
        'fields of the service',
        { id: 0, createdBy: 1, createdAt: 'x', lastError: 'x', lastDeliveryAt: 'x', secret: 'x' },
        ...list`createdAt  createdBy  id  lastDeliveryAt  lastError  secret`.map((name) => `read_only_field /${name}`),
      ],
      ['stored fields', { starts: {}, formerSecrets: [] }, 'unknown_field /formerSecrets', 'unknown_field /starts'],
      [
        'several issues at once',
        { name: '', url: 'https://10.1.1.1/', resources: ['users', 'users', 'api-keys'], status: 'failing' },
        ...list`duplicate_value /resources/1  invalid_format /resources/2  invalid_format /status  invalid_format /url
          too_short /name`,
      ],
    ];
    for (const [title, fields, ...issues] of ISSUES)
      it(`are not created or changed with ${title}`, async () => {
        const before = await listed();
        const { path: item } = await create();
        for (const response of [await service.post(path, { ...RECEIVER, ...fields }), await patch(item, fields)]) {
          const [status, code, ...found] = refusalOf(response);
          expect([status, code], response.text).to.deep.equal([400, 'validation_failed']);
          expect(found.toSorted(), response.text).to.deep.equal(issues);
        }
        await service.delete(item);
        expect(await listed()).to.deep.equal(before);
      });

    it('tell only those who may read the resources', async () => {
      const scopes = ['webhooks:admin', 'users:read'];
      const { id, key: token } = await makeKey(scopes);
      const attempt = service.post(path, { ...RECEIVER, resources: ['users', 'products', 'orders'] }, { token });
      const refused = await expectRefusal(attempt, 'insufficient_scope');
      expect(refused.headers['www-authenticate']).to.include('scope="products:read orders:read"');
      const own = await create({ resources: ['users'] }, { token });
      expect(own.response.json.createdBy).to.equal(id);
      const foreign = await create();
      for (const fields of [{ url: 'https://127.0.0.2:9/' }, { resources: ['products', 'users'] }])
        expect((await patch(foreign.path, fields, { token })).status).to.equal(403);
      const renamed = await patch(foreign.path, { name: 'renamed', status: 'paused' }, { token });
      expect([renamed.status, renamed.json.createdBy]).to.deep.equal([200, 1]);
      const taken = await patch(foreign.path, { resources: ['users'] }, { token });
      expect([taken.status, taken.json.createdBy, taken.json.secret]).to.deep.equal([200, id, undefined]);
      // Also with the values of before: so a webhook whose key has ended goes on.
      const again = await patch(foreign.path, { resources: ['users'] });
      expect([again.status, again.json.createdBy, again.json.secret]).to.deep.equal([200, 1, undefined]);
      const same = await patch(foreign.path, { resources: ['users'] });
      expect(same.headers['etag']).to.equal(again.headers['etag']);
      expect((await service.get(path, { token: (await makeKey(['users:read'])).key })).status).to.equal(403);
    });

    it('get another secret with another URL, in that response', async () => {
      const { path: item, secret } = await create();
      const headers = { Prefer: 'return=minimal' };
      const moved = await patch(item, { url: 'https://127.0.0.1:9/b' }, { headers });
      expect([moved.status, moved.json.url]).to.deep.equal([200, 'https://127.0.0.1:9/b']);
      expect(moved.json.secret).to.match(SECRET).and.not.equal(secret);
      const same = await patch(item, { url: 'https://127.0.0.1:9/b' });
      expect([same.status, same.headers.etag, same.json.secret]).to.deep.equal([200, moved.headers.etag, undefined]);
      const minimal = await patch(item, { name: 'z' }, { headers });
      expect([minimal.status, minimal.text]).to.deep.equal([204, '']);
      expect(minimal.headers['preference-applied']).to.equal('return=minimal');
      const value = 'https://127.0.0.1:9/c';
      const jsonPatch = [
        { op: 'test', path: '/name', value: 'z' },
        { op: 'replace', path: '/url', value },
      ];
      const type = { 'Content-Type': 'application/json-patch+json' };
      expect((await service.patch(item, jsonPatch, { headers: type })).json.secret).to.match(SECRET);
      const forged = [{ op: 'add', path: '/createdBy', value: 2 }];
      expect((await service.patch(item, forged, { headers: type })).status).to.equal(400);
      const own = await patch(item, { createdBy: 1 });
      expect(own.json.details[0].message).to.equal('createdBy is given by the service: leave it out.');
    });

    it('get a new secret on request', async () => {
      const { path: item, secret } = await create();
      const renewed = await service.post(`${item}/secret`, undefined);
      expect([renewed.status, renewed.headers.etag]).to.deep.equal([200, '"2"']);
      expect(renewed.json.secret).to.match(SECRET).and.not.equal(secret);
      const stale = await service.post(`${item}/secret`, undefined, { headers: { 'If-Match': '"1"' } });
      expect([stale.status, stale.headers.etag]).to.deep.equal([412, '"2"']);
    });

    it('give a new secret only to those who may read the resources', async () => {
      const { path: item } = await create({ resources: ['products', 'orders'] });
      for (const headers of [{}, { 'If-Match': '"7"' }]) {
        const { key: token } = await makeKey(['webhooks:admin', 'products:read']);
        const refused = await expectRefusal(
          service.post(`${item}/secret`, undefined, { token, headers }),
          'insufficient_scope',
        );
        expect(refused.headers['www-authenticate']).to.include('scope="orders:read"');
      }
      expect((await service.get(item)).headers.etag).to.equal('"1"');
      const { key: token } = await makeKey(['webhooks:admin', 'products:read', 'orders:read']);
      const renewed = await service.post(`${item}/secret`, undefined, { token });
      expect([renewed.status, renewed.json.createdBy]).to.deep.equal([200, 1]);
      expect(renewed.json.secret).to.match(SECRET);
    });

    it('obey If-Match, and are gone when they are deleted', async () => {
      const { path: item } = await create();
      const stale = { headers: { 'If-Match': '"7"' } };
      for (const response of [await patch(item, { name: 'a' }, stale), await service.delete(item, stale)])
        expect([response.status, response.headers.etag]).to.deep.equal([412, '"1"']);
      const tag = { headers: { 'If-Match': '"1"' } };
      expect((await patch(item, { name: 'a' }, tag)).headers.etag).to.equal('"2"');
      expect((await service.delete(item, { headers: { 'If-Match': 'W/"2"' } })).status).to.equal(204);
      for (const [method, below] of [
        ['GET', ''],
        ['PATCH', ''],
        ['DELETE', ''],
        ['POST', '/secret'],
        ['GET', '/deliveries'],
        ['POST', '/deliveries'],
      ] as const)
        expect((await service.request(method, `${item}${below}`)).status, method + below).to.equal(404);
    });

    it('show a test, and their last 20 attempts, the newest first', async () => {
      const { path: item } = await create({ status: 'paused' });
      expect((await service.get(`${item}/deliveries`)).json).to.deep.equal([]);
      const sent = [];
      for (let number = 0; number < 21; number++) {
        const { status, json, headers } = await service.post(`${item}/deliveries`, undefined);
        expect([status, headers['cache-control']]).to.deep.equal([201, 'no-store']);
        const error = 'The connection failed (ECONNREFUSED)';
        expect(json).to.deep.equal({ at: json.at, type: 'webhook.test', changes: 0, error });
        sent.push(json);
      }
      expect((await service.get(`${item}/deliveries`)).json).to.deep.equal(sent.reverse().slice(0, 20));
      const { json } = await service.get(item);
      expect(json).to.not.have.any.keys('lastDeliveryAt', 'lastError');
    });

    it('are listed by name and maker, sorted and paged', async () => {
      const name = randomUUID();
      const { id: maker, key: token } = await makeKey(['webhooks:admin', 'products:read']);
      const ids: number[] = [];
      for (const n of [2, 1, 3]) ids.push((await create({ name: `${name} ${n}` }, { token })).id);
      const [two, one, three] = ids;
      const idsOf = async (query: string) =>
        (await service.get(`${path}?${query}`)).json.map(({ id }: { id: number }) => id);
      expect(await idsOf(`name.prefix=${name}&sort=-name`)).to.deep.equal([three, two, one]);
      expect(await idsOf(`createdBy=${maker}&limit=2`)).to.deep.equal([two, one]);
      for (const query of ['secret=x', 'url=x', 'status=paused', 'resources=users', 'starts.exists=true'])
        expect((await service.get(`${path}?${query}`)).json.code, query).to.equal('unknown_parameter');
      const { json } = await service.get(`${path}/${one}?fields=id,status,version`);
      expect(json).to.deep.equal({ id: one, status: 'active', version: 1 });
      expect((await service.get(`${path}/${one}?fields=secret`)).status).to.equal(400);
    });

    it('have the methods of the contract', async () => {
      const { path: item } = await create();
      for (const [url, allow] of [
        [path, 'GET, HEAD, POST, OPTIONS'],
        [item, 'GET, HEAD, PATCH, DELETE, OPTIONS'],
        [`${item}/deliveries`, 'GET, HEAD, POST, OPTIONS'],
        [`${item}/secret`, 'POST, OPTIONS'],
      ] as const)
        expect((await service.request('OPTIONS', url, { token: null })).headers.allow).to.equal(allow);
      for (const url of [`${path}/imports`, `${item}/x`, `${item}/deliveries/1`, `${path}/changes`])
        expect((await service.get(url)).status, url).to.equal(404);
      const lines = await service.post(path, '{}\n', { headers: { 'Content-Type': 'application/x-ndjson' } });
      expect(lines.status).to.equal(415);
      expect(lines.json.message).to.not.include('imports');
    });
  });

describe('webhooks and access', () => {
  const issuer = new TestIssuer();
  const service = inProcessService(NETWORKS, { issuer });

  it('belong to keys: a client of another issuer makes none', async () => {
    const token = issuer.token({ scope: SCOPES.join(' ') });
    const { json } = await expectRefusal(service.post('/v1/webhooks', RECEIVER, { token }), 'insufficient_scope');
    expect(json.message).to.include('API key');
    const { id } = (await service.post('/v1/webhooks', RECEIVER)).json;
    const url = `/v1/webhooks/${id}`;
    expect((await service.patch(url, { name: 'y' }, { token })).status).to.equal(200);
    expect((await service.patch(url, { resources: [...RESOURCES] }, { token })).status).to.equal(403);
  });

  it('are not made with a key that another process has revoked', async () => {
    const made = await service.post('/v1/api-keys', { name: 'x', scopes: SCOPES });
    const { id, key: token } = made.json;
    expect((await service.get('/v1/webhooks', { token })).status).to.equal(200);
    const { apiKeys } = service.application.storage;
    const key = await apiKeys.find(id);
    await apiKeys.removeAll([{ id, expected: key?.version ?? 0, at: Date.now() }]);
    await expectRefusal(service.post('/v1/webhooks', RECEIVER, { token }), 'invalid_token');
  });
});

describe('webhooks and their transport', () => {
  const service = inProcessService(NETWORKS);

  it('look the host of another URL up on behalf of the caller, whose webhook it may not be', async () => {
    const { webhookTransport } = service.application;
    const asked: string[][] = [];
    webhookTransport.problemOf = async (...question) => {
      asked.push(question);
      return undefined;
    };
    const scopes = ['webhooks:admin', 'products:read'];
    const other = (await service.post('/v1/api-keys', { name: 'x', scopes })).json;
    const { id } = (await service.post('/v1/webhooks', RECEIVER)).json;
    const url = 'https://example.com/';
    await service.patch(`/v1/webhooks/${id}`, { url }, { token: other.key });
    await service.patch(`/v1/webhooks/${id}`, { name: 'y' });
    expect(asked).to.deep.equal([
      [RECEIVER.url, 'key:1'],
      [url, `key:${other.id}`],
    ]);
  });

  it('stay failing after a change of the name or the secret, and begin anew after others', async () => {
    const { id } = (await service.post('/v1/webhooks', { ...RECEIVER, status: 'paused' })).json;
    const item = `/v1/webhooks/${id}`;
    const { deliveries, storage } = service.application;
    const fail = async () => {
      const round = (await storage.webhooks.find(id))?.fields.round ?? 0;
      const failures = { round, count: 1, nextAt: Date.now() };
      await deliveries.change(id, (state) => ({ ...state, failures }));
    };
    const statusAfter = async (fields: object) => {
      await fail();
      const { status, json } = await service.patch(item, fields);
      expect(status).to.equal(200);
      return json.status;
    };
    expect(await statusAfter({ status: 'active' })).to.equal('active');
    expect(await statusAfter({ name: 'y', status: 'active' })).to.equal('failing');
    expect((await service.post(`${item}/secret`, undefined)).json.status).to.equal('failing');
    expect(await statusAfter({ url: 'https://127.0.0.1:9/other' })).to.equal('active');
    expect(await statusAfter({ resources: ['users'] })).to.equal('active');
    expect(await statusAfter({ status: 'paused' })).to.equal('paused');
  });

  it('say nothing of a test but in their attempts', async () => {
    const { id } = (await service.post('/v1/webhooks', RECEIVER)).json;
    const { deliveries, webhookTransport } = service.application;
    const known = { lastError: 'The receiver responded with 410', lastDeliveryAt: Date.UTC(2026, 0, 1) };
    await deliveries.change(id, (state) => ({ ...state, ...known }));
    const item = `/v1/webhooks/${id}`;
    const before = await service.get(item);
    webhookTransport.post = async () => ({ status: 204 });
    expect((await service.post(`${item}/deliveries`, undefined)).json.status).to.equal(204);
    expect((await service.get(item)).json).to.deep.equal(before.json);
    expect((await service.get(`${item}/deliveries`)).json).to.have.length(1);
  });
});

describe('webhooks and what a receiver or the service lacks', () => {
  const service = inProcessService(NETWORKS);
  const tested = async (post: WebhookTransport['post']) => {
    const { id } = (await service.post('/v1/webhooks', RECEIVER)).json;
    service.application.webhookTransport.post = post;
    const response = await service.post(`/v1/webhooks/${id}/deliveries`, undefined);
    return { response, attempts: (await service.get(`/v1/webhooks/${id}/deliveries`)).json };
  };

  it('show a status that HTTP does not know as an error', async () => {
    for (const status of [0, 99, 600, 999]) {
      const { response, attempts } = await tested(async () => ({ status }));
      const { at, ...rest } = response.json;
      const error = `The receiver responded with ${status}`;
      expect(rest).to.deep.equal({ type: 'webhook.test', changes: 0, error });
      expect(attempts).to.deep.equal([{ at, ...rest }]);
    }
  });

  it('respond with 503 to a test for which the service has no place, and keep no attempt', async () => {
    const { response, attempts } = await tested(() => Promise.reject(unavailable('No place.')));
    expect([response.status, response.json.code, attempts]).to.deep.equal([503, 'unavailable', []]);
  });

  it('can be shown, tested, mended and deleted also if this release cannot use what is stored', async () => {
    const { webhooks } = service.application.storage;
    for (const resources of [['baskets'], undefined]) {
      const { id } = (await service.post('/v1/webhooks', { ...RECEIVER, status: 'paused' })).json;
      const item = `/v1/webhooks/${id}`;
      const stored = await webhooks.find(id);
      const fields = { ...stored?.fields, resources } as unknown as Webhook;
      const record = { ...(stored as Versioned<Webhook>), version: 2, fields };
      await webhooks.replaceAll([{ record, expected: 1 }]);
      const request = (method: string, path: string, body?: object) => service.request(method, path, { body });
      const { documented } = service.client;
      // The document describes the collections of this release.
      service.client.documented = undefined;
      expect((await request('GET', item)).json.resources).to.deep.equal(resources);
      expect((await request('POST', `${item}/secret`)).status).to.equal(resources ? 403 : 400);
      service.client.documented = documented;
      expect((await request('POST', `${item}/deliveries`)).json.error).to.match(/this release does not know/);
      expect((await request('PATCH', item, { resources: ['users'] })).status).to.equal(200);
      expect((await request('DELETE', item)).status).to.equal(204);
    }
  });

  it('say what is wrong with a URL', async () => {
    for (const [url, rule] of [
      ['https://127.0.0.1:65536/', 'must have a port from 1 to 65535, such as https://search.example.com:8443/hook.'],
      [
        'https://nobody.invalid/',
        'must name a host that has an address: the service finds none by its hosts file and by DNS.',
      ],
      [
        'https://10.0.0.1/',
        'must name a host all of whose addresses are public, or in WEBHOOK_NETWORKS, such as 10.20.0.0/16.',
      ],
    ]) {
      const { json } = await service.post('/v1/webhooks', { ...RECEIVER, url });
      expect(json.details).to.deep.equal([
        { code: 'invalid_format', message: `url ${rule}`, in: 'body', pointer: '/url' },
      ]);
    }
  });
});

for (const store of HTTP_STORE_NAMES)
  describe(`the limits of webhooks on ${store}`, () => {
    const service = inProcessService({ STORE: store, ...NETWORKS });
    const PAUSED = { ...RECEIVER, status: 'paused' };
    const makeKey = async () =>
      (await service.post('/v1/api-keys', { name: 'x', scopes: SCOPES })).json as {
        id: number;
        key: string;
      };
    const make = (token: string, count: number, key?: string) =>
      Promise.all(
        Array.from({ length: count }, () =>
          service.post('/v1/webhooks', PAUSED, { token, ...(key && withIdempotencyKey(key)) }),
        ),
      );
    const statuses = (responses: readonly HttpResponse[]) => {
      const counts: Record<number, number> = {};
      for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
      return counts;
    };

    it('are 100 of a key, exactly, at POST and at a PATCH that makes the key its owner', async () => {
      const [one, other] = [await makeKey(), await makeKey()];
      const replay = randomUUID();
      const [first] = await make(one.key, 1, replay);
      expect(statuses(await make(one.key, 120))).to.deep.equal({ 201: 99, 409: 21 });
      const [refused] = await make(one.key, 1);
      expect([refused?.json.code, refused?.json.details]).to.deep.equal(['limit_reached', []]);
      const [again] = await make(one.key, 1, replay);
      expect([again?.status, again?.json.id]).to.deep.equal([201, first?.json.id]);
      const [{ json: foreign } = { json: {} }] = await make(other.key, 1);
      const patch = (id: number, fields: object, token: string) =>
        service.patch(`/v1/webhooks/${id}`, fields, { token });
      await expectRefusal(patch(foreign.id, { resources: ['users'] }, one.key), 'limit_reached');
      expect((await patch(foreign.id, { name: 'y' }, one.key)).status).to.equal(200);
      const own = first?.json.id;
      expect((await patch(own, { url: 'https://127.0.0.2:9/' }, one.key)).status, 'no further one').to.equal(200);
      expect((await patch(own, { resources: ['users'] }, other.key)).status).to.equal(200);
      expect(statuses(await make(one.key, 2)), 'one has left').to.deep.equal({ 201: 1, 409: 1 });
      expect((await service.delete(`/v1/webhooks/${foreign.id}`)).status).to.equal(204);
    });

    it('are 1,000 in all; those beyond stay and can be changed', async () => {
      const { webhooks } = service.application.storage;
      const { records } = await webhooks.list({ limit: 1, filters: [], order: BY_ID });
      const [{ fields, createdAt } = { fields: {} as Webhook, createdAt: 0 }] = records;
      const has = await webhooks.count([]);
      const add = async (count: number) => {
        const id = await webhooks.reserveIds(count);
        await webhooks.insertAll(
          Array.from({ length: count }, (_, at) => {
            const maker = 1_000 + (at % 11);
            const own = { ...fields, createdBy: maker };
            return { id: id + at, version: 1, createdAt, updatedAt: createdAt, fields: own };
          }),
        );
        return id;
      };
      await add(998 - has);
      const keys = [await makeKey(), await makeKey()];
      const made = (await Promise.all(keys.map(({ key }) => make(key, 3)))).flat();
      expect(statuses(made)).to.deep.equal({ 201: 2, 409: 4 });
      const beyond = await add(5);
      const taken = await service.patch(`/v1/webhooks/${beyond}`, { resources: ['users'] });
      expect([taken.status, taken.json.createdBy], 'it is no further one').to.deep.equal([200, 1]);
    });
  });

describe('REQUIRE_IF_MATCH and webhooks', () => {
  const service = inProcessService({ REQUIRE_IF_MATCH: 'true', ...NETWORKS });

  it('requires If-Match to change, to delete and to give a new secret', async () => {
    const { id } = (await service.post('/webhooks', RECEIVER)).json;
    for (const [method, url, body] of [
      ['PATCH', `/webhooks/${id}`, { name: 'y' }],
      ['POST', `/webhooks/${id}/secret`, undefined],
      ['DELETE', `/webhooks/${id}`, undefined],
    ] as const) {
      expect((await service.request(method, url, { body })).status, url).to.equal(428);
      const headers = { 'If-Match': '*' };
      expect((await service.request(method, url, { body, headers })).status, url).to.be.within(200, 204);
    }
  });
});

describe('CHANGES=off and webhooks', () => {
  const service = inProcessService({ CHANGES: 'off', ...NETWORKS });

  it('has none', async () => {
    for (const url of ['/v1/webhooks', '/webhooks/1', '/v1/webhooks/1/deliveries'])
      expect((await service.get(url)).status, url).to.equal(404);
    expect((await service.get('/')).json).to.not.have.property('webhooks');
  });
});

describe('the setting WEBHOOK_NETWORKS', () => {
  const service = inProcessService();

  it('allows nothing by default: not this machine', async () => {
    for (const url of [RECEIVER.url, 'https://localhost:9/', 'https://[::1]/', 'https://0.0.0.0/']) {
      const attempt = service.post('/v1/webhooks', { ...RECEIVER, url });
      await expectIssues(attempt, 'validation_failed', ['invalid_format /url'], url);
    }
    const literal = { ...RECEIVER, url: 'https://1.1.1.1/', status: 'paused' };
    const { status, json } = await service.post('/v1/webhooks', literal);
    expect([status, json.status]).to.deep.equal([201, 'paused']);
  });
});
