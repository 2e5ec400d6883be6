import { expect } from 'chai';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import * as oauth from 'oauth4webapi';
import { newApiKey } from '#src/adapters/outbound/system/random.js';
import { administerKeys } from '#src/composition/admin-tasks.js';
import { loadSettings } from '#src/config/settings.js';
import { SCOPES, type Scope } from '#src/domain/access.js';
import { expectRefusal, type HttpResponse, type RequestOptions } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { accessToken, basic, fetchBy, requestToken } from '../support/oauth.js';

const GRANT = 'grant_type=client_credentials';
const ERROR_FIELDS = ['code', 'details', 'message'];
const OAUTH_ERROR_FIELDS = ['code', 'details', 'error', 'error_description', 'message'];

describe('the token endpoint', () => {
  const service = inProcessService({ STORE: 'sqlite' });
  const request = (form: string, options: RequestOptions = {}) => requestToken(service.client, form, options);
  const requestWithFirstKey = (form: string, options: RequestOptions = {}) =>
    request(form, { ...options, headers: { ...basic('1', FIRST_KEY), ...options.headers } });
  const withKeys = <Result>(use: Parameters<typeof administerKeys<Result>>[1]) =>
    administerKeys(loadSettings({ DATA_DIR: service.folder, LOG_LEVEL: 'silent' }), use);
  const keyWith = (scopes: Scope[], expiresAt?: number) =>
    withKeys((keys) => keys.create({ name: 'test', scopes, ...(expiresAt !== undefined && { expiresAt }) }));
  const issuer = () => `https://localhost:${service.port}`;

  const outcomeOf = (response: HttpResponse) => [response.status, response.json.code, response.json.error];
  const expectError = (response: HttpResponse, status: number, code: string, error: string) => {
    expect(outcomeOf(response), response.text).to.deep.equal([status, code, error]);
    expect(Object.keys(response.json).sort()).to.deep.equal(OAUTH_ERROR_FIELDS);
    expect(response.json.error_description).to.match(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
    expect(response.headers['cache-control']).to.equal('no-store');
    expect(response.text).to.not.include('pcs_');
  };

  it('issues an RFC 9068 token for an API key and its id', async () => {
    const now = Math.floor(service.clock.now() / 1_000);
    const response = await requestWithFirstKey(GRANT);
    expect(response.status).to.equal(200);
    expect(Object.keys(response.json)).to.deep.equal(['access_token', 'token_type', 'expires_in', 'scope']);
    expect(response.json).to.include({ token_type: 'Bearer', expires_in: 600, scope: SCOPES.join(' ') });
    expect(response.headers).to.include({ 'content-type': 'application/json' });
    expect(response.headers).to.include({ 'cache-control': 'no-store', pragma: 'no-cache' });
    expect(response.headers['ratelimit']).to.match(/^"default";/);
    const { kid, ...header } = decodeProtectedHeader(response.json.access_token);
    expect(header).to.deep.equal({ alg: 'RS256', typ: 'at+jwt' });
    expect(kid).to.match(/^[\w-]{43}$/);
    const { iat = 0, exp, jti, ...claims } = decodeJwt(response.json.access_token);
    expect(claims).to.deep.equal({ iss: issuer(), aud: issuer(), sub: '1', client_id: '1', scope: SCOPES.join(' ') });
    expect(iat).to.be.within(now, now + 60);
    expect(exp).to.equal(iat + 600);
    expect(jti).to.match(/^[0-9a-f-]{36}$/);
  });

  it('accepts the id and the secret in the body, or form-encoded in Basic', async () => {
    const secret = FIRST_KEY.replace('_', '%5F');
    for (const [form, headers] of [
      [`${GRANT}&client_id=1&client_secret=${FIRST_KEY}`, {}],
      [`${GRANT}&client_id=1&client_secret=${secret}`, { Authorization: 'Bearer stale' }],
      [GRANT, basic('%31', secret)],
      [GRANT, { Authorization: String(basic('1', FIRST_KEY)['Authorization']).replace('Basic ', 'bASIC  ') }],
      [`${GRANT}&client_id=1`, basic('1', FIRST_KEY)],
      [`&${GRANT}&unknown=x&scope=&client_secret=`, basic('1', FIRST_KEY)],
      [GRANT, { ...basic('1', FIRST_KEY), 'Content-Type': 'application/x-www-form-urlencoded;charset=UTF-8' }],
    ] as const)
      expect((await request(form, { headers })).status, form).to.equal(200);
    expect((await requestWithFirstKey(GRANT, { chunked: true })).status).to.equal(200);
  });

  it('issues a token that is limited to its scopes and acts for its key', async () => {
    const { key, record } = await keyWith(['products:read', 'products:write']);
    const token = await accessToken(service.client, record.id, key, 'products:read');
    expect((await service.get('/products', { token })).status).to.equal(200);
    await expectRefusal(service.post('/products', { name: 'x' }, { token }), 'insufficient_scope');

    const whole = await accessToken(service.client, record.id, key);
    const once = { headers: { 'Idempotency-Key': 'k' } };
    const first = await service.post('/products', { name: 'x' }, { token: whole, ...once });
    const again = await service.post('/products', { name: 'x' }, { token: key, ...once });
    expect([first.status, again.headers['idempotency-replayed'], again.text]).to.deep.equal([201, 'true', first.text]);
    const { ratelimit } = (await service.get('/products', { token })).headers;
    const next = (await service.get('/products', { token: key })).headers['ratelimit'];
    const left = (header: unknown) => Number(/r=(\d+)/.exec(String(header))?.[1]);
    expect(left(next)).to.equal(left(ratelimit) - 1);
  });

  it('grants the requested scopes in the order of the key, but none that the key lacks', async () => {
    const { key, record } = await keyWith(['users:read', 'products:read']);
    const headers = basic(String(record.id), key);
    const requestScope = (scope: string) => request(`${GRANT}&scope=${scope}`, { headers });
    expect((await requestScope('')).json.scope).to.equal('users:read products:read');
    expect((await requestScope('products:read+users%3Aread')).json.scope).to.equal('users:read products:read');
    expect((await requestScope('products:read%20products:read')).json.scope).to.equal('products:read');
    for (const scope of [
      'orders:read',
      'products:read+keys:admin',
      'x',
      '+',
      '+'.repeat(16_000),
      'users:read++products:read',
    ]) {
      const response = await requestScope(scope);
      expectError(response, 400, 'validation_failed', 'invalid_scope');
      expect(response.json.details).to.have.length(1);
      expect(response.json.details[0]).to.include({ in: 'body', pointer: '/scope' });
    }
  });

  it('rejects a form that is not a client credentials grant', async () => {
    for (const [form, error, pointers] of [
      ['', 'invalid_request', ['/grant_type']],
      ['grant_type=', 'invalid_request', ['/grant_type']],
      ['grant_type=password&username=a&password=b', 'unsupported_grant_type', ['/grant_type']],
      [`${GRANT}&${GRANT}`, 'invalid_request', ['/grant_type']],
      [`${GRANT}&scope=a&scope=b&x=1&x=2`, 'invalid_request', ['/scope', '/x']],
      [`${GRANT}&scope=%zz`, 'invalid_request', ['']],
      [`${GRANT}&scope=%ff`, 'invalid_request', ['']],
      [`${GRANT}${'&a=1'.repeat(100)}`, 'invalid_request', ['']],
      [`${GRANT}&client_secret=${FIRST_KEY}`, 'invalid_request', ['/client_secret']],
      [`${GRANT}&client_id=2`, 'invalid_request', ['/client_id']],
    ] as const) {
      const response = await requestWithFirstKey(form);
      expectError(response, 400, 'validation_failed', error);
      const found = response.json.details.map(({ pointer }: { pointer: string }) => pointer);
      expect(found, form).to.deep.equal(pointers);
    }
  });

  it('rejects invalid messages like other paths, with OAuth fields added', async () => {
    const large = `${GRANT}&x=${'x'.repeat(1_048_576)}`;
    for (const [status, code, options, form] of [
      [415, 'unsupported_media_type', { headers: { 'Content-Type': 'application/json' } }],
      [415, 'unsupported_media_type', { headers: { 'Content-Encoding': 'gzip' } }],
      [413, 'payload_too_large', {}, large],
      [413, 'payload_too_large', { chunked: true }, large],
      [406, 'not_acceptable', { headers: { Accept: 'text/html' } }],
      [400, 'unsupported_version', { headers: { 'API-Version': '2' } }],
    ] as const)
      expectError(await requestWithFirstKey(form ?? GRANT, options), status, code, 'invalid_request');
    const bytes = Buffer.from(`${GRANT}&scope=é`, 'latin1');
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const notUtf8 = await service.post('/oauth/token', bytes, { token: null, headers });
    expectError(notUtf8, 400, 'validation_failed', 'invalid_request');
    const inQuery = await service.post(`/oauth/token?client_secret=${FIRST_KEY}`, GRANT, { token: null, headers });
    expectError(inQuery, 400, 'unknown_parameter', 'invalid_request');
    const problem = await requestWithFirstKey('', { headers: { Accept: 'application/problem+json' } });
    expect(problem.headers['content-type']).to.equal('application/problem+json');
    expect(Object.keys(problem.json)).to.include.members([...OAUTH_ERROR_FIELDS, 'title', 'status', 'detail', 'type']);
  });

  it('accepts a form of at most 16 KiB', async () => {
    const headers = { ...basic('1', FIRST_KEY), 'Content-Type': 'application/x-www-form-urlencoded' };
    const form = (bytes: number) => `${GRANT}&x=`.padEnd(bytes, 'x');
    for (const chunked of [false, true]) {
      const options = { token: null, headers, chunked };
      expect((await service.post('/oauth/token', form(16_384), options)).status).to.equal(200);
      const response = await service.post('/oauth/token', form(16_385), options);
      expectError(response, 413, 'payload_too_large', 'invalid_request');
    }
  });
});

describe('a client with wrong credentials at the token endpoint', () => {
  const service = inProcessService();
  const request = (form: string, headers: Record<string, string>) => requestToken(service.client, form, { headers });

  it('gets 401 with a Basic challenge, and 429 after 20 a minute, except for recently valid credentials', async () => {
    const wrong = newApiKey();
    const missing = await request(`${GRANT}&client_id=1`, {});
    expect((await expectRefusal(missing, 'unauthenticated')).json.error).to.equal('invalid_client');
    expect(missing.headers['www-authenticate']).to.equal('Basic realm="catalogue", charset="UTF-8"');
    expect((await request(GRANT, basic('1', FIRST_KEY))).status).to.equal(200);
    const failing: (readonly [string, Record<string, string>])[] = [
      [GRANT, basic('1', wrong)],
      [GRANT, basic('2', FIRST_KEY)],
      [GRANT, basic('01', FIRST_KEY)],
      [GRANT, basic('', FIRST_KEY)],
      [GRANT, basic('9007199254740993', FIRST_KEY)],
      [GRANT, basic('1', '%zz')],
      [GRANT, { Authorization: 'Basic' }],
      [GRANT, { Authorization: 'Basic é' }],
      [`${GRANT}&client_id=1&client_secret=${wrong}`, {}],
      [`${GRANT}&client_secret=${FIRST_KEY}`, {}],
    ];
    for (const [form, headers] of [...failing, ...failing]) {
      const response = await request(form, headers);
      expect((await expectRefusal(response, 'invalid_token')).json.error).to.equal('invalid_client');
      expect(Object.keys(response.json).sort()).to.deep.equal(OAUTH_ERROR_FIELDS);
      expect(response.headers['www-authenticate']).to.match(/^Basic realm="/);
      expect(response.text).to.not.include(wrong);
    }
    for (const [attempt, members] of [
      [request(GRANT, basic('1', wrong)), OAUTH_ERROR_FIELDS],
      [service.get('/products', { token: wrong }), ERROR_FIELDS],
      [service.get('/products', { token: 'a.b.c' }), ERROR_FIELDS],
    ] as const) {
      const response = await expectRefusal(attempt, 'rate_limited');
      expect(response.headers['ratelimit-policy']).to.equal('"auth";q=20;w=60');
      expect(Number(response.headers['retry-after'])).to.be.within(1, 60);
      expect(Object.keys(response.json).sort()).to.deep.equal(members);
    }
    const granted = await request(GRANT, basic('1', FIRST_KEY));
    expect(granted.status, 'a recently valid secret').to.equal(200);
    const token: string = granted.json.access_token;
    expect((await service.get('/products', { token })).status, 'its token').to.equal(200);
  });
});

describe('a client that uses discovery', () => {
  const service = inProcessService();
  const fetch = (): ReturnType<typeof fetchBy> => fetchBy(service.client);
  const options = () => ({ [oauth.customFetch]: fetch() as never });
  const url = () => new URL(`https://localhost:${service.port}`);
  const client = { client_id: '1' };

  const discover = async () => {
    const refused = await service.get('/v1/products', { token: null });
    const [, metadata = ''] =
      /^Bearer resource_metadata="([^"]+)"$/.exec(String(refused.headers['www-authenticate'])) ?? [];
    const response = await fetch()(metadata, { method: 'GET', headers: {} });
    const resource = await oauth.processResourceDiscoveryResponse(url(), response);
    const found = await oauth.resourceDiscoveryRequest(url(), options());
    const wellKnown = await oauth.processResourceDiscoveryResponse(url(), found);
    expect(wellKnown).to.deep.equal(resource);
    const issuer = new URL(resource.authorization_servers?.[0] ?? '');
    const request = { algorithm: 'oauth2', ...options() } as const;
    return oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, request));
  };

  for (const [name, authentication] of [
    ['client_secret_basic', oauth.ClientSecretBasic(FIRST_KEY)],
    ['client_secret_post', oauth.ClientSecretPost(FIRST_KEY)],
  ] as const)
    it(`gets and uses a token with ${name}, which another service can validate`, async () => {
      const server = await discover();
      expect(server.token_endpoint_auth_methods_supported).to.include(name);
      const parameters = { scope: 'products:read products:write' };
      const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, parameters, options());
      const granted = await oauth.processClientCredentialsResponse(server, client, response);
      const products = new URL('/v1/products', url());
      const { access_token: token } = granted;
      const list = await oauth.protectedResourceRequest(token, 'GET', products, undefined, undefined, options());
      expect(list.status).to.equal(200);
      const headers = { Authorization: `Bearer ${granted.access_token}` };
      const authorized = new Request(products, { headers });
      const claims = await oauth.validateJwtAccessToken(server, authorized, url().origin, options());
      expect(claims).to.include({ client_id: '1', sub: '1', scope: 'products:read products:write' });
    });
});

