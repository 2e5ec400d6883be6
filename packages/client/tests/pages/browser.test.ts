import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type * as Client from 'product-catalogue-client';
import { build } from 'rolldown';
import { browser, openContext } from '../../../../tests/support/browser.js';
import { FIRST_KEY, inProcessService } from '../../../../tests/support/in-process-service.js';

/** The global variable of the bundle. It exists in the page, where the functions below run. */
declare const client: typeof Client;

describe('the client in a bundle, in Chromium, on a page of another origin', () => {
  const environment: Record<string, string> = {};
  const pages = createServer((request, response) => {
    const [type, body] =
      request.url === '/client.js' ? ['javascript', bundle] : ['html', '<script src=client.js></script>'];
    response.setHeader('Content-Type', `text/${type}`).end(body);
  });
  let bundle: string;
  let origin: string;

  before(async () => {
    const built = await build({
      input: 'product-catalogue-client',
      platform: 'browser',
      output: { format: 'iife', name: 'client', minify: true },
      write: false,
    });
    bundle = built.output[0].code;
    await once(pages.listen(0, '127.0.0.1'), 'listening');
    origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
    environment['CORS_ORIGINS'] = origin;
  });
  after(() => pages.close());
  const service = inProcessService(environment);
  const chromium = browser();

  const given = () => ({ baseUrl: `https://localhost:${service.port}`, key: FIRST_KEY });
  /** Runs a test with a page that trusts the certificate of the service, or not. */
  const inPage =
    (test: (page: Page) => Promise<void>, ignoreHTTPSErrors = true) =>
    async () => {
      const context = await openContext(chromium(), { ignoreHTTPSErrors });
      const page = await context.newPage();
      await page.goto(origin);
      await test(page).finally(() => context.close());
    };

  it('is small', () => {
    expect(bundle.length).to.be.within(1, 20_000);
  });

  it(
    'creates, lists, edits, imports, exports and deletes',
    inPage(async (page) => {
      const result = await page.evaluate(async ({ baseUrl, key }) => {
        const { products } = client.createCatalogue({ baseUrl, token: key });
        const lamp = await products.create({ name: 'Lamp', sku: 'L-1' });
        const edited = await products.edit(lamp.id, (product) => ({ ...product, name: 'Torch' }));
        const overtaken = await products.replace(lamp, { name: 'Late' }).catch((error) => error.code);
        const imported = [];
        for await (const { status } of products.import([{ name: 'Desk' }, { name: '' }, { name: 'Chair' }]))
          imported.push(status);
        const pageSizes = [];
        for await (const { records } of products.pages({ limit: 2, sort: ['name'] })) pageSizes.push(records.length);
        const exported = [];
        for await (const { name } of products.export({ sort: ['name'], fields: ['name'] })) exported.push(name);
        await products.delete(edited);
        const gone = await products.read(lamp.id).catch((error) => error.message);
        return { edited: [edited.data.name, edited.etag], overtaken, imported, pageSizes, exported, gone };
      }, given());
      expect(result).to.deep.equal({
        edited: ['Torch', '"2"'],
        overtaken: 'precondition_failed',
        imported: [201, 400, 201],
        pageSizes: [2, 1],
        exported: ['Chair', 'Desk', 'Torch'],
        gone: 'not_found: Not found',
      });
    }),
  );

  it(
    'gets tokens, and reads the headers that CORS exposes',
    inPage(async (page) => {
      const headers = await page.evaluate(async ({ baseUrl, key }) => {
        const token = client.clientCredentials({ baseUrl, clientId: '1', clientSecret: key });
        const { POST, GET } = client.createCatalogue({ baseUrl, token });
        const create = { params: { header: { 'Idempotency-Key': 'once' } }, body: { name: 'Sofa' } };
        await POST('/v1/products', create);
        const { response: created } = await POST('/v1/products', create);
        const { response: listed } = await GET('/v1/products', { params: { query: { limit: 1 } } });
        const names = ['Location', 'ETag', 'Idempotency-Replayed', 'RateLimit', 'RateLimit-Policy', 'X-Request-Id'];
        return [...names.map((name) => created.headers.get(name)), listed.headers.get('Link')];
      }, given());
      expect(headers).to.not.include(null);
    }),
  );

  it(
    'creates without the functions that only secure contexts have',
    inPage(async (page) => {
      const name = await page.evaluate(async ({ baseUrl, key }) => {
        Object.defineProperty(crypto, 'randomUUID', { value: undefined });
        return (await client.createCatalogue({ baseUrl, token: key }).products.create({ name: 'Stool' })).data.name;
      }, given());
      expect(name).to.equal('Stool');
    }),
  );

  it(
    "leaves the browser's error as it is if the certificate is not trusted",
    inPage(async (page) => {
      const error = await page.evaluate(async ({ baseUrl }) => {
        const { products } = client.createCatalogue({ baseUrl, retry: { maxRetries: 0 } });
        return products.read(1).catch(String);
      }, given());
      expect(error).to.equal('TypeError: Failed to fetch');
    }, false),
  );
});
