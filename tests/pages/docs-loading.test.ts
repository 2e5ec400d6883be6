import { expect } from 'chai';
import { browser } from '../support/browser.js';
import { inProcessService } from '../support/in-process-service.js';
import { prefixProxy } from '../support/prefix-proxy.js';
import { DocsPage, docsPages } from './docs-page.js';

const HOSTILE = `</pre><img src=x onerror="document.title='taken'"><script>document.title='taken'</script>&lt;b&gt;`;

describe('the page at /docs, when it loads', () => {
  const service = inProcessService();
  const open = docsPages(service);

  it('loads without errors, and only from this service', async () => {
    const docs = await open();
    await docs.page.locator('.operation').first().waitFor();
    await docs.show('#/errors');
    expect(docs.errors).to.deep.equal([]);
    expect([...docs.origins]).to.deep.equal([new URL(docs.url).origin]);
  });

  it('says what to do if a script cannot be loaded', async () => {
    const { page } = await open({
      prepare: (prepared) => prepared.route('**/docs/main.js', (route) => route.fulfill({ status: 429, body: '{}' })),
    });
    expect(await page.locator('.operation').count()).to.equal(0);
    expect(await page.locator('main').innerText()).to.match(/reload it in a minute/);
  });

  it('runs in a browser that reports violations of its policy', async () => {
    const docs = await open();
    const [message] = await Promise.all([
      docs.page.waitForEvent('console'),
      docs.page.evaluate(() => {
        const style = globalThis.document.createElement('style');
        style.textContent = 'body { color: red }';
        globalThis.document.head.append(style);
      }),
    ]);
    expect(message.text()).to.include('style-src');
  });

  for (const file of ['openapi.json', 'docs/errors.json'])
    it(`says if ${file} cannot be read, and can retry`, async () => {
      let isBroken = true;
      const { page } = await open({
        prepare: (prepared) =>
          prepared.route(`**/${file}`, (route) => (isBroken ? route.fulfill({ status: 503 }) : route.continue())),
      });
      await page.getByRole('alert').getByText('the response was 503').waitFor();
      isBroken = false;
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.locator('.operation').first().waitFor();
    });

  it('says what to do without scripts', async () => {
    const { page } = await open({ javaScriptEnabled: false });
    const words = page.locator('noscript p');
    expect(await words.isVisible()).to.equal(true);
    expect(await words.textContent()).to.include('This page needs JavaScript.');
    expect(await words.locator('a').getAttribute('href')).to.equal('openapi.json');
  });

  it('shows HTML in the document as text', async () => {
    const link = '[x](javascript:alert(1)) [y](data:text/html,z) [z](//elsewhere.example)';
    const hostile = {
      openapi: '3.1.0',
      info: { title: HOSTILE, version: HOSTILE, description: `${HOSTILE}\n\n${link}` },
      tags: [{ name: HOSTILE, description: link }],
      components: { schemas: { [HOSTILE]: { description: HOSTILE, examples: [HOSTILE] } } },
      paths: {
        [`/${HOSTILE}`]: {
          get: {
            operationId: 'x',
            summary: HOSTILE,
            description: link,
            tags: [HOSTILE],
            'x-error-codes': [HOSTILE],
            parameters: [{ name: HOSTILE, in: 'query', description: HOSTILE, schema: { enum: [HOSTILE] } }],
            responses: { 200: { description: HOSTILE }, [HOSTILE]: {} },
          },
        },
      },
    };
    const docs = await open({
      prepare: (page) => page.route('**/openapi.json', (route) => route.fulfill({ json: hostile })),
    });
    const { element } = await docs.operation('x');
    expect(await element.locator('.summary').textContent()).to.equal(HOSTILE);
    await docs.search.fill('img');
    await docs.show('#/models');
    expect(await docs.page.locator('h3').last().textContent()).to.equal(HOSTILE);
    expect(await docs.page.locator('img, main script, main b, nav b').count()).to.equal(0);
    const links = await docs.page.locator('a').evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''));
    expect(links.filter((href) => !/^(#|openapi\.json$|console$)/.test(href))).to.deep.equal([]);
    expect(await docs.page.title()).to.not.equal('taken');
    expect(docs.errors).to.deep.equal([]);
  });
});

describe('the page at /docs, behind a proxy that adds a path prefix', () => {
  const service = inProcessService({
    TLS: 'proxy',
    TRUSTED_PROXIES: '127.0.0.1',
    PUBLIC_URL: 'https://shop.example/catalogue',
    PUBLIC_READ: 'products',
  });
  const chromium = browser();
  const proxy = prefixProxy('/catalogue', service);

  it('finds its scripts, the document and the service under the prefix', async () => {
    const docs = await DocsPage.open(chromium(), `http://localhost:${proxy.port}/catalogue/docs`);
    const shown = await docs.operation('listProducts');
    await shown.send();
    expect(await shown.status()).to.equal('200');
    expect(docs.errors).to.deep.equal([]);
    await docs.context.close();
  });

  it('loads from a URL with credentials, as for a proxy with basic authentication', async () => {
    const { port } = proxy;
    const docs = await DocsPage.open(chromium(), `http://ann:pa55phrase@localhost:${port}/catalogue/docs`);
    await docs.page.locator('[id="listProducts"]').waitFor({ state: 'attached' });
    expect(await docs.page.locator('body').innerText()).to.not.include('pa55phrase');
    await docs.context.close();
  });
});
