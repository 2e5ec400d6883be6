import { expect } from 'chai';
import { inProcessService } from '../support/in-process-service.js';
import { pageContract } from './page.contract.js';

/** Of what loads before the first page can be used, which reads no document. */
const MAX_BYTES = 100_000;

describe('the console', () => {
  const service = inProcessService({ RATE_LIMIT_REQUESTS: '10000' });

  const files = ['/console/main.js', '/console/console.css'];
  pageContract(service, { page: '/console', files, shared: ['/docs/base.css'], images: "'self' data: https:" });

  for (const coding of ['gzip', 'br'])
    it(`loads less than 100 KB with ${coding}`, async () => {
      const paths = ['/console', '/console/main.js', '/console/console.css', '/docs/base.css'];
      const options = { token: null, headers: { 'Accept-Encoding': coding } };
      const sizes = await Promise.all(paths.map(async (path) => (await service.get(path, options)).bytes.length));
      const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
      expect(total).to.be.within(MAX_BYTES / 10, MAX_BYTES);
    });
});
