import { expect } from 'chai';
import { expectIssues, expectRefusal } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { list } from '../support/list.js';
import { RECORD_PLURALS } from '../support/tables.js';

/** The values of `Accept` that browsers send for a page: Chrome, Firefox, Java's old `URLConnection`. */
const BROWSERS = [
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7',
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2',
];
const PREFER_PAGE = [
  ...BROWSERS,
  ...list`text/html  TEXT/HTML  text/html; charset=utf-8  text/html;level=1  text/html;q=0.1
    application/json;q=0.4, text/html;q=0.5  text/html, application/*;q=0.9  text/html;q=0.5, application/json;q=0
    text/html;q=0.001, application/json;q=0.000  text/html, application/problem+json`,
  // JSON is refused, so only the page fits.
  ...list`text/*  */*, application/json;q=0, application/problem+json;q=0`,
];
const PREFER_JSON = [
  ...['', ...list`*/*  application/json  application/*  application/problem+json  application/json, text/html`],
  // Equal qualities are no preference, whatever the order.
  ...list`text/html, application/json  text/html, */*  text/html;q=0.5, application/json;q=0.5
    text/html;q=0.4, application/json;q=0.5  text/html;q=0, */*  text/html;q=0.5, application/*`,
  // These do not name text/html.
  ...list`application/json;q=0.1, */*  text/*, application/json;q=0.5  text/htmlx, */*;q=0.1  x-text/html, */*;q=0.1`,
];
const PREFER_NEITHER = list`image/png  application/x-ndjson  text/plain  text/html;q=0  nonsense
  text/html;q=0, application/json;q=0  text/html; charset=latin1`;

describe('GET /', () => {
  const service = inProcessService();
  const request = (method: string, path: string, headers: Record<string, string> = {}) =>
    service.request(method, path, { token: null, headers });
  const get = (accept?: string) => request('GET', '/', accept === undefined ? {} : { Accept: accept });

  it('is a JSON object of links that lead somewhere', async () => {
    const { status, headers, json } = await get();
    expect([status, headers['content-type']]).to.deep.equal([200, 'application/json']);
    expect(json).to.deep.equal({
      ...Object.fromEntries(RECORD_PLURALS.map((plural) => [plural, `/v1/${plural}`])),
      apiKeys: '/v1/api-keys',
      webhooks: '/v1/webhooks',
      openapi: '/openapi.json',
      docs: '/docs',
      console: '/console',
      health: '/health/ready',
      authorizationServer: '/.well-known/oauth-authorization-server',
      protectedResource: '/.well-known/oauth-protected-resource',
    });
    for (const [name, path] of Object.entries<string>(json))
      expect((await service.get(path)).status, name).to.equal(200);
  });

  for (const accept of PREFER_PAGE)
    it(`redirects to /docs with Accept: ${accept}`, async () => {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers, text } = await request(method, '/', { Accept: accept });
        expect([status, headers.location, text]).to.deep.equal([303, '/docs', '']);
      }
    });

  for (const accept of [undefined, ...PREFER_JSON])
    it(`is JSON with ${accept === undefined ? 'no Accept' : `Accept: ${accept}`}`, async () => {
      const { status, headers, json } = await get(accept);
      expect([status, headers['content-type'], headers.location]).to.deep.equal([200, 'application/json', undefined]);
      expect(json.docs).to.equal('/docs');
    });

  for (const accept of PREFER_NEITHER)
    it(`is 406 with Accept: ${accept}`, async () => {
      const { headers, json } = await expectRefusal(get(accept), 'not_acceptable');
      expect(headers.location).to.equal(undefined);
      expect(json.message).to.include('application/json').and.to.include('text/html');
    });

  it('has the headers of every response, with both results', async () => {
    for (const accept of ['*/*', 'text/html', 'image/png']) {
      const { headers } = await get(accept);
      expect(headers.vary, accept).to.include('Accept').and.to.include('API-Version');
      expect(headers['cache-control'], accept).to.equal(accept === 'image/png' ? 'no-store' : 'no-cache');
      expect(headers['ratelimit-policy'], accept).to.equal('"default";q=1000000;w=60');
      expect(headers['ratelimit'], accept).to.match(/^"default";r=\d+;t=\d+$/);
      expect(headers['api-version'], accept).to.equal('1');
      expect(headers['x-request-id'], accept).to.be.a('string');
    }
  });

  it('needs no credential and ignores a bad one', async () => {
    for (const token of [null, 'nonsense']) expect((await service.get('/', { token })).status).to.equal(200);
  });

  it('is 304 if the client has it; a redirect never is', async () => {
    const { headers } = await get();
    const options = { 'If-None-Match': String(headers.etag) };
    for (const method of ['GET', 'HEAD']) {
      const unchanged = await request(method, '/', options);
      expect([unchanged.status, unchanged.text]).to.deep.equal([304, '']);
    }
    expect((await request('GET', '/', { ...options, Accept: 'text/html' })).status).to.equal(303);
  });

  it('responds to HEAD as to GET, and lists its methods', async () => {
    const [whole, head, options] = [await get(), await request('HEAD', '/'), await request('OPTIONS', '/')];
    expect([head.status, head.text]).to.deep.equal([200, '']);
    expect(head.headers['content-length']).to.equal(String(whole.bytes.length));
    expect([options.status, options.headers.allow]).to.deep.equal([204, 'GET, HEAD, OPTIONS']);
  });

  it('rejects other methods, parameters and versions, also as problems', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { headers } = await expectRefusal(request(method, '/'), 'method_not_allowed');
      expect(headers.allow).to.equal('GET, HEAD, OPTIONS');
    }
    const unknown = ['unknown_parameter x', 'unknown_parameter y'];
    for (const accept of ['*/*', 'text/html'])
      for (const method of ['GET', 'OPTIONS'])
        await expectIssues(request(method, '/?x=1&y=2', { Accept: accept }), 'unknown_parameter', unknown);
    await expectRefusal(request('GET', '/', { 'API-Version': '2' }), 'unsupported_version');
    const problem = await request('GET', '/?x=1', { Accept: 'application/problem+json' });
    expect(problem.headers['content-type']).to.equal('application/problem+json');
    expect(problem.json).to.include({ status: 400, code: 'unknown_parameter' });
  });

  it('is one path only', async () => {
    for (const path of ['//', '/v1', '/v1/', '/.', '/%2f', '/index.html'])
      await expectRefusal(request('GET', path), 'not_found', path);
  });
});
