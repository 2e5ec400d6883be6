import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { inProcessService } from '../support/in-process-service.js';
import { expectAccessible, PHONE } from './accessibility.js';
import { button as buttonIn, consolePages, keyWith } from './console-page.js';

const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

describe('webhooks in the console', () => {
  const service = inProcessService({ WEBHOOK_NETWORKS: '127.0.0.0/8' });
  const open = consolePages(service);
  /** Copies the secret that a dialog shows, and closes the dialog. */
  const takeSecret = async (page: Page, title: string): Promise<string> => {
    const dialog = page.getByRole('dialog', { name: title });
    const secret = await dialog.locator('code').innerText();
    expect(secret).to.match(SECRET);
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await dialog.getByText('Copied.').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).to.equal(secret);
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    return secret;
  };

  it('are created, tested, changed, paused and deleted, and each secret is shown once', async () => {
    const { page, context, errors } = await open('#/webhooks');
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const button = (name: string) => buttonIn(page, name);
    const says = (text: string | RegExp) => page.getByText(text).first().waitFor();
    const read = async () => (await service.client.get('/v1/webhooks/1')).json;

    await page.getByRole('link', { name: 'New webhook' }).click();
    await page.getByLabel('Name').fill('search index');
    await page.getByLabel('URL').fill('https://10.0.0.1/hook');
    await page.getByLabel('Products').check();
    await button('Create').click();
    await page.getByRole('alert').getByText('addresses are public').waitFor();
    expect(await page.getByLabel('URL').getAttribute('aria-invalid')).to.equal('true');
    await expectAccessible(page, 'the refusal');
    // Nothing listens on this port.
    await page.getByLabel('URL').fill('https://127.0.0.1:9/a');
    await button('Create').click();
    const secrets = [await takeSecret(page, 'The webhook is created')];
    await page.getByRole('heading', { level: 1, name: 'search index' }).waitFor();

    await says('None yet');
    await button('Send a test').click();
    await page.getByRole('alert').getByText('The test message was not delivered').waitFor();
    await page.getByRole('row', { name: /webhook\.test.*not delivered.*ECONNREFUSED/ }).waitFor();
    await expectAccessible(page, 'the page');

    await page.getByLabel('Users').check();
    await page.getByLabel('URL').fill('https://127.0.0.1:9/b');
    await says('Not saved yet');
    await button('Save').click();
    secrets.push(await takeSecret(page, 'The new secret'));
    await says('Saved “search index”.');
    expect(await read()).to.include({ url: 'https://127.0.0.1:9/b' });
    await button('Make a new secret').click();
    const question = page.getByRole('dialog', { name: 'Make a new secret?' });
    await expectAccessible(page, 'the question');
    await question.getByRole('button', { name: 'Make a new secret' }).click();
    secrets.push(await takeSecret(page, 'The new secret'));
    expect(new Set(secrets).size).to.equal(3);

    await button('Pause').click();
    await says('The webhook is paused.');
    await page.locator('.badge', { hasText: 'paused' }).waitFor();
    expect((await read()).status).to.equal('paused');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize(PHONE);
    await expectAccessible(page, 'the page on a phone');
    await button('Resume').click();
    await says('The webhook sends again.');
    expect(await read()).to.deep.include({ status: 'active', resources: ['products', 'users'] });
    for (const secret of secrets) expect(await page.content()).to.not.include(secret);

    await page.getByRole('link', { name: 'Webhooks' }).first().click();
    await page.getByRole('row', { name: /search index.*127\.0\.0\.1:9\/b.*Active/ }).waitFor();
    await expectAccessible(page, 'the list');
    await page.getByRole('link', { name: 'search index' }).click();
    await button('Delete').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await says('“search index” is deleted.');
    expect((await service.client.get('/v1/webhooks/1')).status).to.equal(404);
    expect(errors).to.deep.equal([]);
  });

  it('are shown to keys with the scope alone', async () => {
    const { key } = await keyWith(service, 'products:read', 'keys:admin');
    const { page } = await open('#/webhooks', { key });
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.getByRole('link', { name: 'API keys' }).count()).to.equal(1);
    expect(await page.getByRole('link', { name: 'Webhooks' }).count()).to.equal(0);
  });
});
