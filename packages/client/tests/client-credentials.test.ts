import { expect } from 'chai';
import { clientCredentials, type Fetch } from 'product-catalogue-client';
import { FIRST_KEY } from '../../../tests/support/in-process-service.js';
import { catalogueService, proxied, rejection } from './catalogue-service.js';

describe('client credentials', () => {
  const { service, connect, attempts } = catalogueService();
  let requests: number;
  const tokenOf = (settings: { clientSecret?: string; lifetime?: number } = {}) => {
    requests = 0;
    const fetch: Fetch = async (request) => {
      requests++;
      const response = await proxied(request);
      if (settings.lifetime === undefined) return response;
      return Response.json({ ...((await response.json()) as object), expires_in: settings.lifetime });
    };
    return clientCredentials({
      baseUrl: `http://127.0.0.1:${service.port}`,
      clientId: '1',
      clientSecret: settings.clientSecret ?? FIRST_KEY,
      scopes: ['products:read', 'users:read'],
      fetch,
    });
  };

  it('share one token request, and the token has the requested scopes', async () => {
    const { GET, POST } = connect({ token: tokenOf() });
    const responses = await Promise.all([GET('/v1/products'), GET('/v1/users'), GET('/v1/products')]);
    expect(responses.map(({ response }) => response.status)).to.deep.equal([200, 200, 200]);
    expect((await POST('/v1/products', { body: { name: 'Lamp' } })).error?.code).to.equal('insufficient_scope');
    expect([requests, attempts[0]?.request.headers.get('Authorization')?.slice(0, 10)]).to.deep.equal([
      1,
      'Bearer eyJ',
    ]);
  });

  it('renew a token before it expires', async () => {
    const token = tokenOf({ lifetime: 30 });
    expect(await token()).to.not.equal(await token());
    expect(requests).to.equal(2);
  });

  it('request a token again after a refusal', async () => {
    const token = tokenOf({ clientSecret: FIRST_KEY.replace('0B9c15', '0B9c16') });
    expect(await rejection(token())).to.have.property('status', 401);
    expect(await rejection(token())).to.have.property('status', 401);
    expect(requests).to.equal(2);
  });
});
