import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { inProcessService } from '../support/in-process-service.js';
import { TestIssuer } from '../support/test-issuer.js';
import { until } from '../support/until.js';

/** Above the shortest time between a failed request for the keys and the next one. */
const RETRY_MS = 5_000;

const FAILURES: Readonly<Record<string, RequestListener>> = {
  hangs: () => {},
  'cuts the connection': (request) => request.socket.destroy(),
};

for (const [name, failure] of Object.entries(FAILURES)) {
  describe(`an issuer that ${name}`, () => {
    const issuer = new TestIssuer();
    const service = inProcessService({}, { issuer });
    const request = () => service.client;
    const status = async (token: string) => (await request().get('/products', { token })).status;

    it('causes 503 for its own tokens only, which are accepted again soon after it recovers', async () => {
      issuer.override = failure;
      const token = issuer.token();
      const responses = await Promise.all(Array.from({ length: 20 }, () => request().get('/products', { token })));
      for (const response of responses) {
        expect([response.status, response.json.code]).to.deep.equal([503, 'unavailable']);
        expect(response.headers['retry-after']).to.match(/^\d+$/);
        expect(response.headers['www-authenticate']).to.equal(undefined);
      }
      expect(issuer.requestPaths.length, 'fewer requests to the issuer than tokens').to.be.below(responses.length);
      expect((await request().get('/products')).status, 'an API key').to.equal(200);
      expect((await request().get('/health/ready', { token: null })).status).to.equal(200);
      issuer.override = undefined;
      service.clock.pass(RETRY_MS);
      await until('its tokens are validated again', async () => (await status(token)) !== 503);
      expect(await status(token)).to.equal(200);
    });

    it('does not affect tokens that are signed with cached keys', async () => {
      issuer.override = failure;
      expect(await status(issuer.token())).to.equal(200);
    });
  });
}

describe('a service whose issuer goes down', () => {
  const issuer = new TestIssuer();
  const service = inProcessService({}, { issuer });

  it('sends no request to the issuer before the first token arrives', async () => {
    expect((await service.client.get('/products')).status).to.equal(200);
    expect(issuer.requestPaths).to.deep.equal([]);
    await issuer.stop();
    expect((await service.client.get('/products', { token: issuer.token() })).status).to.equal(503);
    await issuer.start();
  });
});
