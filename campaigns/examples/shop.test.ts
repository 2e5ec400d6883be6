import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { APPEARANCES, expectAccessible } from '../../tests/pages/accessibility.js';
import { browser, openContext } from '../../tests/support/browser.js';
import { inProcessService } from '../../tests/support/in-process-service.js';

const BRANDS = ['Acme', 'Halden', 'Smith, Sons'];
const COLOURS = ['black', 'red'];
const PAGE = 24;
const lamps = Array.from({ length: 60 }, (_, at) => ({
  name: `Lamp ${String(at).padStart(2, '0')}`,
  price: { amount: 1_000 + 100 * at, currency: 'EUR' },
  brand: BRANDS[at % 3],
  attributes: { colour: COLOURS[at % 2] },
  tags: [`lighting/${at % 5 === 0 ? 'floor-lamps' : 'table/desk'}`, ...(at % 10 === 0 ? ['sale'] : [])],
  stock: at % 4,
}));
const HOSTILE = '<img src=x onerror="document.title = 1">';
const OTHERS = [
  { name: HOSTILE, price: { amount: 199_950, currency: 'HUF' }, url: 'https://shop.example/lamp' },
  { name: 'Andon', price: { amount: 1_999, currency: 'JPY' } },
  { name: 'Draft', price: { amount: 1, currency: 'EUR' }, status: 'draft' },
];

const names = (some: typeof lamps) => some.map(({ name }) => name);

let port = 0;
const server = createServer((_, response) => {
  response.setHeader('Content-Type', 'text/html');
  response.end(readFileSync('examples/shop.html', 'utf8').replace('localhost:8443', `localhost:${port}`));
});
await once(server.listen(0, '127.0.0.1'), 'listening');
const ORIGIN = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

