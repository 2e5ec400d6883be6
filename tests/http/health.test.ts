import { expect } from 'chai';
import { inProcessService } from '../support/in-process-service.js';

describe('health', () => {
  const service = inProcessService();

  for (const path of ['/health/live', '/health/ready']) {
    it(`responds to GET and HEAD at ${path}, uncached`, async () => {
      const response = await service.get(path, { token: null });
      expect([response.status, response.json]).to.deep.equal([200, { status: 'ok' }]);
      expect(response.headers['cache-control']).to.equal('no-store');
      expect(response.headers['x-request-id']).to.be.a('string');
      expect((await service.request('HEAD', path, { token: null })).status).to.equal(200);
    });

    it(`has no other method at ${path}`, async () => {
      const response = await service.request('POST', path, { token: null });
      expect([response.status, response.headers.allow]).to.deep.equal([405, 'GET, HEAD, OPTIONS']);
    });
  }
});
