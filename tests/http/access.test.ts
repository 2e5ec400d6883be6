import { expect } from 'chai';
import { newApiKey } from '#src/adapters/outbound/system/random.js';
import { administerKeys } from '#src/composition/admin-tasks.js';
import { DEFINITIONS } from '#src/composition/resources.js';
import { loadSettings } from '#src/config/settings.js';
import { SCOPES, type Scope } from '#src/domain/access.js';
import type { Field } from '#src/domain/fields.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { RECORD_PLURALS } from '../support/tables.js';

/** A valid body of each resource, with the required fields alone. */
function bodyOf(plural: (typeof RECORD_PLURALS)[number]): object {
  const { table, example } = DEFINITIONS[plural];
  const required = Object.entries<Field>(table).filter(([, field]) => field.required);
  return Object.fromEntries(required.map(([name]) => [name, example[name]]));
}

const ROUTES = RECORD_PLURALS.flatMap(
  (plural) =>
    [
      ['GET', `/${plural}`, `${plural}:read`],
      ['HEAD', `/${plural}`, `${plural}:read`],
      ['POST', `/${plural}`, `${plural}:write`],
      ['GET', `/${plural}/1`, `${plural}:read`],
      ['HEAD', `/${plural}/1`, `${plural}:read`],
      ['PUT', `/${plural}/1`, `${plural}:write`],
      ['PATCH', `/${plural}/1`, `${plural}:write`],
      ['DELETE', `/${plural}/1`, `${plural}:write`],
    ] as const,
);

