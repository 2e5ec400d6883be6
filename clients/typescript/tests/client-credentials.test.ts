import { expect } from 'chai';
import { clientCredentials, type Fetch } from 'product-catalogue-client';
import { FIRST_KEY } from '../../../tests/support/in-process-service.js';
import { catalogueService, proxied, refusal } from './catalogue-service.js';

describe('tokens for client credentials', () => {
  const { service, connect, tried } = catalogueService();
  let requested: number;
  const tokenOf = (settings: { clientSecret?: string; lifetime?: number } = {}) => {
    requested = 0;
    const fetch: Fetch = async (request) => {
      requested++;
      const response = await proxied(request);
      if (settings.lifetime === undefined) return response;
      return Response.json({ ...((await response.json()) as object), expires_in: settings.lifetime });
    };
    return clientCredentials({
      baseUrl: `http://127.0.0.1:${service.port}`,
      clientId: 1,
      clientSecret: settings.clientSecret ?? FIRST_KEY,
      scopes: ['products:read', 'users:read'],
      fetch,
    });
  };

  it('are asked for once, and are good for the scopes that were asked for', async () => {
    const { GET, POST } = connect({ token: tokenOf() });
    const responses = await Promise.all([GET('/v1/products'), GET('/v1/users'), GET('/v1/products')]);
    expect(responses.map(({ response }) => response.status)).to.deep.equal([200, 200, 200]);
    expect((await POST('/v1/products', { body: { name: 'Lamp' } })).error?.code).to.equal(
      'insufficient_scope',
    );
    expect([requested, tried[0]?.request.headers.get('Authorization')?.slice(0, 10)]).to.deep.equal([
      1,
      'Bearer eyJ',
    ]);
  });

  it('are changed before they end', async () => {
    const token = tokenOf({ lifetime: 30 });
    expect(await token()).to.not.equal(await token());
    expect(requested).to.equal(2);
  });

  it('are asked for again where they were refused', async () => {
    const token = tokenOf({ clientSecret: FIRST_KEY.replace('0B9c15', '0B9c16') });
    expect(await refusal(token())).to.have.property('status', 401);
    expect(await refusal(token())).to.have.property('status', 401);
    expect(requested).to.equal(2);
  });
});
