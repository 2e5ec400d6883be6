import { expect } from 'chai';
import { SCOPES, type Scope } from '#src/domain/access.js';
import { expectRefusal } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { requiredScopes } from '../support/served-routes.js';
import { RECORD_PLURALS } from '../support/tables.js';

/** The operations on records. `cases/authorization-matrix.test.ts` has every route, and every form of its path. */
const OPERATIONS = RECORD_PLURALS.flatMap((plural) => [
  ...['GET', 'HEAD', 'POST'].map((method) => [method, `/v1/${plural}`] as const),
  ...['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'].map((method) => [method, `/v1/${plural}/1`] as const),
]);

describe('access', () => {
  const service = inProcessService();
  const keyWith = async (...scopes: Scope[]) =>
    (await service.application.apiKeys.create({ name: 'test', scopes })).key;

  it('needs a token with each scope of the operation', async () => {
    for (const [method, path] of OPERATIONS) {
      expect((await service.request(method, path, { token: null })).status, path).to.equal(401);
      for (const scope of requiredScopes(method, path)) {
        const token = await keyWith(...SCOPES.filter((other) => other !== scope));
        const { status, headers } = await service.request(method, path, { token });
        expect(status, `${method} ${path} without ${scope}`).to.equal(403);
        expect(headers['www-authenticate']).to.include(`scope="${scope}"`);
      }
    }
  });

  it('asks for the reading scope too, where an import shows what exists', async () => {
    const headers = { 'Content-Type': 'application/x-ndjson' };
    for (const plural of RECORD_PLURALS) {
      const writer = await keyWith(`${plural}:write`);
      const both = await keyWith(`${plural}:write`, `${plural}:read`);
      const send = (query: string, token: string | null) =>
        service.post(`/${plural}/imports${query}`, '', { token, headers });
      for (const query of ['?match=id', '?match=nonsense', '?dryRun=true', '?%6Datch=id', '?dryRun=true&match=id']) {
        const denied = await send(query, writer);
        expect(denied.status, query).to.equal(403);
        expect(denied.json.code).to.equal('insufficient_scope');
        expect(denied.headers['www-authenticate']).to.include(`scope="${plural}:read"`);
        expect((await send(query, null)).status).to.equal(401);
        expect((await send(query, both)).status).to.be.oneOf([200, 400]);
      }
      for (const query of ['', '?dryRun=false']) expect((await send(query, writer)).status, query).to.equal(200);
      const denied = await send('?match=id', await keyWith(`${plural}:read`));
      expect(denied.headers['www-authenticate']).to.include(`scope="${plural}:write"`);
    }
  });

  it('is checked before the method, the headers and the body are validated', async () => {
    const reader = await keyWith('products:read');
    for (const [method, options] of [
      ['PURGE', {}],
      ['POST', { body: '{', headers: { 'Content-Type': 'text/plain' } }],
      ['GET', { headers: { Accept: 'text/html', 'API-Version': '9' } }],
    ] as const)
      expect((await service.request(method, '/products?x=1', { ...options, token: null })).status).to.equal(401);
    const bad = { body: '{', headers: { 'Content-Type': 'text/plain', Accept: 'text/html' }, token: reader };
    expect((await service.request('POST', '/products?x=1', bad)).status).to.equal(403);
    expect((await service.request('DELETE', '/products?x=1', { token: reader })).status).to.equal(405);
  });

  it('of a key that may write and not read learns no record by a patch that changes nothing', async () => {
    const { json } = await service.post('/v1/users', { name: 'Ann', email: 'ann.lee@example.com' });
    const path = `/v1/users/${json.id}`;
    const token = await keyWith('users:write');
    for (const [type, body] of [
      ['application/merge-patch+json', '{}'],
      ['application/json', '{}'],
      ['application/json-patch+json', '[]'],
    ] as const) {
      const headers = { 'Content-Type': type };
      const response = await expectRefusal(service.patch(path, body, { token, headers }), 'insufficient_scope');
      expect(response.json.message).to.include('users:read');
      expect(response.text).to.not.include('ann.lee@example.com');
    }
    const { id: _, ...fields } = json;
    expect((await service.put(path, fields, { token })).status, 'PUT').to.equal(200);
  });
});
