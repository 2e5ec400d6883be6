import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { inProcessService } from '../support/in-process-service.js';
import { APPEARANCES, expectAccessible } from './accessibility.js';
import { button, consolePages, isFocused, show } from './console-page.js';

const BRANDS = ['Nordlicht', 'Acme', 'Acme, Inc'];

describe('the counts of the console', () => {
  const service = inProcessService();
  const open = consolePages(service);
  before(async () => {
    for (let at = 0; at < 24; at++)
      await service.client.post('/v1/products', {
        name: `Lamp ${at}`,
        price: { amount: 1_000 + at * 250, currency: at < 20 ? 'EUR' : 'JPY' },
        // 12 of the first, 8 of the second, 4 of the third.
        brand: BRANDS[at < 12 ? 0 : at < 20 ? 1 : 2],
        tags: ['lighting', at % 2 === 0 ? 'lighting/lamps/desk' : 'lighting/lamps/floor'],
        attributes: { watts: (at % 4) * 5, ...(at === 23 && { material: 'brass' }) },
      });
    // More tags than a request reads.
    for (const first of [0, 50, 100])
      await service.client.post('/v1/products', {
        name: `Shelf ${first}`,
        tags: Array.from({ length: 50 }, (_, at) => `stock/${first + at}`),
      });
  });

  const panel = (page: Page, label: string) => page.locator('details.facet', { hasText: label });
  const values = (page: Page, label: string) =>
    page
      .getByRole('group', { name: label, exact: true })
      .locator('li')
      .evaluateAll((all) => all.map((one) => one.textContent));
  const hasValue = (page: Page, label: string, text: string) =>
    page.getByRole('group', { name: label, exact: true }).locator('li', { hasText: text }).waitFor();
  const total = (page: Page, text: string) => page.locator('.pages-bar').getByText(text).waitFor();
  const choose = (page: Page, label: string) => page.getByRole('checkbox', { name: label, exact: true }).click();

  const again = (page: Page) => button(page, 'Something changed: count again');

  it('follow the filters, the search and the changes of others, and a click filters', async () => {
    const { page, errors } = await open('#/products');
    await hasValue(page, 'Brand', 'Nordlicht12');
    expect(await values(page, 'Brand')).to.deep.equal(['Nordlicht12', 'Acme8', 'Acme, Inc4']);
    expect(await page.getByRole('group', { name: 'Group', exact: true }).count()).to.equal(0);
    await choose(page, 'Acme 8');
    await page.waitForURL(/brand=Acme$/);
    await total(page, '1–8 of 8');
    await hasValue(page, 'Tags', 'lighting8');
    // Its own choice does not narrow a field.
    expect(await values(page, 'Brand')).to.deep.equal(['Nordlicht12', 'Acme8', 'Acme, Inc4']);
    await choose(page, 'Nordlicht 12');
    await page.waitForURL(/brand\.in=Acme%2CNordlicht$/);
    await hasValue(page, 'Tags', 'lighting20');
    // No list can hold a comma.
    await choose(page, 'Acme, Inc 4');
    await page.waitForURL(/brand=Acme%2C\+Inc$/);
    await total(page, '1–4 of 4');
    await service.client.post('/v1/products', { name: 'Lamp 24', brand: 'Acme, Inc', status: 'draft' });
    // Counts that took long wait for a click.
    const recounted = page.getByRole('checkbox', { name: 'Draft 1' });
    await recounted.or(again(page)).waitFor();
    if (await again(page).isVisible()) await again(page).click();
    await hasValue(page, 'Brand', 'Acme, Inc5');
    await hasValue(page, 'Status', 'Draft1');
    await page.getByRole('searchbox', { name: 'Search' }).fill('24');
    await page.keyboard.press('Enter');
    await hasValue(page, 'Brand', 'Acme, Inc1');
    expect(await values(page, 'Brand')).to.deep.equal(['Acme, Inc1']);
    await choose(page, 'Acme, Inc 1');
    await page.waitForURL(/products\?q=24$/);
    expect(errors).to.deep.equal([]);
  });

  it('show more values page after page, those that begin as the person types, and any attribute', async () => {
    const { page } = await open('#/products?q=shelf');
    await page.getByRole('button', { name: 'More values of Tags' }).click();
    const tags = page.getByRole('group', { name: 'Tags', exact: true });
    await tags.locator('li').nth(49).waitFor();
    await page.getByRole('button', { name: 'More values of Tags' }).click();
    await tags.locator('li').nth(99).waitFor();
    expect(new Set(await values(page, 'Tags')).size).to.equal(100);
    await page.getByLabel('Tags: begins with').fill('stock/14');
    await tags.locator('li').nth(11).waitFor({ state: 'detached' });
    expect(await values(page, 'Tags')).to.have.length(11);
    await page.getByLabel('Tags: begins with').fill('Stock');
    await page.getByText('No value begins so.').waitFor();

    await page.getByLabel('Another attribute').fill('watts');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('button', { name: 'Remove search and filters' }).click();
    await hasValue(page, 'watts', '156');
    await choose(page, '15 6');
    await choose(page, '10 6');
    await page.waitForURL(/attributes%5Bwatts%5D.in=15%2C10$/);
    await total(page, '1–12 of 12');
    const row = page.getByRole('group', { name: 'Filter' });
    await panel(page, 'More filters').locator('summary').click();
    await row.getByLabel('Operator').selectOption('is more than');
    await row.getByLabel('Value').fill('7.5');
    await row.getByLabel('Key').fill('');
    await page.getByRole('button', { name: 'Apply' }).click();
    await row.getByText('Name the attribute.').waitFor();
    expect(await isFocused(row.getByLabel('Key'))).to.equal(true);
    await row.getByLabel('Key').fill('watts');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/attributes%5Bwatts%5D.gt=7.5$/);
    await total(page, '1–12 of 12');
  });

  it('are those of ranges of prices in a currency, of which several that are ticked are one range', async () => {
    const asked: string[] = [];
    const { page } = await open('#/products?price.currency=EUR', {
      prepare: async (one) => one.on('request', (sent) => asked.push(sent.url())),
    });
    await hasValue(page, 'Brand', 'Nordlicht12');
    const ofRanges = () => asked.filter((url) => url.includes('limit=1&')).length;
    // Signing in asks whether the key may read.
    const before = ofRanges();
    await panel(page, 'Price ranges').locator('summary').click();
    await hasValue(page, 'Products by price in EUR', '€50.00 to below €60.004');
    expect(await values(page, 'Products by price in EUR')).to.deep.equal([
      '€10.00 to below €20.004',
      '€20.00 to below €30.004',
      '€30.00 to below €40.004',
      '€40.00 to below €50.004',
      '€50.00 to below €60.004',
    ]);
    expect(ofRanges() - before).to.equal(7);
    await choose(page, '€20.00 to below €30.00 4');
    await page.waitForURL(/price.amount.gte=2000&price.amount.lt=3000$/);
    await choose(page, '€40.00 to below €50.00 4');
    await page.waitForURL(/price.amount.gte=2000&price.amount.lt=5000$/);
    await total(page, '1–12 of 12');
    await hasValue(page, 'Brand', 'Nordlicht8');
    await choose(page, '€20.00 to below €30.00 4');
    await page.waitForURL(/price.amount.gte=3000&price.amount.lt=5000$/);
    // Its own filters ask nothing anew.
    expect(ofRanges() - before).to.equal(7);
  });

  it('make a tree of the paths of tags, a level at a time, whose links list what is below', async () => {
    const { page } = await open('#/products');
    await page.getByRole('link', { name: 'Tree of tags' }).click();
    await page.getByRole('heading', { name: 'Tree of tags' }).waitFor();
    const nodes = () => page.locator('.tree-node').evaluateAll((all) => all.map((one) => one.textContent));
    await page.getByText('The 100 most frequent ones are read.').waitFor();
    expect(await nodes()).to.deep.equal(['lighting24', '▸lighting/at least 12', '▸stock/at least 1']);
    await page.getByRole('button', { name: 'Read more' }).click();
    await page.getByRole('button', { name: 'Read more' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'What is below lighting/', exact: true }).press('Enter');
    await page.getByText('▾lighting/24').waitFor();
    await page.getByRole('button', { name: 'What is below lighting/lamps/' }).click();
    await page.getByRole('link', { name: 'floor' }).waitFor();
    await expectAccessible(page, 'the tree');
    await page.getByLabel('Tags: begins with').fill('stock/9');
    await page.getByText('▸').first().waitFor({ state: 'detached' });
    expect(await nodes()).to.have.length(11);
    await page.getByLabel('Tags: begins with').fill('');
    await page.getByRole('link', { name: 'lighting/' }).click();
    await page.waitForURL(/#\/products\?tags.prefix=lighting%2F$/);
    await total(page, '1–24 of 24');
  });

  it('complete tags and brands in forms', async () => {
    const { page, errors } = await open('#/products/new');
    const options = (label: string) =>
      page
        .getByRole('combobox', { name: label, exact: true })
        .evaluate((input) => [...((input as HTMLInputElement).list?.options ?? [])].map((one) => one.value));
    const typed = async (label: string, text: string, first: string) => {
      await page.getByRole('combobox', { name: label, exact: true }).fill(text);
      await page.locator(`datalist option[value="${first}"]`).waitFor({ state: 'attached' });
    };
    // The next key ends the request for the text before it.
    await page.route(/prefix=No$/, () => {});
    const begun = page.waitForRequest(/prefix=No$/);
    const ended = page.waitForEvent('requestfailed', (sent) => /prefix=No$/.test(sent.url()));
    await page.getByRole('combobox', { name: 'Brand', exact: true }).fill('No');
    await begun;
    await typed('Brand', 'Acme', 'Acme, Inc');
    await ended;
    expect(await options('Brand')).to.have.members(['Acme', 'Acme, Inc']);
    // A key within the pause asks nothing for the text before it.
    const asked: (string | null)[] = [];
    page.on('request', (sent) => asked.push(new URL(sent.url()).searchParams.get('prefix')));
    await page.clock.install();
    await page.clock.pauseAt(new Date(Date.now() + 60_000));
    for (const text of ['N', 'Nor', 'Nord']) {
      await page.getByRole('combobox', { name: 'Brand', exact: true }).fill(text);
      await page.clock.runFor(100);
    }
    await page.clock.runFor(1_000);
    await page.clock.resume();
    await page.locator('datalist option[value="Nordlicht"]').waitFor({ state: 'attached' });
    expect(asked.filter((prefix) => prefix !== null)).to.deep.equal(['Nord']);
    await typed('Tags', 'lighting/', 'lighting/lamps/desk');
    expect(await options('Tags')).to.have.members(['lighting/lamps/desk', 'lighting/lamps/floor']);
    expect(errors).to.deep.equal([]);
  });

  it('leave the list alone if they fail, and are not there for a service without them', async () => {
    let isBroken = true;
    const { page, context } = await open('#/products', {
      prepare: (one) =>
        one.route(/\/facets\?/, (route) => {
          if (!isBroken) return route.continue();
          const code = 'query_too_expensive';
          return route.fulfill({
            status: 400,
            json: { code, message: `${code}: The query takes too long`, details: [] },
          });
        }),
    });
    const alert = page.getByRole('region', { name: 'Filters' }).getByRole('alert');
    await alert.getByText('The query takes too long').waitFor();
    await page.getByRole('link', { name: 'Lamp 23' }).waitFor();
    // They are not tried again after every change of others.
    await service.client.post('/v1/products', { name: 'Lamp 25', brand: 'Fjord' });
    await again(page).waitFor();
    isBroken = false;
    await again(page).click();
    await hasValue(page, 'Brand', 'Fjord1');
    await show(page, '#/users');
    await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor();
    expect(await panel(page, 'Brand').count()).to.equal(0);
    await context.route(/\/openapi.json/, async (route) => {
      const document = await (await route.fetch()).json();
      delete document.paths['/v1/products/facets'];
      await route.fulfill({ json: document });
    });
    await show(page, '#/products');
    await page.reload();
    await page.getByRole('link', { name: 'Lamp 23' }).waitFor();
    expect(await panel(page, 'Brand').count()).to.equal(0);
    expect(await page.getByRole('link', { name: 'Tree of tags' }).count()).to.equal(0);
  });

  for (const [appearance, options] of Object.entries(APPEARANCES))
    it(`have no axe violations and no horizontal scroll ${appearance}`, async () => {
      const { page } = await open('#/products?brand=Acme&price.currency=EUR', options);
      await page.getByRole('link', { name: 'Lamp 12' }).waitFor();
      const filters = page.getByRole('button', { name: 'Filters (2)' });
      if ((await filters.getAttribute('aria-expanded')) === 'false') await filters.click();
      const brand = panel(page, 'Brand');
      await brand.waitFor();
      if ((await brand.getAttribute('open')) === null) await brand.locator('summary').click();
      await panel(page, 'More filters').locator('summary').click();
      await hasValue(page, 'Brand', 'Nordlicht12');
      await panel(page, 'Price ranges').locator('summary').click();
      await hasValue(page, 'Products by price in EUR', '€50.00 to');
      await expectAccessible(page, 'the counts');
    });
});