describe('access', () => {
  const service = inProcessService({ STORE: 'sqlite' });
  const request = () => service.client;
  const metadata = () =>
    `resource_metadata="https://localhost:${service.port}/.well-known/oauth-protected-resource"`;
  const keyWith = (scopes: Scope[], expiresAt?: number) =>
    service.application.apiKeys.create({
      name: 'test',
      scopes,
      ...(expiresAt !== undefined && { expiresAt }),
    });

  for (const [method, path, scope] of ROUTES) {
    for (const prefix of ['', '/v1']) {
      it(`requires a token with the scope ${scope} for ${method} ${prefix}${path}`, async () => {
        const anonymous = await request().request(method, prefix + path, { token: null });
        expect([anonymous.status, anonymous.headers['www-authenticate']]).to.deep.equal([
          401,
          `Bearer ${metadata()}`,
        ]);
        const { key } = await keyWith(SCOPES.filter((other) => other !== scope));
        const denied = await request().request(method, prefix + path, { token: key });
        expect(denied.status).to.equal(403);
        expect(denied.headers['www-authenticate']).to.equal(
          `Bearer error="insufficient_scope", scope="${scope}", ${metadata()}`,
        );
        if (method !== 'HEAD') {
          expect(anonymous.json.code).to.equal('unauthenticated');
          expect(denied.json.code).to.equal('insufficient_scope');
          expect(denied.json.message).to.include(scope);
        }
      });
    }
  }

  it('asks for the reading scope too, where an import shows what exists', async () => {
    const headers = { 'Content-Type': 'application/x-ndjson' };
    for (const plural of RECORD_PLURALS) {
      const { key: writer } = await keyWith([`${plural}:write`]);
      const { key: both } = await keyWith([`${plural}:write`, `${plural}:read`]);
      const send = (query: string, token: string | null) =>
        request().post(`/${plural}/imports${query}`, '', { token, headers });
      for (const query of [
        '?match=id',
        '?match=nonsense',
        '?dryRun=true',
        '?%6Datch=id',
        '?dryRun=true&match=id',
      ]) {
        const denied = await send(query, writer);
        expect(denied.status, query).to.equal(403);
        expect(denied.json.code).to.equal('insufficient_scope');
        expect(denied.headers['www-authenticate']).to.include(`scope="${plural}:read"`);
        expect((await send(query, null)).status).to.equal(401);
        expect((await send(query, both)).status).to.be.oneOf([200, 400]);
      }
      for (const query of ['', '?dryRun=false'])
        expect((await send(query, writer)).status, query).to.equal(200);
      const { key: reader } = await keyWith([`${plural}:read`]);
      const denied = await send('?match=id', reader);
      expect(denied.headers['www-authenticate']).to.include(`scope="${plural}:write"`);
    }
  });

  it('allows a key what its scopes grant', async () => {
    for (const plural of RECORD_PLURALS) {
      const { key: reader } = await keyWith([`${plural}:read`]);
      const { key: writer } = await keyWith([`${plural}:write`]);
      expect((await request().get(`/${plural}`, { token: reader })).status).to.equal(200);
      expect((await request().post(`/${plural}`, bodyOf(plural), { token: writer })).status).to.equal(201);
    }
  });

  it('rejects an unknown token, whether its checksum is right or wrong', async () => {
    for (const token of [newApiKey(), `${FIRST_KEY.slice(0, -1)}x`, 'x', 'pcs_', 'a b', 'é']) {
      const response = await request().get('/products', { token: Buffer.from(token).toString('latin1') });
      expect([response.status, response.json.code], token).to.deep.equal([401, 'invalid_token']);
      expect(response.headers['www-authenticate']).to.match(
        /^Bearer error="invalid_token", error_description="[^"\\]+", resource_metadata="[^"]+"$/,
      );
      expect(response.text).to.not.include(token);
    }
  });

  it('accepts only the Bearer scheme, in upper or lower case', async () => {
    for (const authorization of ['', 'Bearer', 'Basic eDp5', 'Bearer ', FIRST_KEY]) {
      const response = await request().get('/products', {
        token: null,
        headers: { Authorization: authorization },
      });
      expect([response.status, response.json.code], authorization).to.deep.equal([401, 'unauthenticated']);
    }
    const response = await request().get('/products', {
      token: null,
      headers: { Authorization: `bEARER  ${FIRST_KEY}` },
    });
    expect(response.status).to.equal(200);
  });

  it('ignores a token in the query', async () => {
    expect((await request().get(`/products?access_token=${FIRST_KEY}`, { token: null })).status).to.equal(
      401,
    );
  });

  it('rejects an expired key with token_expired', async () => {
    const { key } = await keyWith(['products:read'], service.clock.now() + 60_000);
    expect((await request().get('/products', { token: key })).status).to.equal(200);
    service.clock.pass(60_000);
    const response = await request().get('/products', { token: key });
    expect([response.status, response.json.code]).to.deep.equal([401, 'token_expired']);
    expect(response.headers['www-authenticate']).to.include('error="invalid_token"');
    const { key: good } = await keyWith(['products:read'], service.clock.now() + 60_000);
    expect((await request().get('/products', { token: good })).status).to.equal(200);
  });

  it('rejects a key at most 5 seconds after another process revoked it', async () => {
    const { key, record } = await keyWith(['products:read']);
    expect((await request().get('/products', { token: key })).status).to.equal(200);
    await administerKeys(loadSettings({ DATA_DIR: service.folder }), (keys) => keys.revoke(record.id));
    service.clock.pass(5_000);
    expect((await request().get('/products', { token: key })).status).to.equal(401);
  });

  it('records when a key was last used, to the minute', async () => {
    const before = service.clock.now();
    const { key, record } = await keyWith(['products:read']);
    await request().get('/products', { token: key });
    await request().post('/products', { name: 'a later write' });
    const found = await administerKeys(loadSettings({ DATA_DIR: service.folder }), async (keys) => {
      for await (const one of keys.all()) if (one.id === record.id) return one.fields;
      return undefined;
    });
    expect((found?.lastUsedAt ?? 1) % 60_000).to.equal(0);
    expect(found?.lastUsedAt).to.be.within(before - 60_000, service.clock.now());
    expect(JSON.stringify(found)).to.not.include(key);
  });

  it('is checked before the method, the headers and the body are validated', async () => {
    const { key: reader } = await keyWith(['products:read']);
    for (const [method, options] of [
      ['PURGE', {}],
      ['POST', { body: '{', headers: { 'Content-Type': 'text/plain' } }],
      ['GET', { headers: { Accept: 'text/html', 'API-Version': '9' } }],
    ] as const) {
      expect(
        (await request().request(method, '/products?x=1', { ...options, token: null })).status,
        method,
      ).to.equal(401);
    }
    const bad = { body: '{', headers: { 'Content-Type': 'text/plain', Accept: 'text/html' }, token: reader };
    expect((await request().request('POST', '/products?x=1', bad)).status).to.equal(403);
    expect((await request().request('DELETE', '/products?x=1', { token: reader })).status).to.equal(405);
  });

  it('allows health checks and OPTIONS without a token', async () => {
    for (const [method, path] of [
      ['GET', '/health/live'],
      ['GET', '/health/ready'],
      ['OPTIONS', '/products'],
    ] as const) {
      expect((await request().request(method, path, { token: null })).status, path).to.be.within(200, 204);
    }
  });
});

