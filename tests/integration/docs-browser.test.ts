import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { listen } from '#src/composition/listen.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { browser, DocsPage } from './docs-page.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PHONE = { width: 390, height: 844 };
const APPEARANCES: Readonly<Record<string, BrowserContextOptions>> = {
  'in light': { colorScheme: 'light' },
  'in dark': { colorScheme: 'dark' },
  'on a phone': { colorScheme: 'light', viewport: PHONE, hasTouch: true },
  'on a phone in dark': { colorScheme: 'dark', viewport: PHONE, hasTouch: true },
};
const HOSTILE = `</pre><img src=x onerror="document.title='taken'"><script>document.title='taken'</script>&lt;b&gt;`;

// biome-ignore lint/suspicious/noExplicitAny: the structure of an OpenAPI document is not typed
type Node = any;

describe('the page at /docs, in Chromium', () => {
  const service = inProcessService();
  const chromium = browser();
  const pages: DocsPage[] = [];
  let document: Node;

  const url = () => `https://localhost:${service.port}/docs`;
  const open = async (options?: BrowserContextOptions, prepare?: (page: Page) => Promise<unknown>) => {
    const docs = await DocsPage.open(chromium(), url(), options, prepare);
    pages.push(docs);
    return docs;
  };
  const opened = async (options?: BrowserContextOptions) => {
    const docs = await open(options);
    await docs.page.locator('.operation').first().waitFor();
    return docs;
  };
  const operations = () =>
    Object.entries<Node>(document.paths).flatMap(([path, item]) =>
      Object.entries<Node>(item)
        .filter(([method]) => /^(get|head|post|put|patch|delete|options)$/.test(method))
        .map(([method, { operationId, parameters = [] }]) => ({
          id: String(operationId),
          name: `${method.toUpperCase()} ${path}`,
          parameters: [...(item.parameters ?? []), ...parameters].map(dereference),
        })),
    );
  const dereference = ({ $ref, ...own }: Node): Node =>
    $ref === undefined
      ? own
      : $ref
          .slice(2)
          .split('/')
          .reduce((node: Node, step: string) => node[step], document);
  const idOf = (name: string) => operations().find((one) => one.name === name)?.id ?? name;
  const paste = (docs: DocsPage, key = FIRST_KEY) =>
    docs.page.getByLabel('API key or access token').fill(key);
  const send = (shown: Locator) => shown.getByRole('button', { name: 'Send' }).click();
  const status = (shown: Locator) => shown.locator('.status-line .status').textContent();
  const body = async (shown: Locator) => String(await shown.locator('.answer-body').textContent());
  const axeViolations = async ({ page }: DocsPage) => {
    await page.evaluate(AXE);
    const found: Node = await page.evaluate('axe.run()');
    return found.violations.map(({ id, nodes }: Node) => [id, nodes.map(({ html }: Node) => html)]);
  };

  before(async () => {
    document = (await service.client.get('/openapi.json')).json;
  });
  afterEach(async () => {
    for (const docs of pages.splice(0)) await docs.close();
  });

  it('loads without errors, and only from this service', async () => {
    const docs = await opened();
    await docs.page.waitForLoadState('networkidle');
    expect(docs.complaints).to.deep.equal([]);
    expect([...docs.origins]).to.deep.equal([new URL(url()).origin]);
  });

  it('says what to do if a script cannot be loaded', async () => {
    const { page } = await open({}, (prepared) =>
      prepared.route('**/docs/trial.js', (route) => route.fulfill({ status: 429, body: '{}' })),
    );
    await page.waitForLoadState('networkidle');
    expect(await page.locator('.operation').count()).to.equal(0);
    expect(await page.locator('main').innerText()).to.match(/reload it in a minute/);
  });

  it('runs in a browser that reports violations of its policy', async () => {
    const docs = await opened();
    await docs.page.evaluate(() => {
      const style = globalThis.document.createElement('style');
      style.textContent = 'body { color: red }';
      globalThis.document.head.append(style);
    });
    await docs.page.waitForTimeout(100);
    expect(docs.complaints.join()).to.include('style-src');
  });

  it('lists exactly the operations of the document, in the page and in its navigation', async () => {
    const { page } = await opened();
    const names = operations().map(({ name }) => name);
    const shown = await page
      .locator('.operation > summary')
      .evaluateAll((all) =>
        all.map((one) => ['.method', '.path'].map((part) => one.querySelector(part)?.textContent).join(' ')),
      );
    const linked = await page
      .locator('nav a')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    expect(names.length).to.be.greaterThan(40);
    expect(shown).to.have.members(names);
    expect(linked).to.have.members(operations().map(({ id }) => `#${id}`));
  });

  it('has a field for every parameter of every operation', async () => {
    const docs = await opened();
    for (const { id, name, parameters } of operations()) {
      const shown = await docs.operation(id);
      // A fold creates its fields when it is opened.
      for (const fold of await shown.locator('form > details').all())
        await fold.evaluate((details: HTMLDetailsElement) => {
          details.open = true;
        });
      const expected = parameters.map((parameter: Node) => parameter.name);
      await docs.page
        .waitForFunction(
          ([of, count]) =>
            globalThis.document.querySelectorAll(`[id="${of}"] form .field label code`).length === count,
          [id, expected.length] as const,
        )
        .catch(() => {});
      const labels = await shown.locator('form .field label code').allTextContents();
      expect(labels, name).to.have.members(expected);
    }
    expect(docs.complaints).to.deep.equal([]);
  });

  it('sends a request with a pasted key', async () => {
    const docs = await opened();
    await paste(docs, `  Bearer ${FIRST_KEY}\n`);
    const creating = await docs.operation(idOf('POST /v1/products'));
    await creating
      .getByLabel('Content', { exact: true })
      .fill('{"name":"Lamp","price":{"amount":1999,"currency":"EUR"}}');
    await send(creating);
    expect(await status(creating)).to.equal('201');
    const { id } = JSON.parse(await body(creating));
    expect(await creating.locator('.answer-headers').textContent()).to.include(
      `location: /v1/products/${id}`,
    );
    expect((await service.client.get(`/v1/products/${id}`)).json.name).to.equal('Lamp');

    const listing = await docs.operation(idOf('GET /v1/products'));
    await listing.locator('summary', { hasText: 'Filters' }).click();
    await listing.getByLabel('price.amount:gte', { exact: true }).fill('1999');
    await listing.getByLabel('fields').fill('id,name');
    await send(listing);
    expect(await status(listing)).to.equal('200');
    expect(JSON.parse(await body(listing))).to.deep.equal([{ id, name: 'Lamp' }]);
    expect(docs.complaints).to.deep.equal([]);
  });

  it('offers a valid example body for each content type', async () => {
    const docs = await opened();
    await paste(docs);
    const shown = await docs.operation(idOf('POST /v1/products'));
    for (const [type, expected] of [
      ['application/x-ndjson', '200'],
      ['application/json', '409'],
    ]) {
      await shown.getByLabel('Content-Type').selectOption(`${type}`);
      await send(shown);
      await shown.locator('.answer').waitFor();
      expect(await status(shown), type).to.equal(expected);
    }
  });

  it('shows an error response unchanged', async () => {
    const docs = await opened();
    const shown = await docs.operation(idOf('GET /v1/users'));
    await send(shown);
    expect(await status(shown)).to.equal('401');
    expect(JSON.parse(await body(shown)).code).to.equal('unauthenticated');
    expect(await shown.locator('.answer-headers').textContent()).to.include('www-authenticate: Bearer');
  });

  it('does not store the key', async () => {
    const docs = await opened();
    const { page, context } = docs;
    await paste(docs);
    const shown = await docs.operation(idOf('GET /v1/products'));
    await send(shown);
    expect(await status(shown)).to.equal('200');
    const left = await page.evaluate(() => [
      location.href,
      globalThis.document.documentElement.outerHTML,
      JSON.stringify({ ...localStorage, ...sessionStorage, ...history.state }),
    ]);
    for (const text of [...left, JSON.stringify(await context.storageState())])
      expect(text).to.not.include('pcs_0');
    expect(left[1]).to.include('$API_KEY');
    await page.reload();
    expect(await page.getByLabel('API key or access token').inputValue()).to.equal('');
  });

  it('hides the key until the user shows it', async () => {
    const docs = await opened();
    await paste(docs);
    const field = docs.page.getByLabel('API key or access token');
    const textSecurity = () =>
      field.evaluate((input) => getComputedStyle(input).getPropertyValue('-webkit-text-security'));
    expect(await textSecurity()).to.equal('disc');
    await docs.page.getByRole('button', { name: 'Show', pressed: false }).click();
    expect(await textSecurity()).to.equal('none');
    await docs.page.getByRole('button', { name: 'Show', pressed: true }).click();
    expect(await textSecurity()).to.equal('disc');
  });

  it('shows HTML in a response as text', async () => {
    const { json } = await service.client.post('/products', { name: HOSTILE });
    const docs = await opened();
    await paste(docs);
    const shown = await docs.operation(idOf('GET /v1/products/{id}'));
    await shown.getByRole('textbox', { name: 'id required' }).fill(String(json.id));
    await send(shown);
    expect(await status(shown)).to.equal('200');
    expect(JSON.parse(await body(shown)).name).to.equal(HOSTILE);
    expect(await docs.page.locator('img, .answer script, .answer b').count()).to.equal(0);
    expect(await docs.page.title()).to.not.equal('taken');
    expect(docs.complaints).to.deep.equal([]);
  });

  it('shows HTML in the document as text', async () => {
    const link = '[x](javascript:alert(1)) [y](data:text/html,z) [z](//elsewhere.example)';
    const hostile = {
      openapi: '3.1.0',
      info: { title: HOSTILE, version: HOSTILE, description: `${HOSTILE}\n\n${link}` },
      tags: [{ name: HOSTILE, description: link }],
      paths: {
        [`/${HOSTILE}`]: {
          get: {
            operationId: 'x',
            summary: HOSTILE,
            description: link,
            tags: [HOSTILE],
            parameters: [{ name: HOSTILE, in: 'query', description: HOSTILE, schema: { enum: [HOSTILE] } }],
            responses: { 200: { description: HOSTILE }, [HOSTILE]: {} },
          },
        },
      },
    };
    const docs = await open({}, (page) =>
      page.route('**/openapi.json', (route) => route.fulfill({ json: hostile })),
    );
    const shown = await docs.operation('x');
    expect(await shown.locator('.summary').textContent()).to.equal(HOSTILE);
    expect(await docs.page.locator('img, main script, main b').count()).to.equal(0);
    const links = await docs.page
      .locator('a')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    expect(
      links.filter((href) => href !== '#main' && href !== '#x' && href !== 'openapi.json'),
    ).to.deep.equal([]);
    expect(docs.complaints).to.deep.equal([]);
  });

  it('says if there is no response', async () => {
    const docs = await opened();
    const shown = await docs.operation(idOf('GET /health/live'));
    await docs.context.setOffline(true);
    await send(shown);
    await shown.getByText('There was no response').waitFor();
    await docs.context.setOffline(false);
    await send(shown);
    expect(await status(shown)).to.equal('200');
    expect(await shown.getByText('There was no response').count()).to.equal(0);
  });

  it('cancels a slow request and returns the focus', async () => {
    const docs = await opened();
    const shown = await docs.operation(idOf('GET /health/live'));
    await docs.page.route('**/health/live', () => {});
    await send(shown);
    const cancel = shown.getByRole('button', { name: 'Cancel' });
    expect(await shown.getByRole('button', { name: 'Send' }).isVisible()).to.equal(false);
    expect(await cancel.evaluate((button) => button === globalThis.document.activeElement)).to.equal(true);
    await cancel.click();
    await shown.getByText('Cancelled.').waitFor();
    const again = shown.getByRole('button', { name: 'Send' });
    expect(await cancel.isVisible()).to.equal(false);
    expect(await again.evaluate((button) => button === globalThis.document.activeElement)).to.equal(true);
  });

  it('reads and shows only the beginning of a long response', async () => {
    const docs = await opened();
    const shown = await docs.operation(idOf('GET /health/live'));
    const long = 'x'.repeat(600_000);
    await docs.page.route('**/health/live', (route) =>
      route.fulfill({ body: long, contentType: 'text/plain' }),
    );
    await send(shown);
    await shown.getByText('the rest was not read').waitFor();
    expect((await body(shown)).length).to.equal(256 * 1024);
  });

  it('says if the document cannot be read, and can retry', async () => {
    let isBroken = true;
    const docs = await open({}, (page) =>
      page.route('**/openapi.json', (route) =>
        isBroken ? route.fulfill({ status: 503 }) : route.continue(),
      ),
    );
    await docs.page.getByRole('alert').getByText('the response was 503').waitFor();
    isBroken = false;
    await docs.page.getByRole('button', { name: 'Try again' }).click();
    await docs.page.locator('.operation').first().waitFor();
  });

  it('opens the operation that its URL names, even if it is folded', async () => {
    for (const name of ['PATCH /v1/orders/{id}', 'OPTIONS /v1/users']) {
      const docs = await open();
      await docs.page.goto(`${url()}#${idOf(name)}`);
      await docs.page.reload();
      const summary = docs.page.locator(`[id="${idOf(name)}"] > summary`);
      await docs.page.locator(`[id="${idOf(name)}"] form`).waitFor();
      expect(await summary.evaluate((one) => one === globalThis.document.activeElement), name).to.equal(true);
      const { y = -1 } = (await summary.boundingBox()) ?? {};
      const header = (await docs.page.locator('body > header').boundingBox())?.height ?? 0;
      expect(y, name).to.be.within(header, 500);
    }
  });

  it('finds operations by words', async () => {
    const { page } = await opened();
    await page.getByLabel('Find an operation').fill('options /v1/orders/');
    expect(await page.locator('nav a:visible').count()).to.equal(1);
    await page.locator('nav a:visible').click();
    await page.locator(`[id="${idOf('OPTIONS /v1/orders/{id}')}"] form`).waitFor();
    await page.getByLabel('Find an operation').fill('no such thing');
    await page.getByText('No operation has these words.').waitFor();
  });

  it('works with the keyboard only', async () => {
    const docs = await opened();
    const { page } = docs;
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).to.equal('Skip to the operations');
    await page.keyboard.press('Tab');
    await page.keyboard.insertText(FIRST_KEY);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    expect(await page.locator(':focus').getAttribute('id')).to.equal('main');
    const first = page.locator('.operation').first();
    for (let steps = 0; steps < 5 && !(await first.locator('> summary:focus').count()); steps++)
      await page.keyboard.press('Tab');
    const outline = await page.locator(':focus').evaluate((one) => getComputedStyle(one).outlineWidth);
    expect(outline).to.equal('3px');
    await page.keyboard.press('Enter');
    await first.locator('form').waitFor();
    for (let steps = 0; steps < 5 && !(await first.locator('input:focus').count()); steps++)
      await page.keyboard.press('Tab');
    await page.keyboard.type('1');
    await page.keyboard.press('Enter');
    await first.locator('.answer').waitFor();
    expect(await status(first)).to.equal('200');
  });

  it('reports the outcome of a request in a live region', async () => {
    const docs = await opened();
    const shown = await docs.operation(idOf('GET /health/live'));
    await send(shown);
    await shown.getByRole('status').getByText('200 OK').waitFor();
  });

  for (const [appearance, options] of Object.entries(APPEARANCES)) {
    it(`has no axe violations, and scrolls in one direction, ${appearance}`, async () => {
      const docs = await opened(options);
      const { page } = docs;
      await paste(docs);
      expect(await axeViolations(docs)).to.deep.equal([]);
      const shown = await docs.operation(idOf('POST /v1/products'));
      await send(shown);
      await shown.locator('.answer').waitFor();
      for (const summary of await shown.locator('details.response > summary').all()) await summary.click();
      const listing = await docs.operation(idOf('GET /v1/products'));
      await listing.locator('summary', { hasText: 'Filters' }).click();
      await listing.locator('summary', { hasText: 'As a curl command' }).click();
      expect(await axeViolations(docs)).to.deep.equal([]);
      const [content, window] = await page.evaluate(() => [
        globalThis.document.documentElement.scrollWidth,
        globalThis.document.documentElement.clientWidth,
      ]);
      expect(content).to.equal(window);
    });
  }

  it('folds the list of operations on a narrow screen, and unfolds it on a wide one', async () => {
    const { page } = await opened({ viewport: PHONE });
    const link = page.locator(`nav a[href="#${idOf('POST /v1/products')}"]`);
    expect(await link.isVisible()).to.equal(false);
    await page.locator('nav summary', { hasText: 'Operations' }).click();
    await link.click();
    await page.locator(`[id="${idOf('POST /v1/products')}"] form`).waitFor();
    expect(await link.isVisible()).to.equal(false);
    await page.setViewportSize({ width: 1280, height: 900 });
    await link.waitFor({ state: 'visible' });
  });

  it('scrolls without animation if the user prefers reduced motion', async () => {
    for (const [reducedMotion, behaviour] of [
      ['reduce', 'auto'],
      ['no-preference', 'smooth'],
    ] as const) {
      const { page } = await opened({ reducedMotion });
      const scrolls = await page.evaluate(
        () => getComputedStyle(globalThis.document.documentElement).scrollBehavior,
      );
      expect(scrolls).to.equal(behaviour);
    }
  });

  it('copies a curl command that sends the same request', async () => {
    const docs = await opened({ permissions: ['clipboard-read', 'clipboard-write'] });
    const shown = await docs.operation(idOf('POST /v1/products'));
    const name = `it's "copied" $HOME`;
    await shown.getByLabel('Content', { exact: true }).fill(JSON.stringify({ name }));
    await shown.locator('summary', { hasText: 'Headers' }).first().click();
    await shown.getByLabel('Idempotency-Key').fill('copied-1');
    await shown.getByRole('button', { name: 'Copy as curl' }).click();
    await shown.getByText('Copied.').waitFor();
    const command = await docs.page.evaluate(() => navigator.clipboard.readText());
    const env = {
      PATH: process.env['PATH'],
      API_KEY: FIRST_KEY,
      CURL_CA_BUNDLE: `${service.folder}/tls/ca.pem`,
    };
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { env });
    expect(stdout).to.match(/^HTTP\/1\.1 201 /);
    expect(JSON.parse(stdout.split('\r\n\r\n')[1] ?? '').name).to.equal(name);
  });

  it('selects the command if the browser does not allow copying', async () => {
    const docs = await open({}, (page) =>
      page.addInitScript(() => {
        Object.defineProperty(navigator, 'clipboard', { value: undefined });
      }),
    );
    const shown = await docs.operation(idOf('GET /health/live'));
    await shown.getByRole('button', { name: 'Copy as curl' }).click();
    await shown.getByText('The text is selected').waitFor();
    expect(await docs.page.evaluate(() => `${getSelection()}`)).to.match(/^curl --include /);
  });

  it('says what to do without scripts', async () => {
    const { page } = await open({ javaScriptEnabled: false });
    const words = page.locator('noscript p');
    expect(await words.isVisible()).to.equal(true);
    expect(await words.textContent()).to.include('This page needs JavaScript.');
    expect(await words.locator('a').getAttribute('href')).to.equal('openapi.json');
  });

  it('sends to its own origin, even if the document names another server', async () => {
    const elsewhere = { ...document, servers: [{ url: 'https://elsewhere.example/base' }] };
    const docs = await open({}, (page) =>
      page.route('**/openapi.json', (route) => route.fulfill({ json: elsewhere })),
    );
    const shown = await docs.operation(idOf('GET /health/live'));
    await send(shown);
    expect(await status(shown)).to.equal('200');
    expect(docs.origins.size).to.equal(1);
  });
});