describe("the shop's page, in Chromium", () => {
  const chromium = browser();
  const service = inProcessService({ PUBLIC_READ: 'products', CORS_ORIGINS: ORIGIN });
  let page: Page;

  before(async () => {
    port = service.port;
    const body = [...lamps, ...OTHERS].map((product) => `${JSON.stringify(product)}\n`).join('');
    const headers = { 'Content-Type': 'application/x-ndjson' };
    expect((await service.client.post('/v1/products/imports', body, { headers })).status).to.equal(200);
  });
  after(async () => {
    server.close();
    await page?.context().close();
  });

  /** Opens a page whose errors end the test. */
  const open = async (query: string, options = {}) => {
    await page?.context().close();
    const context = await openContext(chromium(), {
      permissions: ['local-network-access'],
      locale: 'en-GB',
      viewport: { width: 1280, height: 900 },
      ...options,
    });
    page = await context.newPage();
    await page.goto(`${ORIGIN}/${query}`);
    await settled();
  };
  const settled = () => page.locator('#products[aria-busy=false]').waitFor({ state: 'attached' });
  const shown = () => page.locator('#products h3').allTextContents();
  const choose = (name: string | RegExp) => page.getByRole('checkbox', { name }).click();
  const expectShown = async (expected: typeof lamps, total = expected.length) => {
    await page
      .getByRole('status')
      .filter({ hasText: `${total} product` })
      .waitFor();
    await settled();
    expect(await shown()).to.deep.equal(names(expected.slice(0, PAGE)));
  };
  const searched = () => new URL(page.url()).searchParams;

  it('shows what the address says: a branch of categories, attributes, a price range, in stock, cheapest first', async () => {
    await open('?category=lighting/table/&colour=red&from=15.5&to=60&stock=1&sort=price.amount');
    await expectShown(
      lamps.filter(
        ({ price: { amount }, tags, attributes, stock }) =>
          tags.includes('lighting/table/desk') &&
          attributes.colour === 'red' &&
          amount >= 1_550 &&
          amount <= 6_000 &&
          stock > 0,
      ),
    );
    expect(await page.getByLabel('From').inputValue()).to.equal('15.5');
    expect(await page.getByRole('checkbox', { name: 'red' }).isChecked()).to.equal(true);
    expect(await page.locator('#title').textContent()).to.equal('Table');
  });

  it('counts beside each choice, and keeps the other choices of a filter', async () => {
    await open('?sort=name');
    await choose(/^Acme/);
    await expectShown(lamps.filter(({ brand }) => brand === 'Acme'));
    expect(await page.locator('#brand label').allTextContents()).to.deep.equal(['Acme20', 'Halden20', 'Smith, Sons20']);
    expect(await page.locator('#colour label').allTextContents()).to.deep.equal(['black10', 'red10']);
    await choose(/^Halden/);
    await expectShown(lamps.filter(({ brand }) => brand !== 'Smith, Sons'));
    expect(searched().getAll('brand')).to.deep.equal(['Acme', 'Halden']);
  });

  it('chooses a value with a comma alone', async () => {
    await choose(/^Smith/);
    await expectShown(lamps.filter(({ brand }) => brand === 'Smith, Sons'));
    await choose(/^Acme/);
    await expectShown(lamps.filter(({ brand }) => brand === 'Acme'));
  });

  it('keeps the focus on a choice whose list is made again', async () => {
    await page.getByRole('checkbox', { name: /^Halden/ }).focus();
    await page.keyboard.press('Space');
    await expectShown(lamps.filter(({ brand }) => brand !== 'Smith, Sons'));
    expect(await page.evaluate(() => document.activeElement?.id)).to.equal('brand=Halden');
  });

  it('leads through pages, and back and forward', async () => {
    await open('?sort=price.amount');
    expect(await page.getByText('Previous page').isVisible()).to.equal(false);
    const parts = [lamps.slice(0, PAGE), lamps.slice(PAGE, 2 * PAGE), lamps.slice(2 * PAGE)];
    const at = (part: number) => expectShown(parts[part] ?? [], lamps.length);
    await at(0);
    for (const part of [1, 2]) {
      await page.getByText('Next page').click();
      await at(part);
    }
    expect(await page.getByText('Next page').isVisible()).to.equal(false);
    await page.getByText('Previous page').click();
    await at(1);
    await page.goBack();
    await at(2);
    await page.goForward();
    await at(1);
    await page.reload();
    await at(1);
    await choose('In stock');
    await expectShown(lamps.filter(({ stock }) => stock > 0));
    expect(searched().has('cursor')).to.equal(false);
  });

  it('has the tags as a tree, and as a list those that are no paths', async () => {
    await open('?sort=name');
    await page.locator('summary', { hasText: 'Lighting' }).click();
    await page.getByRole('link', { name: /^Floor lamps/ }).click();
    await expectShown(lamps.filter((_, at) => at % 5 === 0));
    expect(await page.locator('nav a').allTextContents()).to.deep.equal([
      'All products',
      'All',
      'Floor lamps12',
      'All',
      'Desk48',
      'Sale6',
    ]);
    expect(await page.locator('nav [aria-current]').textContent()).to.equal('Floor lamps12');
    await page.getByRole('link', { name: /^Sale/ }).click();
    await expectShown(lamps.filter((_, at) => at % 10 === 0));
    await page.getByText('Clear filters').click();
    await expectShown([...lamps].reverse());
  });

  it('finds words', async () => {
    await page.getByRole('searchbox').fill('lamp 1');
    await page.keyboard.press('Enter');
    await expectShown(lamps.slice(10, 20).reverse());
  });

  it('shows prices in the digits of their currency, and texts as text', async () => {
    for (const [currency, name, price] of [
      ['EUR', 'Lamp 59', '€69.00'],
      ['JPY', 'Andon', 'JP¥1,999'],
      ['HUF', HOSTILE, 'HUF 1,999.50'],
    ] as const) {
      await open(`?currency=${currency}`);
      const card = page.locator('#products li').first();
      expect(await card.locator('h3').textContent()).to.equal(name);
      expect((await card.locator('.price').textContent())?.replace(/\s|Only.*/g, ' ').trim()).to.equal(price);
    }
    expect(await page.locator('h3 a').getAttribute('href')).to.equal('https://shop.example/lamp');
    expect(await page.title()).to.equal('All products – Shop');
  });

  it('drops the response to an older request', async () => {
    await open('?sort=name');
    const held = page.waitForRequest(/products\?.*brand=Acme/);
    await page.route(/products\?.*brand=Acme/, () => {});
    await choose(/^Acme/);
    const older = await held;
    const dropped = page.waitForEvent('requestfailed', (request) => request === older);
    await page.goBack();
    await dropped;
    await expectShown(lamps);
  });

  it('shows an error, and tries again', async () => {
    await open('?q=!');
    expect(await page.getByRole('alert').textContent()).to.include('The parameter q takes a word');
    expect(await shown()).to.deep.equal([]);
    await page.route(/products\?/, (route) => route.abort(), { times: 1 });
    await page.getByText('Clear filters').click();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await expectShown([...lamps].reverse());
    expect(await page.getByRole('alert').isVisible()).to.equal(false);
  });

  it('shows the products without counts if there are none', async () => {
    await open('?sort=name');
    await page.route(/facets\?/, (route) => route.abort());
    await choose('In stock');
    await page.getByRole('alert').waitFor();
    expect(await shown()).to.deep.equal(names(lamps.filter(({ stock }) => stock > 0).slice(0, PAGE)));
    expect(await page.locator('aside small:visible, [role=status]:visible').count()).to.equal(0);
    expect(await page.getByRole('checkbox', { name: 'Acme' }).isVisible()).to.equal(true);
  });

  for (const [appearance, options] of Object.entries(APPEARANCES))
    it(`is accessible ${appearance}`, async () => {
      await open('?category=lighting/&brand=Acme&brand=Halden&q=lamp', options);
      if (!(await page.getByLabel('From').isVisible())) await page.getByText('Filters', { exact: true }).click();
      await expectAccessible(page, 'the shop');
    });
});
