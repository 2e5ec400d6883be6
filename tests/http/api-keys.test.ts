import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { credentialDigest } from '#src/application/auth/credential-cache.js';
import { SCOPES } from '#src/domain/access.js';
import { isWellFormedKey } from '#src/shared/api-key-format.js';
import { HTTP_STORE_NAMES } from '../stores/index.js';
import {
  expectIssues,
  expectRefusal,
  type HttpClient,
  type HttpResponse,
  type RequestOptions,
  refusalOf,
} from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { linksOf } from '../support/links.js';
import { list } from '../support/list.js';
import { ALTERED_TAGS } from './resource/conditions.js';

const KEY = /pcs_[0-9A-Za-z]{36}/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** What the service says of a key. */
const READ_ONLY = list`createdAt  createdBy  createdBySubject  id  key  lastUsedAt  updatedAt  usage  version`;
const READER = { name: 'web shop', scopes: ['products:read'] };

const withIdempotencyKey = (key: string): RequestOptions => ({ headers: { 'Idempotency-Key': key } });
const replayed = ({ headers }: HttpResponse) => headers['idempotency-replayed'];

/** Polls until `lastUsedAt` is set: the service records the use of a key after the response. */
async function pollUntilUsed(request: HttpClient, path: string): Promise<HttpResponse> {
  let response = await request.get(path);
  while (!response.json.lastUsedAt) response = await request.get(path);
  return response;
}