describe('the page at /docs, behind a proxy that adds a path prefix', () => {
  const service = inProcessService({
    TLS: 'proxy',
    TRUSTED_PROXIES: '127.0.0.1',
    PUBLIC_URL: 'https://shop.example/catalogue',
  });
  const chromium = browser();
  const proxy = createServer((incoming, outgoing) => {
    const { method, url = '', headers } = incoming;
    const path = url.replace(/^\/catalogue(?=\/)/, '');
    if (path === url) return outgoing.writeHead(404).end();
    const sent = { ...headers, 'x-forwarded-proto': 'https' };
    const forwarded = request(
      { port: service.port, host: '127.0.0.1', method, path, headers: sent },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 0, response.headers);
        response.pipe(outgoing);
      },
    );
    return incoming.pipe(forwarded);
  });

  after(async () => {
    proxy.close();
    proxy.closeAllConnections();
    await once(proxy, 'close').catch(() => {});
  });

  it('finds its scripts, the document and the service under the prefix', async () => {
    const port = await listen(proxy, '127.0.0.1', 0);
    const docs = await DocsPage.open(chromium(), `http://localhost:${port}/catalogue/docs`);
    const shown = await docs.operation('getLiveness');
    await shown.getByRole('button', { name: 'Send' }).click();
    expect(await shown.locator('.status-line .status').textContent()).to.equal('200');
    expect(docs.complaints).to.deep.equal([]);
    await docs.close();
  });

  it('loads from a URL with credentials, as for a proxy with basic authentication', async () => {
    const { port } = proxy.address() as AddressInfo;
    const docs = await DocsPage.open(chromium(), `http://ann:secret@localhost:${port}/catalogue/docs`);
    await docs.page.locator('[id="getLiveness"]').waitFor({ state: 'attached' });
    expect(await docs.page.locator('body').innerText()).to.not.include('secret');
    await docs.close();
  });
});
