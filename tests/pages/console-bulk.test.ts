import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { inProcessService } from '../support/in-process-service.js';
import { APPEARANCES, expectAccessible } from './accessibility.js';
import { consolePages } from './console-page.js';

const boxes = (page: Page) => page.locator('tbody input[type=checkbox]');
const bar = (page: Page) => page.getByRole('region', { name: 'Selected records' });
const isSelected = (page: Page, count: number) => bar(page).getByText(`${count} selected`, { exact: true }).waitFor();

describe('several records in the console', () => {
  const service = inProcessService();
  const open = consolePages(service);
  before(async () => {
    for (let at = 1; at <= 45; at++)
      await service.client.post('/v1/products', {
        name: `Lamp ${String(at).padStart(2, '0')}`,
        price: { amount: at * 100, currency: 'EUR' },
        ...(at > 35 && { status: 'draft' }),
      });
  });

  it('are selected one by one, from one to another, on several pages, and all that match', async () => {
    const { page } = await open('#/products?limit=20');
    await boxes(page).nth(2).click();
    await boxes(page)
      .nth(5)
      .click({ modifiers: ['Shift'] });
    await isSelected(page, 4);
    await boxes(page).nth(3).press('Space');
    await isSelected(page, 3);
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByRole('link', { name: 'Lamp 21' }).waitFor();
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
    await isSelected(page, 23);
    await page.getByRole('link', { name: 'Lamp 22' }).click();
    await page.getByRole('heading', { name: 'Lamp 22' }).waitFor();
    await page.goBack();
    await isSelected(page, 23);
    await page.getByRole('button', { name: 'Drafts' }).click();
    await bar(page).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await boxes(page).first().click();
    await bar(page).getByRole('button', { name: 'Select all on this page' }).click();
    await bar(page).getByRole('button', { name: 'Select all 45 that match' }).click();
    await isSelected(page, 45);
    await bar(page).getByRole('button', { name: 'Clear selection' }).click();
    expect(await boxes(page).first().isChecked()).to.equal(false);
  });

  for (const [appearance, options] of Object.entries(APPEARANCES))
    it(`have no axe violations ${appearance}`, async () => {
      const { page } = await open('#/products?limit=20', options);
      await boxes(page).first().click();
      await isSelected(page, 1);
      await expectAccessible(page, 'a selection');
    });
});
