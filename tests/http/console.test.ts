import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { inProcessService } from '../support/in-process-service.js';
import { pageContract, scriptsIn } from './page.contract.js';

const PACKAGES = {
  'product-catalogue-client': '/console/client/index.js',
  'openapi-fetch': '/console/packages/openapi-fetch.js',
  preact: '/console/packages/preact.js',
  'preact/hooks': '/console/packages/preact-hooks.js',
  'preact/jsx-runtime': '/console/packages/preact-jsx-runtime.js',
};
/** The modules of the client that have more than types. */
const CLIENT = readdirSync('clients/typescript/src')
  .filter((file) => !/^(document|resource-types)\.ts$/.test(file))
  .map((file) => `/console/client/${file.replace(/ts$/, 'js')}`);
const MAX_BYTES = 100_000;

describe('the console', () => {
  const service = inProcessService({ RATE_LIMIT_REQUESTS: '10000' });
  const get = (path: string, headers: Record<string, string> = {}) =>
    service.client.get(path, { token: null, headers });
  let importMap = '';
  before(async () => {
    const { text } = await get('/console');
    importMap = /<script type="importmap">(.*?)<\/script>/s.exec(text)?.[1] ?? '';
  });
  const hash = () => createHash('sha256').update(importMap).digest('base64');
  const scripts = [...scriptsIn('console'), ...CLIENT, ...Object.values(PACKAGES).slice(1)];

  pageContract(service, {
    page: '/console',
    policy: () =>
      `default-src 'none'; script-src 'self' 'sha256-${hash()}'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    others: ['/console/console.css'],
    scripts,
    shared: [...scriptsIn('docs'), '/docs/base.css'],
    packages: PACKAGES,
  });

  it('maps the packages to paths that are right behind a proxy with a path', () => {
    const relative = Object.entries(PACKAGES).map(([name, path]) => [name, `.${path}`]);
    expect(JSON.parse(importMap)).to.deep.equal({ imports: Object.fromEntries(relative) });
  });

  for (const coding of ['gzip', 'br'])
    it(`loads less than 100 KB with ${coding}`, async () => {
      const { text } = await get('/console');
      const urls = [...text.matchAll(/<link rel="(?:modulepreload|stylesheet)" href="([^"]*)"/g)];
      const paths = ['/console', '/openapi.json', ...urls.map(([, url]) => `/${url}`)];
      const sizes = await Promise.all(
        paths.map(async (path) => (await get(path, { 'Accept-Encoding': coding })).bytes.length),
      );
      const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
      expect(total).to.be.within(MAX_BYTES / 10, MAX_BYTES);
    });
});
