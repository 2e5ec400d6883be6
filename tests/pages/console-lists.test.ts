import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { inProcessService } from '../support/in-process-service.js';
import { APPEARANCES, expectAccessible, PHONE } from './accessibility.js';
import { button, consolePages, isFocused, show } from './console-page.js';

const HOSTILE = `<img src=x onerror="document.title='taken'">&lt;b&gt; {{7*7}} \${7*7}`;
const COLOURS = ['green', 'red'];

describe('the lists of the console', () => {
  const service = inProcessService();
  const open = consolePages(service);
  let userId = 0;
  before(async () => {
    for (let at = 1; at <= 45; at++)
      await service.client.post('/v1/products', {
        name: `Lamp ${String(at).padStart(2, '0')}`,
        sku: `L-${at}`,
        price: { amount: at * 100, currency: 'EUR' },
        attributes: { colour: COLOURS[at % 2] },
      });
    await service.client.post('/v1/products', { name: HOSTILE, description: HOSTILE });
    userId = (await service.client.post('/v1/users', { name: 'Ann', email: 'ann@example.com' })).json.id;
    const items = [1, 2, 3, 4, 5].map((productId) => ({ productId, quantity: productId }));
    await service.client.post('/v1/orders', { userId, items });
  });

  const rows = (page: Page): Locator => page.locator('tbody tr');
  const names = (page: Page) => page.locator('tbody th').allInnerTexts();
  const hasRows = (page: Page, count: number) =>
    page.waitForFunction(
      (expected) =>
        document.querySelectorAll('tbody tr').length === expected &&
        document.querySelector('table')?.getAttribute('aria-busy') === 'false',
      count,
    );
  const header = (page: Page, name: string) => page.getByRole('columnheader', { name });
  const openFilters = (page: Page) => page.getByText('More filters').click();
  const addFilter = async (page: Page, field: string, operator: string | undefined, value: string) => {
    const row = page.getByRole('group', { name: 'Filter' }).last();
    await row.getByLabel('Field').selectOption(field);
    if (operator !== undefined) await row.getByLabel('Operator').selectOption(operator);
    await row.getByLabel('Value').fill(value);
  };

  it('show values as a person reads them, and text as text', async () => {
    const { page, errors } = await open('#/products?limit=500', { locale: 'en-GB' });
    await hasRows(page, 46);
    const first = rows(page).first();
    expect(await first.innerText()).to.match(/^\s*L\s+Lamp 01\s+L-1\s+€1\.00\s+—\s+Live/);
    expect(await names(page)).to.include(HOSTILE);
    expect(await page.title()).to.equal('Products · Console');
    await show(page, '#/orders');
    await hasRows(page, 1);
    const order = rows(page).first();
    expect(await order.innerText()).to.match(/Product 1, Quantity 1/);
    await order.getByText('+3').waitFor();
    expect(await order.locator('td a').last().getAttribute('href')).to.equal(`#/users/${userId}`);
    await show(page, '#/keys');
    const time = page.locator('time').first();
    expect(await time.getAttribute('title')).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(errors).to.deep.equal([]);
  });

  it('follow the pages by the links of the service, and go back', async () => {
    const { page } = await open('#/products?limit=20');
    await hasRows(page, 20);
    const next = page.getByRole('link', { name: 'Next' });
    expect(await page.getByRole('link', { name: 'Previous' }).count()).to.equal(0);
    await next.click();
    await page.getByText('21–40 of 46').waitFor();
    expect(await page.locator(':focus').textContent()).to.equal('Next');
    await next.click();
    await page.getByText('41–46 of 46').waitFor();
    await hasRows(page, 6);
    expect(await next.count()).to.equal(0);
    await page.getByRole('link', { name: 'Previous' }).click();
    await page.getByText('21–40 of 46').waitFor();
    await page.goBack();
    await page.getByText('41–46 of 46').waitFor();
    await page.reload();
    await page.getByText('41–46 of 46').waitFor();
    await page.getByRole('link', { name: 'First' }).click();
    await page.getByRole('link', { name: 'Lamp 01' }).waitFor();
    await page.getByRole('combobox', { name: /^Rows/ }).selectOption('100');
    await hasRows(page, 46);
    expect(page.url()).to.match(/#\/products\?limit=100$/);
  });

  it('say that they could not be counted, and can be counted again', async () => {
    let isBroken = true;
    const { page } = await open('#/products?limit=20', {
      prepare: (one) =>
        one.route(
          ({ searchParams }) => searchParams.get('limit') === '1' && searchParams.get('fields') === 'id',
          (route) => (isBroken ? route.fulfill({ status: 500, json: {} }) : route.continue()),
        ),
    });
    await page.locator('.pages-bar').getByRole('alert').waitFor();
    isBroken = false;
    await button(page, 'Count all').click();
    await page.getByText('1–20 of 46').waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByText('21–40 of 46').waitFor();
  });

  it('show one row a group with the number of its variants, and every record again', async () => {
    const ids: number[] = [];
    for (const name of ['Lid S', 'Lid M', 'Lid L'])
      ids.push((await service.client.post('/v1/products', { name, group: 'LID' })).json.id);
    const { page, errors } = await open('#/products?q=lid');
    await hasRows(page, 3);
    await button(page, 'View').click();
    const areGrouped = page.getByLabel('Group variants');
    await areGrouped.check();
    await hasRows(page, 1);
    expect(page.url()).to.match(/q=lid&distinct=group$/);
    expect(await header(page, 'Variants').count()).to.equal(1);
    expect(await rows(page).first().innerText()).to.match(/^\s*L\s+Lid S\s[\s\S]*\s3\s*$/);
    await areGrouped.uncheck();
    await hasRows(page, 3);
    expect(await header(page, 'Variants').count()).to.equal(0);
    expect(errors).to.deep.equal([]);
    for (const id of ids) await service.client.delete(`/v1/products/${id}`);
  });

  it('sort by a click on a header, and say so', async () => {
    const { page } = await open('#/products?limit=20');
    await hasRows(page, 20);
    const sort = header(page, 'Name').getByRole('button');
    await sort.click();
    await page.waitForURL(/sort=name/);
    await page.locator('th[aria-sort="ascending"]', { hasText: 'Name' }).waitFor();
    await sort.click();
    await page.getByRole('link', { name: 'Lamp 45' }).waitFor();
    expect(await header(page, 'Name').getAttribute('aria-sort')).to.equal('descending');
    expect((await names(page))[0]).to.equal('Lamp 45');
    await sort.click();
    await page.getByRole('link', { name: 'Lamp 01' }).waitFor();
    expect(await header(page, 'Name').getAttribute('aria-sort')).to.equal(null);
    expect(await header(page, 'Tags').count()).to.equal(1);
    expect(await header(page, 'Tags').getByRole('button').count()).to.equal(0);
    // Of a price the amount decides.
    await header(page, 'Price').getByRole('button').click();
    await header(page, 'Price').getByRole('button').click();
    await page.waitForURL(/sort=-price\.amount/);
    await page.getByRole('link', { name: 'Lamp 45' }).waitFor();
  });

  it('search for words', async () => {
    const { page } = await open('#/products');
    await page.getByRole('searchbox').fill('lam 45');
    await page.getByRole('searchbox').press('Enter');
    await hasRows(page, 1);
    expect(await names(page)).to.deep.equal(['Lamp 45']);
    expect(page.url()).to.match(/q=lam\+45$/);
    await page.getByRole('searchbox').fill('nothing like this');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No record matches' }).waitFor();
    await page.getByRole('main').getByRole('button', { name: 'Remove search and filters' }).last().click();
    await hasRows(page, 46);
    expect(await page.getByRole('searchbox').inputValue()).to.equal('');
  });

  it('filter by field, operator and value, several at once', async () => {
    const { page } = await open('#/products');
    await openFilters(page);
    await addFilter(page, 'Price', 'is at most', '10.00');
    await button(page, 'Add filter').click();
    await addFilter(page, 'Attributes', undefined, 'red');
    await page.getByRole('group', { name: 'Filter' }).last().getByLabel('Key').fill('colour');
    await button(page, 'Apply').click();
    await hasRows(page, 5);
    expect(await names(page)).to.deep.equal(['Lamp 01', 'Lamp 03', 'Lamp 05', 'Lamp 07', 'Lamp 09']);
    expect(page.url()).to.include('price.amount.lte=1000');
    await page.reload();
    await hasRows(page, 5);
    await button(page, 'Filters (2)').waitFor();
    const amount = page.getByRole('group', { name: 'Filter' }).first().getByLabel('Value');
    expect(await amount.inputValue()).to.equal('10.00');
    await page.getByRole('button', { name: 'Remove this filter' }).first().click();
    await button(page, 'Apply').click();
    await hasRows(page, 23);
  });

  it('filter by records that lack a field, and by times', async () => {
    const { page } = await open('#/products');
    await openFilters(page);
    const row = page.getByRole('group', { name: 'Filter' });
    await row.getByLabel('Field').selectOption('SKU');
    await row.getByLabel('Operator').selectOption('has a value');
    await row.getByLabel('Value').selectOption('no');
    await button(page, 'Apply').click();
    await hasRows(page, 1);
    expect(await names(page)).to.deep.equal([HOSTILE]);
    await row.getByLabel('Field').selectOption('Created');
    await row.getByLabel('Operator').selectOption('is less than');
    await row.getByLabel('Value').fill('2020-01-01T00:00:00');
    await button(page, 'Apply').click();
    await page.getByRole('heading', { name: 'No record matches' }).waitFor();
    expect(decodeURIComponent(page.url())).to.match(/createdAt\.lt=(2019-12-31|2020-01-01)T\d\d:00:00\.000Z/);
  });

  it('say at its row what is wrong with a filter, and keep what was typed', async () => {
    const { page } = await open('#/products');
    await openFilters(page);
    await addFilter(page, 'SKU', 'is one of', 'a,,b');
    await button(page, 'Apply').click();
    await page.getByRole('alert').getByText('The service refused the request').waitFor();
    const value = page.getByRole('group', { name: 'Filter' }).getByLabel('Value');
    expect(await value.inputValue()).to.equal('a,,b');
    expect(await value.getAttribute('aria-invalid')).to.equal('true');
    // The records of the query before would look like the result of this one.
    expect(await rows(page).count()).to.equal(0);
  });

  it('take amounts in the unit of the currency among the filters, and say which it is', async () => {
    const { page } = await open('#/products');
    await openFilters(page);
    const row = (at: number) => page.getByRole('group', { name: 'Filter' }).nth(at);
    const value = row(0).getByLabel('Value');
    await addFilter(page, 'Price', 'is', '45.000');
    await row(0).getByText('49.90 EUR and 4990 JPY count as equal').waitFor();
    await button(page, 'Apply').click();
    await row(0).getByText('Do you mean 45000 or 45?').waitFor();
    expect(await isFocused(value)).to.equal(true);
    expect(page.url()).to.not.include('price');
    await button(page, 'Add filter').click();
    await addFilter(page, 'Currency', 'is', 'KWD');
    await row(0).getByText('In KWD, such as 4.990.').waitFor();
    await button(page, 'Apply').click();
    await page.waitForURL(/price\.amount=45000&price\.currency=KWD/);
  });

  it('move the focus to a new filter, and to the button that adds one after a removal', async () => {
    const { page } = await open('#/products');
    await openFilters(page);
    const add = button(page, 'Add filter');
    await add.press('Enter');
    const row = page.getByRole('group', { name: 'Filter' }).nth(1);
    expect(await isFocused(row.getByLabel('Field'))).to.equal(true);
    await row.getByRole('button', { name: 'Remove this filter' }).press('Enter');
    await row.waitFor({ state: 'detached' });
    expect(await isFocused(add)).to.equal(true);
  });

  it('show the columns that the person chooses, and remember them', async () => {
    const { page } = await open('#/products?limit=20');
    await hasRows(page, 20);
    expect(await header(page, 'Version').count()).to.equal(0);
    const menu = button(page, 'View');
    await menu.click();
    await page.getByLabel('Version').check();
    await page.getByRole('checkbox', { name: 'Tags', exact: true }).uncheck();
    await header(page, 'Version').waitFor();
    await page.keyboard.press('Escape');
    expect(await isFocused(menu)).to.equal(true);
    expect(await page.getByLabel('Version').isVisible()).to.equal(false);
    await page.reload();
    await hasRows(page, 20);
    expect(await header(page, 'Tags').count()).to.equal(0);
    expect((await rows(page).first().locator('td').last().innerText()).trim()).to.equal('1');
    await menu.click();
    await button(page, 'Reset columns').click();
    await header(page, 'Tags').waitFor();
  });

  it('open a record by a click on its row, lead to those beside it, and are then as they were', async () => {
    const { page } = await open('#/products?q=lamp&sort=-name&limit=20', { viewport: { width: 1280, height: 400 } });
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByRole('link', { name: 'Lamp 25' }).waitFor();
    const list = page.url();
    await page.getByRole('row', { name: 'Lamp 07' }).locator('td').last().click();
    const beside = async (label: string, name: string) => {
      await page.getByRole('link', { name: label }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
    };
    await page.getByRole('heading', { name: 'Lamp 07' }).waitFor();
    expect(await page.title()).to.equal('Lamp 07 · Console');
    await beside('Next', 'Lamp 06');
    await beside('Next', 'Lamp 05');
    await beside('Previous', 'Lamp 06');
    await page.reload();
    await page.locator('.breadcrumb > a').click();
    const hasFocus = (name: string) =>
      page.waitForFunction((text) => {
        const { activeElement } = document;
        return activeElement?.textContent === text && Number(activeElement.closest('.table-frame')?.scrollTop) > 0;
      }, name);
    await hasFocus('Lamp 06');
    await page.goto(`${list.replace(/#.*/, '')}#/products/8`);
    await page.getByRole('link', { name: 'Previous' }).waitFor();
    expect(await page.getByRole('link', { name: 'Next' }).getAttribute('href')).to.equal('#/products/7');
    await page.goBack();
    await hasFocus('Lamp 08');
  });

  it('say what to do when there are no records', async () => {
    const { json } = await service.client.get('/v1/orders');
    for (const { id } of json) await service.client.delete(`/v1/orders/${id}`);
    const { page } = await open('#/orders');
    await page.getByRole('heading', { name: 'No orders yet' }).waitFor();
  });

  for (const [appearance, options] of Object.entries(APPEARANCES))
    it(`have no axe violations and no horizontal scroll ${appearance}`, async () => {
      const { page } = await open('#/products?limit=20&price.amount.gte=100', options);
      const check = (what: string) => expectAccessible(page, what);
      await hasRows(page, 20);
      await check('a page with a filter');
      await button(page, 'View').click();
      await check('the view');
      await page.keyboard.press('Escape');
      await button(page, 'Settings').click();
      await check('the settings');
      await page.getByRole('link', { name: 'API keys' }).click();
      await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
      await show(page, '#/products?price.amount=x');
      await page.getByRole('alert').waitFor();
      await check('an error');
      await show(page, '#/products?sku=none');
      await page.getByRole('heading', { name: 'No record matches' }).waitFor();
      await check('no match');
    });

  it('keep their head and the links to other pages in view', async () => {
    for (const width of [820, 1280]) {
      const { page } = await open('#/products?limit=50', { viewport: { width, height: 800 } });
      await hasRows(page, 46);
      await rows(page).last().scrollIntoViewIfNeeded();
      for (const one of [
        header(page, 'Name'),
        page.getByRole('combobox', { name: /^Rows/ }),
        page.getByRole('searchbox'),
      ])
        expect((await one.boundingBox())?.y, `${width}`).to.be.within(0, 800);
    }
  });

  it('give each word of a name room, and the page no sideways scroll', async () => {
    for (const width of [820, 1280, 1440, 1920]) {
      const { page } = await open('#/products?limit=20', { viewport: { width, height: 900 } });
      await hasRows(page, 20);
      const [name, rest] = await page.evaluate(() => [
        document.querySelector('.records tbody th')?.clientWidth ?? 0,
        document.documentElement.scrollWidth - innerWidth,
      ]);
      expect(name, `${width}`).to.be.at.least(14 * 16);
      expect(rest, `${width}`).to.equal(0);
    }
  });

  it('have rows of a name, a price, the stock and the status below two rows of controls on a phone', async () => {
    const { page } = await open('#/products?limit=20', { viewport: PHONE, hasTouch: true });
    await hasRows(page, 20);
    const first = rows(page).first();
    expect(await first.innerText()).to.match(/^L\s+Lamp 01\s+€1\.00\s*—\s*Live$/);
    const controls = page.getByRole('main').locator('a, button, input').and(page.locator(':visible'));
    const rowsAbove = async (shown: Locator) => {
      const { y: end } = (await shown.boundingBox()) ?? expect.fail();
      const middles = await controls.evaluateAll((all) =>
        all.map((one) => one.getBoundingClientRect()).map(({ top, bottom }) => Math.round((top + bottom) / 2)),
      );
      return new Set(middles.filter((middle) => middle < end)).size;
    };
    expect(await rowsAbove(first)).to.equal(2);
    // The statuses are where the thumb is.
    expect((await button(page, 'Drafts').boundingBox())?.y).to.be.within(PHONE.height - 60, PHONE.height);
    await button(page, 'Drafts').click();
    const nothing = page.getByRole('heading', { name: 'No record matches' });
    await nothing.waitFor();
    expect(await rowsAbove(nothing)).to.equal(2);
    await button(page, 'All').click();
    await hasRows(page, 20);
    await button(page, 'View').click();
    await page.getByLabel('Order').selectOption('Name, descending');
    await page.getByRole('link', { name: 'Lamp 45' }).waitFor();
  });

  it('work by keyboard alone', async () => {
    const { page } = await open('#/products?limit=20');
    await hasRows(page, 20);
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    const tabTo = async (text: RegExp) => {
      for (let steps = 1; steps < 40; steps++) {
        await page.keyboard.press('Tab');
        if (text.test(await focused())) return steps;
      }
      return expect.fail(`Tab does not reach ${text}`);
    };
    await tabTo(/^Skip to the content$/);
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).to.equal('main');
    await page.reload();
    await hasRows(page, 20);
    expect(await tabTo(/^Skip to the records$/)).to.equal(2);
    await page.keyboard.press('Enter');
    expect(await tabTo(/^Lamp 01$/)).to.be.at.most(12 - 2);
    const [head, link] = await Promise.all(
      [header(page, 'Name'), page.locator(':focus')].map((one) => one.boundingBox()),
    );
    expect(link?.y, 'not below the head').to.be.at.least(Number(head?.y) + Number(head?.height));
    await header(page, 'Name').getByRole('button').focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/sort=name/);
    expect(await focused()).to.match(/^Name/);
    await tabTo(/^Lamp 01$|^<img/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/products\/\d+$/);
  });
});
