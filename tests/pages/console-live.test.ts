import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { inProcessService } from '../support/in-process-service.js';
import { until } from '../support/until.js';
import { expectAccessible, PHONE } from './accessibility.js';
import { consolePages, field } from './console-page.js';

describe('the console, while others work', () => {
  const service = inProcessService();
  const open = consolePages(service);
  const client = () => service.client;
  const waits = () => service.application.limits.figures('waits').inUse;
  const isWaiting = (count: number) => until(`${count} wait`, () => waits() === count);
  const change = (id: number, patch: object) => client().patch(`/v1/products/${id}`, patch);
  const status = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor();
  const name = (page: Page) => field(page, 'Name');

  before(async () => {
    for (const name of ['Lamp', 'Desk', 'Rug']) await client().post('/v1/products', { name, stock: 1 });
  });

  it('updates lists in place, and overwrites no form in work', async () => {
    const { page, errors } = await open('#/products');
    await isWaiting(1);
    const row = (text: string) => page.getByRole('row', { name: text });
    const ids = () => page.locator('tbody tr').evaluateAll((all) => all.map((one) => one.textContent));
    const before = (await ids()).length;

    // What a person does in a dialog, such as an undo, is no news behind it.
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'About this connection' }).click();
    await isWaiting(0);
    await change(1, { stock: 0 });
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await client().delete('/v1/products/2');
    await client().post('/v1/products', { name: 'Shelf' });
    await status(page, '1 record changed, 1 record deleted, 1 new record.');
    await row('changed').getByText('Lamp').waitFor();
    await row('deleted').getByText('Desk').waitFor();
    expect(await ids()).to.have.length(before);
    await expectAccessible(page, 'the news');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize(PHONE);
    await expectAccessible(page, 'the news on a phone');
    await page.getByRole('button', { name: 'Show new records' }).click();
    await row('new').getByText('Shelf').waitFor();
    expect(await page.getByText('Desk').count()).to.equal(0);

    // Nobody waits for a tab that nobody sees, and it learns of everything later.
    const show = (isShown: boolean) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, !isShown);
    await isWaiting(1);
    await show(false);
    await isWaiting(0);
    await change(3, { name: 'Rug, red' });
    await show(true);
    await row('changed').getByText('Rug, red').waitFor();

    // A form shows what others write until it is in work.
    await page.getByRole('link', { name: 'Rug, red' }).click();
    await name(page).waitFor();
    await isWaiting(1);
    await change(3, { name: 'Rug, blue' });
    await status(page, 'You see it as it is now.');
    expect(await name(page).inputValue()).to.equal('Rug, blue');
    await name(page).fill('My rug');
    await isWaiting(1);
    await change(3, { name: 'Their rug', stock: 7 });
    await status(page, 'What you typed is untouched.');
    expect(await name(page).inputValue()).to.equal('My rug');
    await expectAccessible(page, 'the form');
    await page.getByRole('button', { name: 'Compare both' }).click();
    const dialog = page.getByRole('dialog', { name: 'Somebody else changed this record' });
    await dialog.getByRole('group', { name: 'Name' }).getByLabel('Yours').check();
    await dialog.getByRole('button', { name: 'Save my choice' }).click();
    await status(page, 'Saved “My rug”.');
    expect((await client().get('/v1/products/3')).json).to.include({ name: 'My rug', stock: 7 });
    await name(page).fill('Still mine');
    await isWaiting(1);
    await client().delete('/v1/products/3');
    await status(page, 'Somebody deleted this record.');
    expect(await name(page).inputValue()).to.equal('Still mine');
    await page.getByRole('button', { name: 'Create it again' }).waitFor();
    expect(errors).to.deep.equal([]);
  });
});

describe('the console without a feed', () => {
  const service = inProcessService({ CHANGES: 'off' });
  const open = consolePages(service);

  it('works as ever, from the first visit on', async () => {
    const asked: string[] = [];
    const { page, errors } = await open('#/products', {
      prepare: async (one) => one.on('request', (sent) => asked.push(sent.url())),
    });
    await page.getByRole('heading', { name: 'No products yet' }).waitFor();
    await expectAccessible(page, 'the first visit');
    await page.getByRole('button', { name: 'Load samples' }).click();
    await page.getByText('200 sample products are loaded.').waitFor();
    await page.getByRole('row', { name: /WAT-1-00001/ }).waitFor();
    expect(asked.filter((url) => /changes|fields=.*version/.test(url))).to.deep.equal([]);
    expect(errors).to.deep.equal([]);
  });
});
