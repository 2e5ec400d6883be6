import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { browser, openContext } from '../support/browser.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { prefixProxy } from '../support/prefix-proxy.js';
import { expectAccessible } from './accessibility.js';
import { button, choose, consolePages, isFocused, keyWith, linesOf, signIn, signOut } from './console-page.js';

const WRONG_KEY = `pcs_${'0'.repeat(36)}`;
const links = (page: Page) => page.getByRole('navigation', { name: 'Resources' }).getByRole('link').allInnerTexts();

describe('the session of the console', () => {
  const service = inProcessService();
  const open = consolePages(service);

  /** Opens the console without signing in. */
  const visit = async (prepare?: (page: Page) => Promise<unknown>): Promise<Page> =>
    (await open('', { key: null, ...(prepare && { prepare }) })).page;
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1, exact: true });

  it('loads from this service alone, without errors, and outlives a reload but not the last tab', async () => {
    const origins = new Set<string>();
    const { page, context, errors } = await open('#/users', {
      prepare: async (one) => one.on('request', (sent) => origins.add(new URL(sent.url()).origin)),
    });
    await heading(page, 'Users').waitFor();
    expect(await page.title()).to.equal('Users · Console');
    expect(await links(page)).to.include.members(['Products', 'Users', 'Orders', 'API keys', 'Webhooks']);
    await page.reload();
    await heading(page, 'Users').waitFor();
    const url = page.url();
    await page.close();
    const other = await context.newPage();
    await other.goto(url);
    const field = other.getByLabel('API key or access token');
    await field.waitFor();
    expect(await isFocused(field)).to.equal(true);
    expect([...origins]).to.deep.equal([`https://localhost:${service.port}`]);
    expect(errors).to.deep.equal([]);
  });

  it('says in words that a key is wrong, and keeps it in its field', async () => {
    const page = await visit();
    const field = page.getByLabel('API key or access token');
    const submit = button(page, 'Sign in');
    await submit.click();
    await page.getByText('Enter a key or an access token.').waitFor();
    await field.fill('not a key');
    await submit.click();
    await page.getByText('This has characters that cannot be in a key.').waitFor();
    expect(await field.getAttribute('aria-invalid')).to.equal('true');
    await field.fill(WRONG_KEY);
    await submit.click();
    await page.getByRole('alert').getByText('The service does not accept this key').waitFor();
    expect(await field.inputValue()).to.equal(WRONG_KEY);
    await field.fill(`Authorization: Bearer ${FIRST_KEY}`);
    await submit.click();
    await heading(page, 'Products').waitFor();
  });

  it('shows what the key allows, and no more', async () => {
    const { key } = await keyWith(service, 'products:read', 'users:read', 'users:write');
    const { page } = await open('', { key });
    await heading(page, 'Products').waitFor();
    expect(await links(page)).to.deep.equal(['Products', 'Users']);
    expect(await page.getByRole('link', { name: 'New product' }).count()).to.equal(0);
    await page.getByRole('link', { name: 'Users', exact: true }).click();
    await page.getByRole('link', { name: 'New user' }).waitFor();
    await page.goto(`https://localhost:${service.port}/console#/orders`);
    await page.getByRole('alert').getByText('This key does not allow that').waitFor();
    expect(await page.getByRole('alert').innerText()).to.include('orders:read');
  });

  it('accepts an access token', async () => {
    const { id, key } = await keyWith(service, 'orders:read');
    const body = `grant_type=client_credentials&client_id=${id}&client_secret=${key}`;
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const { json } = await service.client.request('POST', '/oauth/token', { token: null, headers, body });
    const { page } = await open('', { key: json.access_token });
    await heading(page, 'Orders').waitFor();
    expect(await links(page)).to.deep.equal(['Orders']);
  });

  it('says so if the key has no scope for reading', async () => {
    const { key } = await keyWith(service, 'products:write');
    const page = await visit();
    await page.getByLabel('API key or access token').fill(key);
    await button(page, 'Sign in').click();
    await heading(page, 'Nothing to show').waitFor();
  });

  it('changes nothing when it looks what a key allows, and is refused nothing', async () => {
    const writes: string[] = [];
    const refusals: string[] = [];
    const { page } = await open('', {
      prepare: async (one) => {
        one.on('response', (response) => {
          if (response.request().method() !== 'GET')
            writes.push(`${response.status()} ${response.request().postData()}`);
        });
        one.on('console', (message) => {
          if (message.type() === 'error') refusals.push(message.text());
        });
      },
    });
    await heading(page, 'Products').waitFor();
    expect([new Set(writes), refusals]).to.deep.equal([new Set(['200 null']), []]);
  });

  it('goes to other tabs of the service without storage, and ends in all of them', async () => {
    const { page, context } = await open('#/users');
    await heading(page, 'Users').waitFor();
    const [docs, other] = [await context.newPage(), await context.newPage()];
    await docs.goto(`https://localhost:${service.port}/docs`);
    const shown = (key: string) =>
      docs.waitForFunction((text) => (document.getElementById('key') as HTMLInputElement | null)?.value === text, key);
    await shown(FIRST_KEY);
    await other.goto(page.url());
    await heading(other, 'Users').waitFor();
    expect(JSON.stringify(await context.storageState({ indexedDB: true }))).to.not.include('pcs_');
    await signOut(other);
    await page.getByText('You are signed out.').waitFor();
    await shown('');
    await page.reload();
    await page.getByLabel('API key or access token').waitFor();
    const stored = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
    expect(stored).to.not.include('pcs_');
  });

  it('asks for another key when the service rejects this one, and keeps what was typed', async () => {
    const { id, key } = await keyWith(service, 'products:read', 'products:write');
    await service.client.post('/v1/products', { name: 'Lamp' });
    const { page } = await open('#/products', { key });
    await heading(page, 'Products').waitFor();
    await page.getByRole('searchbox').fill('half a word');
    await service.client.delete(`/v1/api-keys/${id}`);
    await button(page, 'Drafts').click();
    const dialog = page.getByRole('dialog', { name: 'You are signed out' });
    await dialog.waitFor();
    await dialog.getByLabel('API key or access token').fill(FIRST_KEY);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByRole('searchbox').inputValue()).to.equal('half a word');
    expect(await links(page)).to.include('API keys');
    await button(page, 'All').click();
    await page.getByRole('link', { name: 'Lamp' }).waitFor();
  });

  it('says what the key allows, and how many requests are left', async () => {
    const { page } = await open();
    await button(page, 'Settings').click();
    await button(page, 'About this connection').click();
    const about = page.getByRole('dialog', { name: 'About this connection' });
    await about.getByText(/^[\d.,]+ of 1,000,000, counted anew in \d+ s$/).waitFor();
    await about.getByText('See all products, also drafts and archived ones').waitFor();
    await expectAccessible(page, 'the connection');
    await page.keyboard.press('Escape');
    await about.waitFor({ state: 'detached' });
    // The menu that had the button is closed.
    await button(page, 'Settings').and(page.locator(':focus')).waitFor();
  });

  it('says in words that the document cannot be read, and can retry', async () => {
    let [isBroken, asked] = [true, 0];
    const page = await visit((one) =>
      one.route('**/openapi.json', (route) => {
        asked += 1;
        return isBroken ? route.abort() : route.continue();
      }),
    );
    await page.getByLabel('API key or access token').fill(FIRST_KEY);
    // The first page can be used without it.
    expect(asked).to.equal(0);
    await button(page, 'Sign in').click();
    await page.getByRole('alert').getByText('No connection to the service').waitFor();
    isBroken = false;
    await button(page, 'Sign in').click();
    await heading(page, 'Products').waitFor();
  });

  it('shows the colours that the person chooses, and remembers them', async () => {
    const { page } = await open('', { colorScheme: 'light' });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    const settings = button(page, 'Settings');
    await settings.click();
    await page.getByLabel('Dark').check();
    const dark = await ground();
    expect(dark).to.not.equal(light);
    await page.reload();
    await heading(page, 'Products').waitFor();
    expect(await ground()).to.equal(dark);
    await page.emulateMedia({ colorScheme: 'dark' });
    await settings.click();
    await page.getByLabel('System').check();
    expect(await ground()).to.equal(dark);
  });

  it('ends with a run that is going on, and leaves nothing of what that did', async () => {
    const { page } = await open('#/import/products');
    let sent = 0;
    await page.route('**/v1/products/imports*', (route) => ++sent === 1 && route.continue());
    await choose(page, 'lamps.ndjson', linesOf(...Array.from({ length: 5_500 }, (_, at) => ({ name: `Lamp ${at}` }))));
    await button(page, 'Start import').click();
    await page.getByText(/5,000/).first().waitFor();
    await signOut(page);
    await page.getByText('You are signed out.').waitFor();
    await page.waitForTimeout(500);
    expect(await page.evaluate(() => sessionStorage.getItem('catalogue.console-undo'))).to.equal(null);
    await page.unroute('**/v1/products/imports*');
    await signIn(page);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await button(page, 'Undo').count()).to.equal(0);
  });
});

describe('the console behind a proxy that adds a path prefix', () => {
  const service = inProcessService({ TLS: 'proxy', TRUSTED_PROXIES: '127.0.0.1' });
  const launched = browser();
  const proxy = prefixProxy('/shop', service);

  it('signs in, lists and follows the pages', async () => {
    const context = await openContext(launched());
    const page = await context.newPage();
    await page.goto(`http://localhost:${proxy.port}/shop/console#/keys?limit=20`);
    await signIn(page);
    await page.getByRole('link', { name: 'first key' }).waitFor();
    await button(page, 'Settings').click();
    expect(await page.getByRole('link', { name: 'API reference' }).getAttribute('href')).to.match(/\/shop\/docs$/);
    await context.close();
  });
});