for (const store of HTTP_STORE_NAMES) {
  describe(`API keys on ${store}`, () => {
    const path = '/v1/api-keys';
    const service = inProcessService({ STORE: store });
    const createKey = async (fields: object = READER, options: RequestOptions = {}) => {
      const response = await service.post(path, fields, options);
      expect(response.status, response.text).to.equal(201);
      const { id, key } = response.json;
      return { response, id, key, path: `${path}/${id}` };
    };
    const count = async () =>
      Number((await service.get(path, { headers: { Prefer: 'count=exact' } })).headers['x-total-count'] as string);

    describe('POST', () => {
      it('creates a key and returns its secret', async () => {
        const before = Date.now();
        const { response, id, key } = await createKey({ ...READER, expiresAt: '2099-12-31T23:59:59+0100' });
        const { createdAt } = response.json;
        expect(response.text).to.equal(
          JSON.stringify({ id, ...READER, expiresAt: '2099-12-31T22:59:59.000Z', createdAt, createdBy: 1, key }),
        );
        expect(isWellFormedKey(key)).to.equal(true);
        expect(createdAt).to.match(INSTANT);
        expect(Date.parse(createdAt)).to.be.within(before, Date.now());
        expect(response.headers).to.include({
          location: `/v1/api-keys/${id}`,
          etag: '"1"',
          'content-type': 'application/json',
          'cache-control': 'no-store',
          'api-version': '1',
        });
      });

      it('returns the full body despite Prefer: return=minimal, since the secret is shown only once', async () => {
        const { response, key } = await createKey(READER, { headers: { Prefer: 'return=minimal' } });
        expect(key).to.match(KEY);
        expect(response.headers).to.not.have.property('preference-applied');
      });

      // The rules of each field are tested in unit/domain/validation.test.ts.
      const ISSUES: readonly (readonly [title: string, body: unknown, ...issues: string[]])[] = [
        ['a body that is not an object', [], 'invalid_type '],
        [
          'several invalid fields',
          { name: ' ', scopes: ['products:read', 'products:own', 7, 'products:read'], expiresAt: 'soon', x: 1 },
          ...list`duplicate_value /scopes/3  invalid_format /expiresAt  invalid_format /name  invalid_format /scopes/1
            invalid_type /scopes/2  unknown_field /x`,
        ],
        ['an expiry in the past', { ...READER, expiresAt: '2020-01-01T00:00:00Z' }, 'out_of_range /expiresAt'],
        [
          'read-only fields',
          { ...READER, ...Object.fromEntries(READ_ONLY.map((field) => [field, 1])) },
          ...READ_ONLY.map((field) => `read_only_field /${field}`),
        ],
      ];

      for (const [title, body, ...issues] of ISSUES)
        it(`rejects ${title} and creates nothing`, async () => {
          const before = await count();
          const response = await service.post(path, body);
          const [status, code, ...found] = refusalOf(response);
          expect([status, code, ...found.toSorted()]).to.deep.equal([400, 'validation_failed', ...issues]);
          expect(await count()).to.equal(before);
        });

      it('refuses to grant scopes that the creator lacks, and names them', async () => {
        const { key: token } = await createKey({ name: 'x', scopes: ['keys:admin', 'users:read'] });
        const before = await count();
        for (const [scopes, missing] of [
          [['users:read', 'users:write'], 'users:write'],
          [['products:read', 'keys:admin', 'orders:write'], 'products:read orders:write'],
        ] as const) {
          const attempt = service.post(path, { name: 'x', scopes }, { token });
          const response = await expectRefusal(attempt, 'insufficient_scope');
          expect(response.headers['www-authenticate']).to.match(
            new RegExp(`^Bearer error="insufficient_scope", scope="${missing}", resource_metadata="https:`),
          );
        }
        expect(await count()).to.equal(before);
        const response = await service.post(path, { name: 'x', scopes: ['users:read', 'keys:admin'] }, { token });
        expect(response.status).to.equal(201);
      });

      it('reports validation errors before missing scopes', async () => {
        const { key: token } = await createKey({ name: 'x', scopes: ['keys:admin'] });
        const unnamed = service.post(path, { name: '', scopes: ['users:read'] }, { token });
        await expectIssues(unnamed, 'validation_failed', ['too_short /name']);
      });

      it('accepts JSON only, not NDJSON', async () => {
        for (const type of ['application/x-ndjson', 'text/plain']) {
          const headers = { 'Content-Type': type };
          const response = await expectRefusal(service.post(path, READER, { headers }), 'unsupported_media_type');
          expect(response.json.message).to.include('application/json').and.not.include('ndjson');
          await expectRefusal(service.post(`${path}/imports`, '{}\n', { headers }), 'not_found');
        }
      });
    });

    describe('POST with an Idempotency-Key', () => {
      it('creates one key and shows its secret only in the first response', async () => {
        const idempotencyKey = randomUUID();
        const fields = { ...READER, expiresAt: '2099-01-01T00:00:00Z' };
        const { response, key, id } = await createKey(fields, withIdempotencyKey(idempotencyKey));
        expect(replayed(response)).to.equal(undefined);
        const { key: _, ...rest } = response.json;
        const reordered = { expiresAt: '2099-01-01T00:00:00Z', ...READER };
        for (const use of [
          undefined,
          () => service.get('/products', { token: key }),
          () => service.delete(`${path}/${id}`),
        ]) {
          await use?.();
          const again = await createKey(reordered, withIdempotencyKey(idempotencyKey));
          expect(replayed(again.response)).to.equal('true');
          expect(again.response.text).to.equal(JSON.stringify(rest));
          expect(again.response.headers).to.include({ location: response.headers.location, etag: '"1"' });
        }
      });

      it('scopes the Idempotency-Key to the API key that sends it', async () => {
        const options = withIdempotencyKey(randomUUID());
        const { id, key: token } = await createKey({ name: 'x', scopes: [...SCOPES] }, options);
        const other = await createKey({ name: 'x', scopes: [...SCOPES] }, { ...options, token });
        expect(other.id).to.not.equal(id);
        expect(other.key).to.match(KEY);
      });
    });

    describe('GET', () => {
      it('shows a key without its secret, and its last use to the minute', async () => {
        const { response, key, path: item } = await createKey();
        const { key: _, ...rest } = response.json;
        const unused = await service.get(item);
        expect([unused.status, unused.text]).to.deep.equal([200, JSON.stringify(rest)]);
        expect(unused.headers).to.include({ etag: '"1"', 'cache-control': 'no-store' });
        const before = Date.now();
        await service.get('/products', { token: key });
        const { lastUsedAt } = (await pollUntilUsed(service.client, item)).json;
        expect(lastUsedAt).to.match(/T\d\d:\d\d:00\.000Z$/);
        expect(Date.parse(lastUsedAt)).to.be.within(before - 60_000, Date.now());
      });

      it('lists keys as an array, filtered, sorted and paged like other lists', async () => {
        const name = randomUUID();
        const ids: number[] = [];
        for (const n of [2, 3, 1]) ids.push((await createKey({ ...READER, name: `${name} ${n}` })).id);
        const [two, three, one] = ids;
        const query = `${path}?name.prefix=${name}&sort=-name&limit=2`;
        const page = await service.get(query, { headers: { Prefer: 'count=exact' } });
        expect(page.json.map(({ id }: { id: number }) => id)).to.deep.equal([three, two]);
        expect(page.headers).to.include({ 'x-total-count': '3', 'cache-control': 'no-store' });
        const { next = '' } = linksOf(page.headers['link']);
        expect(next.startsWith(`${path}?`)).to.equal(true);
        expect((await service.get(next)).json.map(({ id }: { id: number }) => id)).to.deep.equal([one]);
        const lines = await service.get(`${path}?id=${two}`, { headers: { Accept: 'application/x-ndjson' } });
        expect(JSON.parse(lines.text)).to.deep.equal((await service.get(`${path}/${two}`)).json);
        for (const query of ['sort=createdAt', 'sort=-updatedAt,id', 'createdAt.gte=2020-01-01T00:00:00Z'])
          expect((await service.get(`${path}?${query}`)).status, query).to.equal(200);
      });

      it('never shows a secret or its digest, and rejects queries for them', async () => {
        const { key } = await createKey();
        const digest = credentialDigest(key);
        for (const query of ['', '?sort=-id&limit=1', '?fields=id,name,scopes,expiresAt,lastUsedAt,version'])
          for (const Accept of ['application/json', 'application/x-ndjson']) {
            const { status, text } = await service.get(path + query, { headers: { Accept } });
            expect(status).to.equal(200);
            expect(text).to.not.match(KEY).and.not.include(digest).and.not.include('digest');
          }
        for (const query of ['fields=digest', 'fields=key', 'sort=digest', 'sort=lastUsedAt', 'sort=key'])
          expect((await service.get(`${path}?${query}`)).json.code, query).to.equal('invalid_parameter');
        for (const query of [
          `digest=${digest}`,
          `digest.prefix=${digest[0]}`,
          `digest.in=${digest}`,
          `key=${key}`,
          'scopes=keys:admin',
          'lastUsedAt.lt=2030-01-01T00:00:00Z',
        ]) {
          const response = await service.get(`${path}?${query}`);
          expect(response.json.code, query).to.equal('unknown_parameter');
        }
      });
    });

    describe('DELETE', () => {
      it('revokes immediately, after which the key is 404', async () => {
        const { key: token, path: item } = await createKey();
        for (let i = 0; i < 3; i++) expect((await service.get('/products', { token })).status).to.equal(200);
        const gone = await service.delete(item);
        expect([gone.status, gone.text]).to.deep.equal([204, '']);
        expect((await service.get('/products', { token })).json.code).to.equal('invalid_token');
        for (const method of ['GET', 'HEAD', 'DELETE'])
          expect((await service.request(method, item)).status, method).to.equal(404);
      });

      it('respects If-Match, and accepts an older ETag if only lastUsedAt changed', async () => {
        const when = (item: string, tag: string, name = 'If-Match') =>
          service.delete(item, { headers: { [name]: tag } });
        const used = async () => {
          const { response, key, path: item } = await createKey();
          await service.get('/products', { token: key });
          return {
            item,
            first: `${response.headers.etag}`,
            now: `${(await pollUntilUsed(service.client, item)).headers.etag}`,
          };
        };
        const { item, first, now } = await used();
        for (const tag of ['"2"', 'W/"2"', '"2-gzip"', '"2@1"', '"1:id"', '"1@"', '"1@1:id"']) {
          const response = await when(item, tag);
          expect((await expectRefusal(response, 'precondition_failed', tag)).headers.etag).to.equal(now);
        }
        expect((await when(item, '1')).status).to.equal(400);
        for (const alter of ALTERED_TAGS) expect((await when(item, alter(now), 'If-None-Match')).status).to.equal(412);
        expect((await when(item, `"7", ${first}`)).status).to.equal(204);
        for (const tagOf of [({ now }: { now: string }) => now, ({ now }: { now: string }) => `W/${now}`, () => '*']) {
          const other = await used();
          expect((await when(other.item, tagOf(other))).status).to.equal(204);
        }
      });

      it('lets keys:admin revoke any key, including itself and keys with more scopes', async () => {
        const { path: powerful } = await createKey({ name: 'x', scopes: [...SCOPES] });
        const { key: token, path: own } = await createKey({ name: 'x', scopes: ['keys:admin'] });
        expect((await service.delete(powerful, { token })).status).to.equal(204);
        expect((await service.delete(own, { token })).status).to.equal(204);
        expect((await service.get(path, { token })).status).to.equal(401);
      });
    });
  });

  describe(`an API key with an expiry, on ${store}`, () => {
    const service = inProcessService({ STORE: store });

    it('works until it expires, and is then rejected with token_expired', async () => {
      const expiresAt = new Date(service.clock.now() + 60_000).toISOString();
      const body = { ...READER, expiresAt };
      const idempotencyKey = withIdempotencyKey(randomUUID());
      const first = await service.post('/api-keys', body, idempotencyKey);
      const { id, key: token } = first.json;
      expect((await service.get('/products', { token })).status).to.equal(200);
      service.clock.pass(60_000);
      await expectRefusal(service.get('/products', { token }), 'token_expired');
      expect((await service.get(`/api-keys/${id}`)).json.expiresAt).to.equal(expiresAt);
      const again = await service.post('/api-keys', body, idempotencyKey);
      // It is replayed, although the expiry is in the past now.
      expect([again.status, replayed(again), again.json.id]).to.deep.equal([201, 'true', id]);
      expect((await service.post('/api-keys', body)).status).to.equal(400);
    });
  });
}

describe('REQUIRE_IF_MATCH and API keys', () => {
  const service = inProcessService({ REQUIRE_IF_MATCH: 'true' });

  it('requires If-Match to revoke a key', async () => {
    const { id } = (await service.post('/api-keys', READER)).json;
    const path = `/api-keys/${id}`;
    await expectRefusal(service.delete(path), 'precondition_required');
    expect((await service.delete(path, { headers: { 'If-Match': '"1"' } })).status).to.equal(204);
  });
});
