import { expect } from 'chai';
import type { Page, Route } from 'playwright-core';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { APPEARANCES, expectAccessible } from './accessibility.js';
import { button, consolePages, field } from './console-page.js';

/** What a request can meet, and the words for it. */
const FAILURES: Readonly<Record<string, { readonly respond: (route: Route) => unknown; readonly words: RegExp }>> = {
  'an expired key': { respond: refuse(401, 'token_expired'), words: /signed out|no longer accepts this key/ },
  'a missing scope': { respond: refuse(403, 'insufficient_scope'), words: /does not allow that/ },
  'the rate limit': {
    respond: refuse(429, 'rate_limited', { 'Retry-After': '59' }),
    words: /Too many requests/,
  },
  'an unreachable store': {
    respond: refuse(503, 'unavailable', { 'Retry-After': '59' }),
    words: /cannot respond now/,
  },
  'a failure of the service': { respond: refuse(500, 'internal_error'), words: /The service failed/ },
  'a lost connection': {
    respond: (route) => route.abort('connectionreset'),
    words: /No connection to the service|not known whether/,
  },
  'the page of a proxy': {
    respond: (route) => route.fulfill({ status: 200, contentType: 'text/html', body: '<h1>Log in</h1>' }),
    words: /did not come from the service/,
  },
  'JSON of another server': {
    respond: (route) => route.fulfill({ status: 502, json: { error: 'bad gateway' } }),
    words: /did not come from the service/,
  },
};

function refuse(status: number, code: string, headers: Record<string, string> = {}) {
  return (route: Route) => route.fulfill({ status, headers, json: { code, message: 'Something.', details: [] } });
}

describe('the console, when something fails', () => {
  const service = inProcessService();
  const open = consolePages(service);
  before(async () => {
    await service.client.post('/v1/products', { name: 'Lamp' });
  });
  const nameIn = (page: Page) => field(page, 'Name');

  /** Does something while requests fail. */
  const failing = async (page: Page, method: string, failure: string, act: () => Promise<unknown>) => {
    const { respond, words } = FAILURES[failure] as (typeof FAILURES)[string];
    await page.route('**/v1/**', (route) => (route.request().method() === method ? respond(route) : route.continue()));
    await act();
    await page.getByText(words).first().waitFor();
    await expectAccessible(page, failure);
    await page.unrouteAll();
  };

  const FLOWS = [
    {
      what: 'the words of a search',
      hash: '#/products',
      input: (page: Page) => page.getByRole('searchbox'),
      method: 'GET',
      done: '1 of 1',
    },
    { what: 'a form', hash: '#/products/1', input: nameIn, method: 'PATCH', done: /^Saved / },
    {
      what: 'a new key',
      hash: '#/keys/new',
      input: nameIn,
      method: 'POST',
      done: 'The key is created',
    },
  ];
  for (const failure of Object.keys(FAILURES))
    for (const { what, hash, input, method, done } of FLOWS)
      it(`keeps what was typed in ${what} after ${failure}, and can repeat it`, async () => {
        const { page, errors } = await open(hash);
        const typed = method === 'GET' ? 'lam' : `Lamp after ${failure}`;
        await input(page).fill(typed);
        if (method === 'POST') await page.getByLabel('products:read').check();
        await failing(page, method, failure, () => input(page).press('Enter'));
        const isSignedOut = failure === 'an expired key';
        if (isSignedOut) {
          const dialog = page.getByRole('dialog');
          await dialog.getByLabel('API key or access token').fill(FIRST_KEY);
          await button(dialog, 'Sign in').click();
          await dialog.waitFor({ state: 'detached' });
        }
        expect(await input(page).inputValue()).to.equal(typed);
        // A search goes on by itself after a sign-in.
        if (method !== 'GET') await input(page).press('Enter');
        else if (!isSignedOut) await button(page, 'Try again').click();
        await page.getByText(done).first().waitFor();
        expect(errors).to.deep.equal([]);
      });
});

describe('every page of the console', () => {
  const service = inProcessService();
  const open = consolePages(service);
  before(async () => {
    const { client } = service;
    for (const name of ['Lamp', 'Desk', '東京タワーの置物'])
      await client.post('/v1/products', {
        name,
        description: 'A long text. '.repeat(40),
        price: { amount: 1, currency: 'EUR' },
        attributes: {
          colour: 'green',
          'a very long name of an attribute, longer than most': 'x'.repeat(400),
        },
      });
    await client.post('/v1/users', { name: 'Ann', email: `${'a'.repeat(64)}@example.org` });
    await client.post('/v1/orders', { userId: 1, items: [{ productId: 1, quantity: 2 }] });
  });

  /** The fragment of each page, what it does, and words that no page before it shows. */
  const PAGES = [
    ['#/products', 'lists products', 'Products'],
    ['#/products?q=lamp&name.prefix=L&sku.exists=false&sort=-name', 'lists what a query finds', '1 of 1'],
    ['#/products?q=zzz', 'finds nothing', 'No record matches'],
    ['#/products/1', 'edits a product', 'Lamp'],
    ['#/products/new', 'creates a product', 'New product'],
    ['#/products/99', 'lacks a product', 'There is no such record'],
    ['#/import/products', 'imports products', 'Import products'],
    ['#/users', 'lists users', 'Users'],
    ['#/users/1', 'edits a user', 'Ann'],
    ['#/orders', 'lists orders', 'Orders'],
    ['#/orders/1', 'edits an order', 'Order 1'],
    ['#/orders/new', 'creates an order', 'New order'],
    ['#/keys', 'lists keys', 'API keys'],
    ['#/keys/1', 'shows a key', 'Requests of the last 24 hours'],
    ['#/keys/new', 'creates a key', 'New API key'],
    ['#/nothing', 'does not exist', 'There is no such page'],
  ] as const;
  for (const [appearance, options] of Object.entries(APPEARANCES))
    it(`has no axe violations and no horizontal scroll ${appearance}`, async () => {
      const { page, errors } = await open('', options);
      for (const [hash, what, words] of PAGES) {
        await page.goto(`https://localhost:${service.port}/console${hash}`);
        await page.locator('main').getByText(words, { exact: true }).first().waitFor();
        await page.getByText('Loading…').first().waitFor({ state: 'hidden' });
        await expectAccessible(page, `${what}, ${appearance}`);
      }
      expect(errors).to.deep.equal([]);
    });
});
