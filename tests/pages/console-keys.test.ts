import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { until } from '../support/until.js';
import { expectAccessible } from './accessibility.js';
import { button, consolePages, isFocused, keyWith, show } from './console-page.js';

const SECRET = /^pcs_[0-9A-Za-z]{36}$/;

describe('the API keys in the console', () => {
  const service = inProcessService();
  const open = consolePages(service);
  const create = async (name: string, scopes: readonly string[], more: object = {}) =>
    (await service.client.post('/v1/api-keys', { name, scopes, ...more })).json;
  // Its request is saved while the other tests run.
  let used: { readonly id: number; readonly key: string; readonly expiresAt: string };
  before(async () => {
    used = await create('short', ['products:read'], { expiresAt: '2099-01-01T00:00:00.000Z' });
    await service.client.get('/v1/products', { token: used.key });
  });
  const secretIn = (page: Page) => page.getByRole('dialog').locator('code').innerText();

  it('are created with a name, scopes and an expiry; the secret is shown once and can be copied', async () => {
    const { page, context } = await open('#/keys');
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('link', { name: 'New API key' }).click();
    await page.getByLabel('Name').fill('web shop');
    await page.getByLabel('products:read').check();
    await page.getByLabel('Expires').fill('2099-01-31T12:00');
    await expectAccessible(page, 'the form');
    await button(page, 'Create').click();
    await page.getByRole('dialog', { name: 'The key is created' }).waitFor();
    const secret = await secretIn(page);
    expect(secret).to.match(SECRET);
    await expectAccessible(page, 'the secret');
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied.').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).to.equal(secret);
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).to.equal(1);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('heading', { name: 'web shop' }).waitFor();
    expect(await page.content()).to.not.include(secret);
    expect(await page.locator('dl').innerText())
      .to.match(/2099/)
      .and.match(/Created by\s+1\b/);
    const read = await service.client.get('/v1/products', { token: secret });
    expect(read.status).to.equal(200);
    expect((await service.client.get('/v1/users', { token: secret })).status).to.equal(403);
  });

  it('can give only the scopes that the key of the person has', async () => {
    const { key } = await keyWith(service, 'keys:admin', 'users:read');
    const { page } = await open('#/keys/new', { key });
    const scopes = page.getByRole('group', { name: 'Scopes' });
    await scopes.waitFor();
    expect((await scopes.locator('code').allInnerTexts()).map((text) => text.trim())).to.deep.equal([
      'users:read',
      'keys:admin',
    ]);
  });

  it('say at its field what is wrong, and keep what was typed', async () => {
    const { page } = await open('#/keys/new');
    await page.getByLabel('Expires').fill('2001-01-01T00:00');
    await button(page, 'Create').click();
    await page.getByRole('alert').getByText('Nothing was saved').waitFor();
    expect(await page.getByLabel('Name').getAttribute('aria-invalid')).to.equal('true');
    expect(await page.getByLabel('Expires').inputValue()).to.equal('2001-01-01T00:00');
    await expectAccessible(page, 'errors');
  });

  it('are created once though the person presses the button again', async () => {
    const { page } = await open('#/keys/new');
    let isLost = true;
    await page.route('**/v1/api-keys', async (route) => {
      if (!isLost) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await page.getByLabel('Name').fill('twice');
    await page.getByLabel('products:read').check();
    await button(page, 'Create').click();
    await page.getByRole('alert').getByText('No connection to the service').waitFor();
    isLost = false;
    await button(page, 'Create').click();
    await page.getByText('The key was already created by an earlier attempt').waitFor();
    const { json } = await service.client.get('/v1/api-keys');
    expect(json.filter(({ name }: { name: string }) => name === 'twice')).to.have.length(1);
  });

  it('are revoked after a question', async () => {
    const { id, key } = await create('leaked', ['products:read']);
    const { page } = await open(`#/keys/${id}`);
    const revoke = page.getByRole('button', { name: 'Revoke' });
    await revoke.click();
    const dialog = page.getByRole('dialog', { name: 'Revoke “leaked”?' });
    await expectAccessible(page, 'the question');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await isFocused(revoke)).to.equal(true);
    expect((await service.client.get('/v1/products', { token: key })).status).to.equal(200);
    await revoke.click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('status').getByText('“leaked” is revoked.').waitFor();
    await page.getByRole('link', { name: 'first key' }).waitFor();
    expect(await page.getByRole('link', { name: 'leaked' }).count()).to.equal(0);
    expect((await service.client.get('/v1/products', { token: key })).status).to.equal(401);
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await page.getByText('“leaked” is revoked.').waitFor({ state: 'detached' });
  });

  it('show their usage, and which ones have expired', async () => {
    // A process saves its counts every ten seconds, and the page shows what is saved.
    await until('the request is counted', async () => {
      const { json } = await service.client.get(`/v1/api-keys/${used.id}`);
      return json.usage.requests === 1;
    });
    const { page } = await open(`#/keys/${used.id}`);
    await page.getByRole('cell', { name: '1', exact: true }).waitFor();
    await page.getByText('GET /v1/products').waitFor();
    await page.clock.setFixedTime(used.expiresAt);
    await show(page, '#/keys');
    await page.getByRole('row', { name: /short/ }).getByText('expired').waitFor();
    await expectAccessible(page, 'the list');
  });

  it('say in words that the last key for keys stays', async () => {
    const { json } = await service.client.get('/v1/api-keys');
    const others = json.filter(({ id }: { id: number }) => id !== 1);
    for (const { id } of others) await service.client.delete(`/v1/api-keys/${id}`);
    const { page } = await open('#/keys/1', { key: FIRST_KEY });
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('alert').getByText('Create another one first').waitFor();
    await expectAccessible(page, 'the refusal');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });
});
