import { expect } from 'chai';
import { inProcessService } from '../support/in-process-service.js';

const METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'POST', 'OPTIONS'] as const;

/** The paths of records by a unique field, with segments that cannot be a value. */
const IMPOSSIBLE: Readonly<Record<string, readonly string[]>> = {
  'products/sku': [
    ...['.', '..', '%2E', '%2e%2E', '.%2e', '%2E.', 'a%20b', 'a+b', '%C3%A9', '%E2%80%8B', 'a%2Fb', 'a%00'],
    ...['%', '%4', '%zz', '%FF', '%C3', '%2541', 'a;b', 'a:b', 'x'.repeat(65), `%41${'x'.repeat(64)}`],
    ...['', 'A/', '/A', 'A/B', './A', '../1'],
  ],
  'users/email': [
    ...['.', '..', '%2e%2e', 'nobody', '@', 'a@', '%40b', 'a%20@b', 'a@b%20', '%C3%A9@b', 'a@b%FF', 'a@b%'],
    ...['a@b@c', 'a@b..c', 'a%2540b', `${'x'.repeat(253)}@b`],
    ...['', 'a@b/', '/a@b', 'a/b@c'],
  ],
  // Not unique, or not of this resource.
  products: ['sku', 'email/a@b', 'name/Lamp', 'id/1', 'SKU/A', 'imports/sku/A', '1/sku/A', 'sku/A/imports'],
  users: ['email', 'sku/A', 'name/Ann', 'Email/a@b'],
  orders: ['sku/A', 'email/a@b', 'userId/1', 'id/1', 'sku', 'email'],
  'api-keys': ['sku/A', 'email/a@b', 'name/x', 'digest/x'],
};

describe('a path that names no record by a unique field', () => {
  const service = inProcessService({ STORE: 'sqlite' });

  for (const [path, rests] of Object.entries(IMPOSSIBLE))
    for (const prefix of ['/v1', ''])
      it(`does not exist, whoever asks and however: below ${prefix}/${path}`, async () => {
        // A method in turn for each segment has no token.
        for (const [at, rest] of rests.entries())
          for (const [place, method] of METHODS.entries())
            for (const token of at % METHODS.length === place ? [service.client.token, null] : [service.client.token]) {
              const body = ['PUT', 'PATCH', 'POST'].includes(method) ? { name: 'x' } : undefined;
              const url = `${prefix}/${path}/${rest}`;
              const response = await service.request(method, url, { token, body });
              expect(response.status, `${method} ${url} ${token}`).to.equal(404);
              if (method !== 'HEAD') expect(response.json.code).to.equal('not_found');
              expect(response.headers).to.not.have.property('www-authenticate');
            }
        for (const list of ['products', 'users']) expect((await service.get(`/v1/${list}`)).json).to.deep.equal([]);
      });

  it('exists for every other segment: then a token is needed', async () => {
    const skus = ['...', '.a', '-', '_', '%2D', 'imports', '1', 'x'.repeat(64), '%41'.repeat(64)];
    for (const path of [...skus.map((sku) => `products/sku/${sku}`), 'users/email/a@b', 'users/email/%41%40b'])
      for (const prefix of ['/v1', '']) {
        const url = `${prefix}/${path}`;
        expect((await service.get(url, { token: null })).status, url).to.equal(401);
        expect((await service.get(url)).status, url).to.equal(404);
      }
    expect((await service.put('/v1/products/sku/...', { name: 'x' })).status).to.equal(201);
  });

  it('a sku that parsers of URLs remove has no second address, though a product may have it', async () => {
    for (const sku of ['.', '..']) {
      const { status, headers } = await service.post('/v1/products', { name: 'x', sku });
      expect(status).to.equal(201);
      for (const segment of [sku, encodeURIComponent(sku).replaceAll('.', '%2E')])
        expect((await service.get(`/v1/products/sku/${segment}`)).status).to.equal(404);
      expect((await service.get(`${headers.location}`)).json.sku).to.equal(sku);
    }
  });
});
