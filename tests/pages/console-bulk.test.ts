import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { inProcessService } from '../support/in-process-service.js';
import { APPEARANCES, expectAccessible } from './accessibility.js';
import { button, consolePages, isFocused } from './console-page.js';

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

  /** Counts the clicks of a person. */
  const clicking = () => {
    const counter = { clicks: 0 };
    const click = async (one: Locator, options = {}) => {
      counter.clicks++;
      await one.click(options);
    };
    return { counter, click };
  };
  const read = async (query: string) => (await service.client.get(`/v1/products?${query}`)).json;

  it('get a tag and 5 % on their prices in at most 8 clicks, after a look at what changes, and lose both by an undo', async () => {
    const { page, errors } = await open('#/products');
    const { counter, click } = clicking();
    const before = await read('limit=50');
    await click(boxes(page).first());
    await click(boxes(page).nth(39), { modifiers: ['Shift'] });
    await click(button(page, 'Add tags'));
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('Autumn');
    await click(page.getByRole('dialog').getByRole('button', { name: 'Change price' }));
    expect(await isFocused(page.getByRole('combobox', { name: 'Change price' }))).to.equal(true);
    await page.getByLabel('Per cent', { exact: true }).fill('x');
    await page.keyboard.press('Enter');
    await page.getByText('Write a number like').waitFor();
    await page.getByLabel('Per cent', { exact: true }).fill('5');
    await page.keyboard.press('Enter');
    await page.getByText('40 would change. Nothing is written yet.').waitFor();
    const differences = page.getByRole('region', { name: 'Changes: the first 10 of 40' });
    await differences.getByRole('row', { name: 'Lamp 01 Price €1.00 €1.05' }).waitFor();
    await expectAccessible(page, 'what would change');
    expect(await read('limit=50')).to.deep.equal(before);
    await click(button(page, 'Change 40 products'));
    await page.getByText('40 changed.', { exact: true }).waitFor();
    await click(button(page, 'Done'));
    expect(counter.clicks).to.be.at.most(8);
    const after = await read('limit=50');
    expect([after[0].price.amount, after[0].tags, after[39].price.amount]).to.deep.equal([105, ['Autumn'], 4200]);
    expect(after.slice(40)).to.deep.equal(before.slice(40));
    await page.getByText('Products: 40 changed.').waitFor();
    await page.getByLabel('Rows').click({ trial: true });
    await service.client.patch('/v1/products/2', { name: 'Theirs' });
    await button(page, 'Undo').click();
    await page.getByText('40 get back the values that they had.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
    await page.getByText('39 undone. 1 stay as they are: see below.').waitFor();
    const others = page.getByRole('region', { name: 'Changed by others since' });
    await others.getByRole('link', { name: 'Theirs' }).waitFor();
    await button(page, 'Done').click();
    const undone = await read('limit=50');
    expect(undone[1]).to.deep.equal({ ...after[1], name: 'Theirs' });
    expect(undone.toSpliced(1, 1)).to.deep.equal(before.toSpliced(1, 1));
    expect(await button(page, 'Undo').count()).to.equal(0);
    expect(errors).to.deep.equal([]);
  });

  it('are counted again after the change and after its undo, without the feed of changes', async () => {
    const { page } = await open('#/products', {
      prepare: (one) => one.route(/\/products\/changes/, (route) => route.abort()),
    });
    const counted = page.getByRole('group', { name: 'Tags', exact: true }).locator('li', { hasText: 'Winter1' });
    await boxes(page).nth(2).click();
    await button(page, 'Add tags').click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('Winter');
    await page.keyboard.press('Enter');
    await button(page, 'Preview').click();
    await button(page, 'Change 1 product').click();
    await button(page, 'Done').click();
    await counted.waitFor();
    await button(page, 'Undo').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
    await page.getByText('1 undone.').waitFor();
    await button(page, 'Done').click();
    await counted.waitFor({ state: 'detached', timeout: 5_000 });
  });

  it('are published in at most 5 clicks', async () => {
    const { page } = await open('#/products');
    const { counter, click } = clicking();
    await click(button(page, 'Drafts'));
    await page.waitForURL(/status=draft/);
    await page.getByRole('link', { name: 'Lamp 01' }).waitFor({ state: 'detached' });
    await click(page.getByRole('checkbox', { name: 'Select all on this page' }));
    await isSelected(page, 10);
    await click(button(page, 'Set status'));
    await click(button(page, 'Preview'));
    await click(button(page, 'Change 10 products'));
    await page.getByText('10 changed.', { exact: true }).waitFor();
    expect(counter.clicks).to.be.at.most(5);
    expect(await read('status.exists=true')).to.deep.equal([]);
  });

  it('are deleted after a look, and created again with new ids by an undo', async () => {
    const { page } = await open('#/products?sort=-id');
    await boxes(page).first().click();
    await boxes(page).nth(1).click();
    const before = await read('sort=-id&limit=2');
    await bar(page).getByRole('button', { name: 'Delete' }).click();
    await button(page, 'Preview').click();
    await page.getByText('2 would be deleted. Nothing is written yet.').waitFor();
    await button(page, 'Delete 2 products').click();
    await page.getByText('2 deleted.', { exact: true }).waitFor();
    await button(page, 'Done').click();
    await button(page, 'Undo').click();
    await page.getByText('2 that were deleted are created again, with new IDs.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
    await page.getByText('2 undone.').waitFor();
    const withoutIds = (records: readonly { readonly id: number }[]) => records.map(({ id: _, ...rest }) => rest);
    const after = await read('sort=-id&limit=2');
    expect(withoutIds(after)).to.have.deep.members(withoutIds(before));
    expect(after[0].id).to.be.greaterThan(before[0].id);
  });

  it('stay selected with the reason if somebody else changes them in between', async () => {
    const { page } = await open('#/products');
    await boxes(page).first().click();
    await boxes(page).nth(2).click();
    await button(page, 'Set stock').click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('1 000');
    await page.keyboard.press('Enter');
    await button(page, 'Change 2 products').waitFor();
    await service.client.patch('/v1/products/1', { description: 'Theirs' });
    await button(page, 'Change 2 products').click();
    await page.getByText('1 changed.', { exact: true }).waitFor();
    await page.getByText('1 not changed. They stay selected, with the reason.').waitFor();
    await button(page, 'Done').click();
    await isSelected(page, 1);
    await page.locator('tr.selected').getByText('Somebody else changed it at the same time.').waitFor();
    const [one, , three] = await read('limit=3');
    expect([one.stock, one.description, three.stock]).to.deep.equal([undefined, 'Theirs', 1_000]);
  });

  for (const [appearance, options] of Object.entries(APPEARANCES))
    it(`have no axe violations ${appearance}`, async () => {
      const { page } = await open('#/products?limit=20', options);
      await boxes(page).first().click();
      await isSelected(page, 1);
      await expectAccessible(page, 'a selection');
      await page.getByRole('button', { name: 'Change price' }).click();
      await expectAccessible(page, 'the change of a price');
    });
});