describe('PUBLIC_READ=products', () => {
  const service = inProcessService({ PUBLIC_READ: 'products', PUBLIC_MAX_AGE: '7' });
  const request = () => service.client;

  it('rejects an invalid token on a public path, however the header is written', async () => {
    for (const Authorization of ['Bearer nonsense', 'Bearer\tpcs_x', 'Bearer=x', 'bearer:x', 'BEARER, x']) {
      const response = await service.client.get('/products', { token: null, headers: { Authorization } });
      expect([response.status, response.json.code], Authorization).to.deep.equal([401, 'invalid_token']);
      expect(response.headers['cache-control']).to.equal('no-store');
    }
    for (const Authorization of ['Bearer', 'Bearers x', 'Basic MTp4']) {
      const response = await service.client.get('/products', { token: null, headers: { Authorization } });
      expect(response.status, Authorization).to.equal(200);
    }
  });

  it('allows reads without a token and lets caches store them', async () => {
    await request().post('/products', { name: 'x' });
    for (const path of ['/products', '/v1/products/1']) {
      const response = await request().get(path, { token: null });
      expect([response.status, response.headers['cache-control']]).to.deep.equal([200, 'public, max-age=7']);
    }
    expect((await request().get('/products/99', { token: null })).headers['cache-control']).to.equal(
      'no-store',
    );
  });

  it('tells caches nothing of who asked', async () => {
    const headers = { 'X-Request-Id': 'mine' };
    for (const path of ['/products', '/v1/products/1', '/.well-known/oauth-authorization-server']) {
      const shared = await request().get(path, { token: null, headers });
      expect(shared.headers, path).to.not.have.any.keys('ratelimit', 'ratelimit-policy');
      expect(shared.headers['x-request-id'], path).to.match(/^[0-9a-f-]{36}$/);
    }
    const own = await request().get('/users', { headers });
    expect(own.headers).to.include.keys('ratelimit', 'ratelimit-policy');
    expect(own.headers['x-request-id']).to.equal('mine');
  });

  it('requires a token to read anything else', async () => {
    for (const path of ['/users', '/users/1', '/v1/orders', '/v1/orders/1']) {
      expect((await request().get(path, { token: null })).status, path).to.equal(401);
    }
    expect((await request().get('/users')).headers['cache-control']).to.equal('no-store');
  });

  it('requires a token for any method other than GET and HEAD', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'PURGE']) {
      expect(
        (await request().request(method, '/products', { token: null, body: { name: 'x' } })).status,
        method,
      ).to.equal(401);
    }
  });

  it('rejects an unknown token', async () => {
    expect((await request().get('/products', { token: 'wrong' })).json.code).to.equal('invalid_token');
  });
});

describe('a credential that may write and not read', () => {
  const service = inProcessService();

  it('learns no record by a patch that changes nothing', async () => {
    const { json } = await service.client.post('/v1/users', { name: 'Ann', email: 'ann@example.com' });
    const writer = { name: 'writer', scopes: ['users:write'] };
    const { key: token } = (await service.client.post('/v1/api-keys', writer)).json;
    for (const [type, body] of [
      ['application/merge-patch+json', '{}'],
      ['application/json', '{}'],
      ['application/json-patch+json', '[]'],
    ] as const) {
      const headers = { 'Content-Type': type };
      const response = await service.client.request('PATCH', `/v1/users/${json.id}`, {
        token,
        headers,
        body,
      });
      expect([response.status, response.json.code]).to.deep.equal([403, 'insufficient_scope']);
      expect(response.json.message).to.include('users:read');
      expect(response.headers['www-authenticate']).to.include('scope="users:read"');
      expect(response.text).to.not.include('ann@example.com');
    }
    const replaced = await service.client.put(
      `/v1/users/${json.id}`,
      { name: 'Ann', email: 'ann@example.com' },
      { token },
    );
    expect(replaced.status, 'PUT needs the writing scope alone').to.equal(200);
  });
});
