import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { CODING_NAMES, CODINGS, decoded } from '../support/codings.js';
import { expectRefusal } from '../support/http-client.js';
import type { InProcessService } from '../support/in-process-service.js';
import { list } from '../support/list.js';

const DEFAULT_POLICY = "default-src 'none'; frame-ancestors 'none'";
const pagePolicy = (images: string) =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src ${images}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
const BROWSERS = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';
const TYPES = { html: 'text/html', css: 'text/css', js: 'text/javascript', json: 'application/json' };

/** APIs that turn text into markup or code, or store data beyond the tab. */
const FORBIDDEN =
  /innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|DOMParser|document\.write|\beval\(|new Function|indexedDB|\.cookie|\.style\b|setAttribute\('(?:style|on)/;

/** The modules that store something, each with the only storage that it may use. */
const STORAGES: Readonly<Record<string, string>> = {
  '/docs/tab-storage.js': 'sessionStorage',
  '/console/preferences.js': 'localStorage',
};

/** The compiled modules of a folder of `packages/pages`, by their paths there. */
function modulesIn(folder: string): [path: string, source: string][] {
  return readdirSync(`packages/pages/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => `/${folder}/${file.replace(/tsx?$/, 'js')}`)
    .map((path) => [path, readFileSync(`dist/packages/pages${path}`, 'utf8')]);
}

/** How a page and its files are served. */
export interface ServedPage {
  /** Such as `/docs`. */
  readonly page: string;
  /** The files below the page. */
  readonly files: readonly string[];
  /** The style sheets of another page that it loads. */
  readonly shared?: readonly string[];
  /** The sources of images that its policy allows. */
  readonly images?: string;
}

/** Tests that a page and its files are public, cacheable, compressed and restricted. */
export function pageContract(service: InProcessService, served: ServedPage): void {
  const { page, files, shared = [], images = "'self' data:" } = served;
  const paths = [page, ...files];
  const get = (path: string, headers: Record<string, string> = {}) =>
    service.client.get(path, { token: null, headers });
  const typeOf = (path: string) => TYPES[(path.split('.')[1] ?? 'html') as keyof typeof TYPES];

  for (const path of paths) {
    it(`is public, with its content type and policy: ${path}`, async () => {
      for (const token of [null, 'nonsense']) {
        const { status, headers, text } = await service.client.get(path, { token });
        expect(status).to.equal(200);
        expect(headers['content-type']).to.equal(`${typeOf(path)}; charset=utf-8`);
        expect(headers['x-content-type-options']).to.equal('nosniff');
        expect(headers['content-security-policy']).to.equal(path === page ? pagePolicy(images) : DEFAULT_POLICY);
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
        expect(response.headers['content-encoding']).to.equal(plain.bytes.length > 1_024 ? coding : undefined);
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
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
        await expectRefusal(request(method), 'method_not_allowed');
      for (const method of ['GET', 'OPTIONS']) {
        const { headers } = await expectRefusal(request(method, `${path}?key=1`), 'unknown_parameter');
        expect(headers['content-security-policy']).to.equal(DEFAULT_POLICY);
      }
    });

    it(`is only available in its own media type: ${path}`, async () => {
      for (const accept of [BROWSERS, '*/*', typeOf(path), `${typeOf(path)}; charset=utf-8`])
        expect((await get(path, { Accept: accept })).status, accept).to.equal(200);
      const others = ['application/json', 'image/png', 'application/x-ndjson'];
      for (const accept of others.filter((type) => type !== typeOf(path)))
        await expectRefusal(get(path, { Accept: accept }), 'not_acceptable', accept);
    });
  }

  it('has no other paths', async () => {
    const wrong = list`/  /main  /main.ts  /main.tsx  /main.js.map  /index.html  /docs_css  /.tsbuildinfo`;
    const outside = [page.replace(/^\/./, (start) => start.toUpperCase()), `${page}/../package.json`];
    const encoded = [`${page}/%2e%2e/package.json`, `${page}/components%2Fbutton.js`];
    for (const path of [...wrong.map((rest) => `${page}${rest}`), ...outside, ...encoded])
      await expectRefusal(get(path), 'not_found', path);
  });

  it('loads its files and nothing from other origins', async () => {
    const { text } = await get(page);
    const urls = [...text.matchAll(/\b(?:href|src)="([^"]*)"/g)].map(([, url = '']) => url);
    const local = urls.filter((url) => !/^data:image\/svg\+xml,|^#/.test(url)).map((url) => `/${url}`);
    const documents = ['/docs', '/console', '/openapi.json'];
    expect([...paths, ...shared, ...documents]).to.include.members(local);
    expect(local).to.include.members([...files.filter((path) => !path.endsWith('.json')), ...shared]);
    // The policy would block inline styles and scripts.
    expect(text).to.not.match(/<style|\bstyle=|\son\w+=|<script(?![^>]*\bsrc=)/);
  });

  it('has one script, without an import', async () => {
    const { text } = await get(`${page}/main.js`);
    expect(text).to.not.match(/^import\b|sourceMappingURL/);
    expect(text.length).to.be.greaterThan(10_000);
  });

  it('has modules that never turn text into markup, and store nothing elsewhere', () => {
    const modules = modulesIn(page.slice(1));
    expect(modules.length).to.be.greaterThan(10);
    for (const [path, source] of modules) {
      expect(source, path).to.not.match(FORBIDDEN);
      for (const storage of ['sessionStorage', 'localStorage'])
        if (STORAGES[path] !== storage) expect(source, path).to.not.include(storage);
    }
  });
}