const DOCUMENTS = ['/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource', '/oauth/jwks'];

describe('the OAuth documents', () => {
  const PUBLIC_URL = 'https://api.example.com/catalogue';
  const service = inProcessService({ PUBLIC_URL, OAUTH_ISSUER: 'https://id.example.com', OAUTH_AUDIENCE: 'catalogue' });
  const get = (path: string, options: RequestOptions = {}) => service.get(path, { token: null, ...options });

  it('use PUBLIC_URL in every URL, regardless of Host', async () => {
    const headers = { Host: '127.0.0.1:1', 'X-Forwarded-Host': 'evil.example' };
    expect((await get('/.well-known/oauth-authorization-server', { headers })).json).to.deep.equal({
      issuer: PUBLIC_URL,
      token_endpoint: `${PUBLIC_URL}/oauth/token`,
      jwks_uri: `${PUBLIC_URL}/oauth/jwks`,
      scopes_supported: [...SCOPES],
      response_types_supported: [],
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    });
    expect((await get('/.well-known/oauth-protected-resource', { headers })).json).to.deep.equal({
      resource: PUBLIC_URL,
      authorization_servers: [PUBLIC_URL, 'https://id.example.com'],
      scopes_supported: [...SCOPES],
      bearer_methods_supported: ['header'],
      resource_name: 'Product catalogue',
    });
    for (const [token, error] of [
      [null, ''],
      ['x', 'error="invalid_token", error_description="The service does not know this token.", '],
    ] as const)
      expect((await get('/products', { token, headers })).headers['www-authenticate']).to.equal(
        `Bearer ${error}resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource"`,
      );
    const token = await accessToken(service.client, 1, FIRST_KEY);
    expect(decodeJwt(token)).to.include({ iss: PUBLIC_URL, aud: PUBLIC_URL });
    expect((await get('/products', { token })).status).to.equal(200);
  });

  it('are also at the well-known paths for a PUBLIC_URL with a path', async () => {
    for (const path of DOCUMENTS.slice(0, 2)) {
      expect((await get(`${path}/catalogue`)).text).to.equal((await get(path)).text);
      for (const other of ['/other', '/catalogue/', '/catalogue/x', '/'])
        expect((await get(path + other)).status, path + other).to.equal(404);
    }
  });

  it('show only the public part of the signing keys', async () => {
    const { keys } = (await get('/oauth/jwks')).json;
    expect(keys).to.have.length(1);
    expect(Object.keys(keys[0]).sort()).to.deep.equal(['alg', 'e', 'kid', 'kty', 'n', 'use']);
    expect(keys[0]).to.include({ alg: 'RS256', kty: 'RSA', use: 'sig' });
    expect(Buffer.from(keys[0].n, 'base64url')).to.have.length(256);
    const { kid } = decodeProtectedHeader(await accessToken(service.client, 1, FIRST_KEY));
    expect(keys[0].kid).to.equal(kid);
  });

  for (const path of DOCUMENTS)
    it(`are public and cacheable: ${path}`, async () => {
      const response = await get(path, { token: 'bad' });
      expect([response.status, response.headers['cache-control']]).to.deep.equal([200, 'public, max-age=300']);
      expect(response.headers).to.include({ 'content-type': 'application/json', 'api-version': '1' });
      expect(response.headers).to.not.have.property('ratelimit-policy');
      expect(String(response.headers['vary']).split(', ')).to.include.members(['Accept', 'Accept-Encoding']);
      const head = await service.request('HEAD', path, { token: null });
      expect([head.status, head.text]).to.deep.equal([200, '']);
      expect(head.headers['content-length']).to.equal(response.headers['content-length']);
      const post = await service.post(path, {});
      expect(post.status).to.equal(405);
      expect(post.headers).to.include({ allow: 'GET, HEAD, OPTIONS', 'cache-control': 'no-store' });
      expect((await get(`${path}?x=1`)).json.code).to.equal('unknown_parameter');
    });
});
