import { expect } from 'chai';
import { expectRefusal, type HttpResponse } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { makePair } from '../support/jws.js';
import { OidcProvider } from './oidc-provider.js';

/** The minimum time between two requests to the issuer for its keys. */
const COOLDOWN_MS = 5_000;

describe('access tokens of an external issuer', () => {
  const provider = new OidcProvider();
  const settings: Record<string, string> = { RATE_LIMIT_REQUESTS: '1000' };
  const pairs = { one: makePair('one', 'RS256'), two: makePair('two', 'RS256'), three: makePair('three') };
  before(async () => {
    await provider.start([pairs.one, pairs.two]);
    Object.assign(settings, provider.settings);
  });
  const service = inProcessService(settings);
  after(() => provider.stop());

  it('allow a client what their scopes grant', async () => {
    const token = await provider.token('products:read products:write coffee');
    expect((await service.post('/products', { name: 'x' }, { token })).status).to.equal(201);
    expect((await service.get('/products', { token })).json).to.deep.equal([{ id: 1, name: 'x' }]);
    const denied = await expectRefusal(service.get('/users', { token }), 'insufficient_scope');
    expect(denied.headers['www-authenticate']).to.match(/^Bearer error="insufficient_scope", scope="users:read"/);
    expect(denied.json.message).to.include('users:read');
  });

  it('do not count as an API key with keys:admin: the last such key cannot be revoked', async () => {
    const token = await provider.token('keys:admin');
    const revoke = async (id: number) => (await service.delete(`/v1/api-keys/${id}`, { token })).status;
    expect(await revoke(1)).to.equal(409);
    const { id } = (await service.post('/v1/api-keys', { name: 'x', scopes: ['keys:admin'] })).json;
    expect(await revoke(id)).to.equal(204);
  });

  it('share the rate limit and the idempotency keys of their client only', async () => {
    const tokens = [await provider.token('products:write'), await provider.token('products:write products:read')];
    const other = await provider.token('products:write', 'till');
    const responses: HttpResponse[] = [];
    for (const token of [...tokens, other]) {
      const headers = { 'Idempotency-Key': 'delivery' };
      responses.push(await service.post('/products', { name: 'once' }, { token, headers }));
    }
    const [first, second, third] = responses;
    expect([first?.status, first?.headers['idempotency-replayed']]).to.deep.equal([201, undefined]);
    expect([second?.json.id, second?.headers['idempotency-replayed']]).to.deep.equal([first?.json.id, 'true']);
    expect(third?.json.id).to.not.equal(first?.json.id);
    expect(third?.headers['idempotency-replayed']).to.equal(undefined);
    const left = async (token: string | undefined) => {
      const { headers } = await service.get('/products', { token: token ?? '' });
      return Number(/r=(\d+)/.exec(String(headers['ratelimit']))?.[1]);
    };
    const before = await left(tokens[0]);
    expect(await left(tokens[1])).to.equal(before - 1);
    expect(await left(other)).to.equal(998);
  });

  it('stay valid after key rotation until their key is no longer published', async () => {
    const old = await provider.token('products:read');
    const status = async (token: string) => (await service.get('/products', { token })).status;
    expect(await status(old)).to.equal(200);
    provider.rotate([pairs.two, pairs.one]);
    const fresh = await provider.token('products:read');
    expect([await status(fresh), await status(old)], 'both keys').to.deep.equal([200, 200]);
    provider.rotate([pairs.three, pairs.two]);
    const newest = await provider.token('products:read');
    service.clock.pass(COOLDOWN_MS);
    const statuses = [await status(newest), await status(fresh), await status(old)];
    expect(statuses, 'without the first').to.deep.equal([200, 200, 401]);
  });
});
