import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ChecksummedApiKey } from '#src/adapters/outbound/tokens/api-key-format.js';
import { SCOPES } from '#src/domain/access.js';
import {
  type HttpClient,
  type HttpResponse,
  issueLocations,
  type RequestOptions,
} from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { LOCAL_STORE_NAMES } from '../support/local-stores.js';

const KEY = /pcs_[0-9A-Za-z]{36}/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const READER = { name: 'web shop', scopes: ['products:read'] };

const keyed = (key: string): RequestOptions => ({ headers: { 'Idempotency-Key': key } });
const replayed = ({ headers }: HttpResponse) => headers['idempotency-replayed'];

/** Asks until the use of a key, which is noted behind the request, is shown. */
async function used(request: HttpClient, path: string): Promise<HttpResponse> {
  let response = await request.get(path);
  while (!response.json.lastUsedAt) response = await request.get(path);
  return response;
}

for (const store of LOCAL_STORE_NAMES) {
  for (const path of ['/v1/api-keys', '/api-keys']) {
    describe(`API keys at ${path} on ${store}`, () => {
      const service = inProcessService({ STORE: store });
      const request = () => service.client;
      const made = async (fields: object = READER, options: RequestOptions = {}) => {
        const response = await request().post(path, fields, options);
        expect(response.status, response.text).to.equal(201);
        const { id, key } = response.json;
        return { response, id, key, path: `${path}/${id}` };
      };
      const count = async () =>
        Number(
          (await request().get(path, { headers: { Prefer: 'count=exact' } })).headers[
            'x-total-count'
          ] as string,
        );

      describe('POST', () => {
        it('makes a key and shows it, this once', async () => {
          const before = Date.now();
          const { response, id, key } = await made({ ...READER, expiresAt: '2099-12-31T23:59:59+01:00' });
          const { createdAt } = response.json;
          expect(response.text).to.equal(
            JSON.stringify({ id, ...READER, expiresAt: '2099-12-31T22:59:59.000Z', createdAt, key }),
          );
          expect(new ChecksummedApiKey().isWellFormed(key)).to.equal(true);
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

        it('makes one that is good at once, for its scopes and no others', async () => {
          const { key: token } = await made();
          expect((await request().get('/products', { token })).status).to.equal(200);
          expect((await request().post('/products', { name: 'x' }, { token })).status).to.equal(403);
          expect((await request().get(path, { token })).status).to.equal(403);
        });

        it('leaves nothing out, whatever is preferred: the key would be lost', async () => {
          const { response, key } = await made(READER, { headers: { Prefer: 'return=minimal' } });
          expect(key).to.match(KEY);
          expect(response.headers).to.not.have.property('preference-applied');
        });

        const ISSUES: readonly (readonly [what: string, body: unknown, issues: [string, string][]])[] = [
          ['no object', [], [['invalid_type', '']]],
          [
            'nothing',
            {},
            [
              ['required', '/name'],
              ['required', '/scopes'],
            ],
          ],
          [
            'all at once',
            {
              name: ' ',
              scopes: ['products:read', 'products:own', 7, 'products:read'],
              expiresAt: 'soon',
              x: 1,
            },
            [
              ['duplicate_value', '/scopes/3'],
              ['invalid_format', '/expiresAt'],
              ['invalid_format', '/name'],
              ['invalid_format', '/scopes/1'],
              ['invalid_type', '/scopes/2'],
              ['unknown_field', '/x'],
            ],
          ],
          ['no scope', { ...READER, scopes: [] }, [['too_short', '/scopes']]],
          ['no list of scopes', { ...READER, scopes: 'products:read' }, [['invalid_type', '/scopes']]],
          [
            'too many scopes',
            { ...READER, scopes: [...SCOPES, 'keys:admin'] },
            [
              ['duplicate_value', `/scopes/${SCOPES.length}`],
              ['too_long', '/scopes'],
            ],
          ],
          [
            'a moment that is over',
            { ...READER, expiresAt: '2020-01-01T00:00:00Z' },
            [['out_of_range', '/expiresAt']],
          ],
          [
            'a moment that no answer could tell',
            { ...READER, expiresAt: '9999-12-31T23:59:59-01:00' },
            [['out_of_range', '/expiresAt']],
          ],
          [
            'a day that does not exist',
            { ...READER, expiresAt: '2090-02-30T00:00:00Z' },
            [['invalid_format', '/expiresAt']],
          ],
          [
            'no text for a moment',
            { ...READER, expiresAt: 4_102_444_800_000 },
            [['invalid_type', '/expiresAt']],
          ],
          ['null for a moment', { ...READER, expiresAt: null }, [['invalid_type', '/expiresAt']]],
          [
            'what the service gives',
            { ...READER, id: 1, version: 1, createdAt: 'x', updatedAt: 'x', lastUsedAt: 'x', key: 'x' },
            ['createdAt', 'id', 'key', 'lastUsedAt', 'updatedAt', 'version'].map((field) => [
              'read_only_field',
              `/${field}`,
            ]),
          ],
          ['a digest', { ...READER, digest: 'x' }, [['unknown_field', '/digest']]],
        ];

        for (const [what, body, issues] of ISSUES) {
          it(`tells what is wrong with ${what}, and makes nothing`, async () => {
            const before = await count();
            const response = await request().post(path, body);
            expect([response.status, response.json.code]).to.deep.equal([400, 'validation_failed']);
            expect(issueLocations(response).toSorted()).to.deep.equal(issues.toSorted());
            expect(await count()).to.equal(before);
          });
        }

        it('gives out no scope that its maker lacks, and names those', async () => {
          const { key: token } = await made({ name: 'x', scopes: ['keys:admin', 'users:read'] });
          const before = await count();
          for (const [scopes, missing] of [
            [['users:read', 'users:write'], 'users:write'],
            [['products:read', 'keys:admin', 'orders:write'], 'products:read orders:write'],
          ] as const) {
            const response = await request().post(path, { name: 'x', scopes }, { token });
            expect([response.status, response.json.code]).to.deep.equal([403, 'insufficient_scope']);
            expect(response.headers['www-authenticate']).to.match(
              new RegExp(`^Bearer error="insufficient_scope", scope="${missing}", resource_metadata="https:`),
            );
          }
          expect(await count()).to.equal(before);
          const response = await request().post(
            path,
            { name: 'x', scopes: ['users:read', 'keys:admin'] },
            { token },
          );
          expect(response.status).to.equal(201);
        });

        it('tells what is wrong with the body before it says what its maker lacks', async () => {
          const { key: token } = await made({ name: 'x', scopes: ['keys:admin'] });
          const response = await request().post(path, { name: '', scopes: ['users:read'] }, { token });
          expect([response.status, issueLocations(response)]).to.deep.equal([400, [['too_short', '/name']]]);
        });

        it('takes JSON and no stream of lines', async () => {
          for (const type of ['application/x-ndjson', 'text/plain']) {
            const headers = { 'Content-Type': type };
            const response = await request().post(path, READER, { headers });
            expect([response.status, response.json.code]).to.deep.equal([415, 'unsupported_media_type']);
            expect(response.json.message).to.include('application/json').and.not.include('ndjson');
          }
        });
      });

      describe('POST under an Idempotency-Key', () => {
        it('makes one key, and shows it in the first answer alone', async () => {
          const idempotencyKey = randomUUID();
          const { response, key, id } = await made(
            { ...READER, expiresAt: '2099-01-01T00:00:00Z' },
            keyed(idempotencyKey),
          );
          expect(replayed(response)).to.equal(undefined);
          const { key: _, ...rest } = response.json;
          const reordered = { expiresAt: '2099-01-01T00:00:00Z', ...READER };
          for (const use of [
            undefined,
            () => request().get('/products', { token: key }),
            () => request().delete(`${path}/${id}`),
          ]) {
            await use?.();
            const again = await made(reordered, keyed(idempotencyKey));
            expect(replayed(again.response)).to.equal('true');
            expect(again.response.text).to.equal(JSON.stringify(rest));
            expect(again.response.headers).to.include({ location: response.headers.location, etag: '"1"' });
          }
        });

        it('gives exactly one of many requests at once a key, and it is good', async () => {
          const options = keyed(randomUUID());
          const before = await count();
          const responses = await Promise.all(Array.from({ length: 20 }, () => made(READER, options)));
          expect(await count()).to.equal(before + 1);
          const winners = responses.filter(({ key }) => key !== undefined);
          expect(winners.map(({ response }) => replayed(response))).to.deep.equal([undefined]);
          const shown = responses.map(({ response }) => JSON.stringify({ ...response.json, key: undefined }));
          expect(new Set(shown)).to.have.length(1);
          expect((await request().get('/products', { token: winners[0]?.key })).status).to.equal(200);
        });

        it('is refused for another body', async () => {
          const options = keyed(randomUUID());
          await made(READER, options);
          const response = await request().post(path, { ...READER, name: 'another' }, options);
          expect([response.status, response.json.code]).to.deep.equal([422, 'idempotency_key_reused']);
        });

        it('belongs to who sends it', async () => {
          const options = keyed(randomUUID());
          const { id, key: token } = await made({ name: 'x', scopes: [...SCOPES] }, options);
          const other = await made({ name: 'x', scopes: [...SCOPES] }, { ...options, token });
          expect(other.id).to.not.equal(id);
          expect(other.key).to.match(KEY);
        });
      });

      describe('GET', () => {
        it('shows a key without its secret, and when it was last used, to the minute', async () => {
          const { response, key, path: item } = await made();
          const { key: _, ...rest } = response.json;
          const unused = await request().get(item);
          expect([unused.status, unused.text]).to.deep.equal([200, JSON.stringify(rest)]);
          expect(unused.headers).to.include({ etag: '"1"', 'cache-control': 'no-store' });
          const before = Date.now();
          await request().get('/products', { token: key });
          const { lastUsedAt } = (await used(request(), item)).json;
          expect(lastUsedAt).to.match(/T\d\d:\d\d:00\.000Z$/);
          expect(Date.parse(lastUsedAt)).to.be.within(before - 60_000, Date.now());
        });

        it('tells by its tag what was last told, the last use too', async () => {
          const { key, path: item } = await made();
          const first = (await request().get(item)).headers.etag ?? '';
          expect((await request().get(item, { headers: { 'If-None-Match': first } })).status).to.equal(304);
          await request().get('/products', { token: key });
          const second = (await used(request(), item)).headers.etag ?? '';
          expect(second).to.not.equal(first);
          expect((await request().get(item, { headers: { 'If-None-Match': first } })).status).to.equal(200);
          expect((await request().get(item, { headers: { 'If-None-Match': second } })).status).to.equal(304);
        });

        it('leaves version and updatedAt as they are when a key is used', async () => {
          const { response, key, path: item } = await made();
          await request().get('/products', { token: key });
          await used(request(), item);
          const { version, updatedAt } = (await request().get(`${item}?fields=version,updatedAt`)).json;
          expect([version, updatedAt]).to.deep.equal([1, response.json.createdAt]);
        });

        it('shows what fields names, the usual ones and the rest of the metadata', async () => {
          const { response, id, path: item } = await made();
          const shown = (await request().get(`${item}?fields=version,createdAt,name`)).text;
          const { createdAt } = response.json;
          expect(shown).to.equal(JSON.stringify({ name: READER.name, createdAt, version: 1 }));
          expect((await request().get(`${path}?id=${id}&fields=id,lastUsedAt`)).json).to.deep.equal([{ id }]);
        });

        it('lists keys as a bare array, filtered, sorted and paged as elsewhere', async () => {
          const name = randomUUID();
          const ids: number[] = [];
          for (const n of [2, 3, 1]) ids.push((await made({ ...READER, name: `${name} ${n}` })).id);
          const [two, three, one] = ids;
          const requested = `${path}?name:prefix=${name}&sort=-name&limit=2`;
          const page = await request().get(requested, { headers: { Prefer: 'count=exact' } });
          expect(page.json.map(({ id }: { id: number }) => id)).to.deep.equal([three, two]);
          expect(page.headers).to.include({ 'x-total-count': '3', 'cache-control': 'no-store' });
          const [, next = ''] = /<([^>]*)>; rel="next"/.exec(String(page.headers['link'])) ?? [];
          expect(next.startsWith(`${path}?`)).to.equal(true);
          expect((await request().get(next)).json.map(({ id }: { id: number }) => id)).to.deep.equal([one]);
          const { etag = '' } = page.headers;
          expect(etag).to.match(/^W\//);
          const headers = { Prefer: 'count=exact', 'If-None-Match': etag };
          expect((await request().get(requested, { headers })).status).to.equal(304);
          const lines = await request().get(`${path}?id:in=${ids}`, {
            headers: { Accept: 'application/x-ndjson' },
          });
          expect(lines.text.trim().split('\n')).to.have.length(3);
          expect(JSON.parse(lines.text.split('\n')[0] ?? '')).to.deep.equal(
            (await request().get(`${path}/${two}`)).json,
          );
          for (const query of ['sort=createdAt', 'sort=-updatedAt,id', 'createdAt:gte=2020-01-01T00:00:00Z'])
            expect((await request().get(`${path}?${query}`)).status, query).to.equal(200);
        });

        it('never shows a secret or its digest, nor can be asked for it', async () => {
          const { key } = await made();
          const digest = new ChecksummedApiKey().digest(key);
          for (const query of [
            '',
            '?sort=-id&limit=1',
            '?fields=id,name,scopes,expiresAt,lastUsedAt,version',
          ]) {
            for (const Accept of ['application/json', 'application/x-ndjson']) {
              const { status, text } = await request().get(path + query, { headers: { Accept } });
              expect(status).to.equal(200);
              expect(text).to.not.match(KEY).and.not.include(digest).and.not.include('digest');
            }
          }
          for (const query of ['fields=digest', 'fields=key', 'sort=digest', 'sort=lastUsedAt', 'sort=key']) {
            expect((await request().get(`${path}?${query}`)).json.code, query).to.equal('invalid_parameter');
          }
          for (const query of [
            `digest=${digest}`,
            `digest:prefix=${digest[0]}`,
            `digest:in=${digest}`,
            `key=${key}`,
            'scopes=keys:admin',
            'lastUsedAt:lt=2030-01-01T00:00:00Z',
          ]) {
            const response = await request().get(`${path}?${query}`);
            expect(response.json.code, query).to.equal('unknown_parameter');
          }
        });
      });

      describe('DELETE', () => {
        it('revokes at once, and everything afterwards is 404', async () => {
          const { key: token, path: item } = await made();
          for (let i = 0; i < 3; i++)
            expect((await request().get('/products', { token })).status).to.equal(200);
          const gone = await request().delete(item);
          expect([gone.status, gone.text]).to.deep.equal([204, '']);
          expect((await request().get('/products', { token })).json.code).to.equal('invalid_token');
          for (const method of ['GET', 'HEAD', 'DELETE'])
            expect((await request().request(method, item)).status, method).to.equal(404);
        });

        it('revokes also while the key is being looked up, over and over', async () => {
          const { key: token, path: item } = await made();
          let isOver = false;
          const users = Array.from({ length: 8 }, async () => {
            while (!isOver) await request().get('/products?limit=1', { token });
          });
          await request().get('/products', { token });
          await request().delete(item);
          isOver = true;
          await Promise.all(users);
          expect((await request().get('/products', { token })).status).to.not.equal(200);
        });

        it('heeds If-Match, and is not late because the key is in use', async () => {
          const { key, path: item } = await made();
          const seen = (await request().get(item)).headers.etag ?? '';
          await request().get('/products', { token: key });
          const newer = (await used(request(), item)).headers.etag ?? '';
          const when = (tag: string, name = 'If-Match') =>
            request().delete(item, { headers: { [name]: tag } });
          for (const tag of ['"2"', '"2@1"', `W/${newer}`, '"1:id"', '"1@"', '"1@1:id"']) {
            const response = await when(tag);
            expect([response.status, response.json.code, response.headers.etag], tag).to.deep.equal([
              412,
              'precondition_failed',
              newer,
            ]);
          }
          expect((await when('1')).status).to.equal(400);
          expect((await when(newer, 'If-None-Match')).status).to.equal(412);
          expect((await when(`"7", ${seen}`)).status).to.equal(204);
        });

        it('takes the tag that stands now, and the one of the creation', async () => {
          for (const tagOf of [
            (_: HttpResponse, now: HttpResponse) => now.headers.etag,
            (creation: HttpResponse) => creation.headers.etag,
            () => '*',
          ]) {
            const { response, key, path: item } = await made();
            await request().get('/products', { token: key });
            const tag = tagOf(response, await used(request(), item)) ?? '';
            expect((await request().delete(item, { headers: { 'If-Match': tag } })).status, tag).to.equal(
              204,
            );
          }
        });

        it('lets keys:admin revoke any key, also one that may do more, and itself', async () => {
          const { path: mighty } = await made({ name: 'x', scopes: [...SCOPES] });
          const { key: token, path: own } = await made({ name: 'x', scopes: ['keys:admin'] });
          expect((await request().delete(mighty, { token })).status).to.equal(204);
          expect((await request().delete(own, { token })).status).to.equal(204);
          expect((await request().get(path, { token })).status).to.equal(401);
        });
      });

      it('has no other methods, and says so', async () => {
        const { path: item } = await made();
        for (const [address, allow, methods] of [
          [path, 'GET, HEAD, POST, OPTIONS', ['PUT', 'PATCH', 'DELETE']],
          [item, 'GET, HEAD, DELETE, OPTIONS', ['PUT', 'PATCH', 'POST']],
        ] as const) {
          const options = await request().request('OPTIONS', address, { token: null });
          expect([options.status, options.headers.allow]).to.deep.equal([204, allow]);
          expect(options.headers).to.not.have.property('accept-patch');
          for (const method of methods) {
            const response = await request().request(method, address, { body: READER });
            expect([response.status, response.json.code], method).to.deep.equal([405, 'method_not_allowed']);
            expect(response.headers).to.include({ allow }).and.not.have.property('accept-patch');
          }
        }
      });

      it('knows one version, and addresses that are written right', async () => {
        const response = await request().get(path, { headers: { 'API-Version': '1000' } });
        expect([response.status, response.json.code]).to.deep.equal([400, 'unsupported_version']);
        for (const wrong of ['/', '/0', '/01', '/x', `/${Number.MAX_SAFE_INTEGER}`, '/9007199254740993'])
          expect((await request().get(path + wrong)).status, wrong).to.equal(404);
      });
    });
  }

  describe(`an API key that ends, on ${store}`, () => {
    const service = inProcessService({ STORE: store });
    const request = () => service.client;

    it('is good until then, and told apart from one that is wrong', async () => {
      const expiresAt = new Date(Date.now() + 1_500).toISOString();
      const body = { ...READER, expiresAt };
      const idempotencyKey = keyed(randomUUID());
      const first = await request().post('/api-keys', body, idempotencyKey);
      const { id, key: token } = first.json;
      let response = await request().get('/products', { token });
      expect(response.status).to.equal(200);
      while (response.status === 200) response = await request().get('/products', { token });
      expect(Date.now()).to.be.at.least(Date.parse(expiresAt));
      expect([response.status, response.json.code]).to.deep.equal([401, 'token_expired']);
      expect((await request().get(`/api-keys/${id}`)).json.expiresAt).to.equal(expiresAt);
      const again = await request().post('/api-keys', body, idempotencyKey);
      expect([again.status, replayed(again), again.json.id], 'though it could not be made now').to.deep.equal(
        [201, 'true', id],
      );
      expect((await request().post('/api-keys', body)).status).to.equal(400);
    });
  });
}

describe('REQUIRE_IF_MATCH, of API keys', () => {
  const service = inProcessService({ REQUIRE_IF_MATCH: 'true' });

  it('asks whoever revokes for the version that they saw', async () => {
    const { id } = (await service.client.post('/api-keys', READER)).json;
    const path = `/api-keys/${id}`;
    const bare = await service.client.delete(path);
    expect([bare.status, bare.json.code]).to.deep.equal([428, 'precondition_required']);
    expect((await service.client.delete(path, { headers: { 'If-Match': '"1"' } })).status).to.equal(204);
  });
});
