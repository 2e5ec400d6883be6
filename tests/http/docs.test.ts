import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { OAUTH_ERRORS } from '#src/adapters/inbound/http/oauth/oauth-errors.js';
import { ERRORS } from '#src/adapters/inbound/http/response/error-codes.js';
import { ISSUES } from '#src/adapters/inbound/http/response/issue-codes.js';
import { CODING_NAMES, CODINGS, decoded } from '../support/codings.js';
import { inProcessService } from '../support/in-process-service.js';

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const DEFAULT_POLICY = "default-src 'none'; frame-ancestors 'none'";
const BROWSERS = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';
const TYPES = { html: 'text/html', css: 'text/css', js: 'text/javascript', json: 'application/json' };

/** The paths of the scripts, from their sources. */
const SCRIPTS = readdirSync('browser/docs')
  .filter((file) => file.endsWith('.ts'))
  .map((file) => `/docs/${file.replace(/ts$/, 'js')}`);
const PATHS = ['/docs', '/docs/docs.css', '/docs/errors.json', ...SCRIPTS];

/** APIs that turn text into markup or code, or store data beyond the tab. Only one script uses the storage of the tab. */
const FORBIDDEN =
  /innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|DOMParser|document\.write|\beval\(|new Function|localStorage|indexedDB|\.cookie|\.style\b|setAttribute\('(?:style|on)/;

describe('the interactive reference', () => {
  const service = inProcessService();
  const get = (path: string, headers: Record<string, string> = {}) =>
    service.client.get(path, { token: null, headers });
  const typeOf = (path: string) => TYPES[(path.split('.')[1] ?? 'html') as keyof typeof TYPES];

  it('has scripts', () => {
    expect(SCRIPTS.length).to.be.greaterThan(10);
  });

  for (const path of PATHS) {
    it(`is public, with its content type and policy: ${path}`, async () => {
      for (const token of [null, 'nonsense']) {
        const { status, headers, text } = await service.client.get(path, { token });
        expect(status).to.equal(200);
        expect(headers['content-type']).to.equal(`${typeOf(path)}; charset=utf-8`);
        expect(headers['x-content-type-options']).to.equal('nosniff');
        expect(headers['content-security-policy']).to.equal(path === '/docs' ? POLICY : DEFAULT_POLICY);
        expect(headers['cache-control']).to.equal('public, no-cache');
        expect(headers.etag).to.match(/^W\/"[\w-]{20,}"$/);
        expect(text.length).to.be.greaterThan(20);
      }
    });

    it(`is 304 if the client has it, with the same policy: ${path}`, async () => {
      const { headers } = await get(path);
      for (const method of ['GET', 'HEAD']) {
        const options = { token: null, headers: { 'If-None-Match': `${headers.etag}` } };
        const response = await service.client.request(method, path, options);
        expect([response.status, response.text]).to.deep.equal([304, '']);
        for (const name of ['etag', 'cache-control', 'content-security-policy', 'vary'])
          expect(response.headers[name], name).to.equal(headers[name]);
      }
      expect((await get(path, { 'If-None-Match': '"another"' })).status).to.equal(200);
    });

    it(`is compressed above 1 KiB: ${path}`, async () => {
      const plain = await get(path);
      for (const coding of CODING_NAMES) {
        const response = await get(path, { 'Accept-Encoding': coding });
        expect(decoded(response)).to.equal(plain.text);
        expect(response.headers['content-encoding']).to.equal(
          plain.bytes.length > 1_024 ? coding : undefined,
        );
        expect(response.headers.vary).to.include('Accept-Encoding');
      }
      expect(Object.keys(CODINGS)).to.deep.equal(CODING_NAMES);
    });

    it(`has only GET, HEAD and OPTIONS, and no parameters: ${path}`, async () => {
      const request = (method: string, url = path) => service.client.request(method, url, { token: null });
      const [whole, head, options] = [await get(path), await request('HEAD'), await request('OPTIONS')];
      expect([head.status, head.text]).to.deep.equal([200, '']);
      expect(head.headers['content-length']).to.equal(String(whole.bytes.length));
      expect([options.status, options.headers.allow]).to.deep.equal([204, 'GET, HEAD, OPTIONS']);
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const { status, json } = await request(method);
        expect([status, json.code]).to.deep.equal([405, 'method_not_allowed']);
      }
      for (const method of ['GET', 'OPTIONS']) {
        const { status, json, headers } = await request(method, `${path}?key=1`);
        expect([status, json.code]).to.deep.equal([400, 'unknown_parameter']);
        expect(headers['content-security-policy']).to.equal(DEFAULT_POLICY);
      }
    });

    it(`is only available in its own media type: ${path}`, async () => {
      for (const accept of [BROWSERS, '*/*', typeOf(path), `${typeOf(path)}; charset=utf-8`])
        expect((await get(path, { Accept: accept })).status, accept).to.equal(200);
      const others = ['application/json', 'image/png', 'application/x-ndjson'];
      for (const accept of others.filter((type) => type !== typeOf(path))) {
        const { status, json } = await get(path, { Accept: accept });
        expect([status, json.code], accept).to.deep.equal([406, 'not_acceptable']);
      }
    });
  }

  it('has no other paths', async () => {
    const others = [
      '/docs/',
      '/docs/main',
      '/docs/main.ts',
      '/docs/main.js.map',
      '/docs/index.html',
      '/Docs',
    ];
    for (const path of [...others, '/docs/docs_css', '/docs/../package.json', '/docs/%2e%2e/package.json']) {
      const { status, json } = await get(path);
      expect([status, json.code], path).to.deep.equal([404, 'not_found']);
    }
  });

  it('preloads every script and loads nothing from other origins', async () => {
    const { text } = await get('/docs');
    const urls = [...text.matchAll(/\b(?:href|src)="([^"]*)"/g)].map(([, url = '']) => url);
    const preloaded = [...text.matchAll(/"modulepreload" href="([^"]*)"/g)].map(([, url]) => `/${url}`);
    expect(preloaded).to.have.members(SCRIPTS);
    const data = 'docs/errors.json';
    const allowed = [...PATHS.map((path) => path.slice(1)), 'openapi.json', '#main'];
    expect(urls.filter((url) => !url.startsWith('data:image/svg+xml,'))).to.have.members([
      ...new Set(allowed.filter((url) => url !== 'docs' && url !== data)),
      'docs/main.js',
    ]);
    // The policy would block inline styles and scripts.
    expect(text).to.not.match(/<style|\bstyle=|\son\w+=|<script(?![^>]*\bsrc=)/);
  });

  it('has scripts that import only each other, never turn text into markup and store nothing beyond the tab', async () => {
    for (const path of SCRIPTS) {
      const { text } = await get(path);
      for (const [, name] of text.matchAll(/\bfrom '([^']*)'/g))
        expect(SCRIPTS, path).to.include(`${name}`.replace(/^\./, '/docs'));
      expect(text, path).to.not.match(FORBIDDEN);
      if (path !== '/docs/tab-storage.js') expect(text, path).to.not.include('sessionStorage');
    }
  });

  it('explains every error code, from the tables that the service itself uses', async () => {
    const { json } = await get('/docs/errors.json');
    const codes = (entries: { code: string }[]) => entries.map(({ code }) => code);
    expect(codes(json.responses)).to.deep.equal(Object.keys(ERRORS));
    expect(codes(json.details)).to.deep.equal(Object.keys(ISSUES));
    expect(codes(json.oauth)).to.deep.equal(Object.keys(OAUTH_ERRORS));
    const notFound = json.responses.find(({ code }: { code: string }) => code === 'not_found');
    expect(notFound).to.deep.include({ status: 404, reason: 'Not Found', ...textsOf(ERRORS.not_found) });
    expect((await get('/v1/unknown')).json).to.have.all.keys(notFound.example);
  });
});

const textsOf = ({ cause, remedy }: { cause: string; remedy: string }) => ({ cause, remedy });
