import { expect } from 'chai';
import type { BrowserContextOptions, Locator, Page, Request } from 'playwright-core';
import { inProcessService } from '../../support/in-process-service.js';
import { APPEARANCES, expectAccessible } from '../accessibility.js';
import { button, choose, consolePages, field, isFocused, keyWith, show } from '../console-page.js';

/** A green dot. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const PICTURES = 'https://pictures.example/';
const FRONT = { url: `${PICTURES}front.png`, alt: 'The lamp on a desk' };
const IMAGE = { url: FRONT.url };
const BACK = { url: `${PICTURES}back.png`, alt: 'Its back' };
const BROKEN = { url: `${PICTURES}broken.png` };
const UNSAFE = { url: 'http://pictures.example/unsafe.png' };
const LAMP = {
  name: 'Desk lamp',
  sku: 'LAMP-1',
  tags: ['lighting/lamps', 'brass', 'new', 'gift'],
  images: [FRONT, BACK, BROKEN, UNSAFE],
  url: 'https://shop.example/lamp',
  brand: 'Nordlicht',
  gtin: '4006381333931',
  group: 'LAMP',
  stock: 1200,
};

describe('the fields of a product in the console', () => {
  const service = inProcessService();
  const openConsole = consolePages(service);
  /** The requests of the page to other sites. */
  let foreign: Request[] = [];
  let lamp = 0;
  let red = 0;

  const create = async (product: object) => (await service.client.post('/v1/products', product)).json.id;
  const read = async (id: number) => (await service.client.get(`/v1/products/${id}`)).json;
  const open = async (hash: string, options: BrowserContextOptions & { readonly key?: string } = {}) => {
    foreign = [];
    const prepare = async (page: Page) => {
      page.on('request', (one) => {
        if (new URL(one.url()).hostname === 'pictures.example') foreign.push(one);
      });
      await page.route(`${PICTURES}**`, (route) =>
        route.request().url() === BROKEN.url ? route.abort() : route.fulfill({ body: PNG, contentType: 'image/png' }),
      );
    };
    return openConsole(hash, { locale: 'en-GB', ...options, prepare });
  };
  /** Waits until the list has loaded and shows these names. */
  const hasNames = (page: Page, ...expected: string[]) =>
    page.waitForFunction(
      (wanted) =>
        document.querySelector('table')?.getAttribute('aria-busy') === 'false' &&
        [...document.querySelectorAll('tbody th')].map((cell) => cell.textContent).join('\n') === wanted,
      expected.join('\n'),
    );
  const isLoaded = (picture: Locator) =>
    picture.evaluate(
      (one) =>
        new Promise((resolve) => {
          const image = one as HTMLImageElement;
          if (image.complete) resolve(image.naturalWidth);
          else image.addEventListener('load', () => resolve(image.naturalWidth));
        }),
    );
  const front = (page: Page) => page.getByRole('row', { name: /Desk lamp/ }).locator('img');
  /** Waits until rows without a picture have the first letter of the name in its place. */
  const hasTiles = (page: Page, letters: string) =>
    page.waitForFunction(
      (wanted) => [...document.querySelectorAll('tbody .tile')].map((tile) => tile.textContent).join('') === wanted,
      letters,
    );

  before(async () => {
    lamp = await create(LAMP);
    red = await create({ name: 'Red lamp', status: 'draft', tags: ['brass'], group: 'LAMP', stock: 0 });
    await create({ name: 'Old lamp', status: 'archived', images: [BROKEN] });
    await create({ name: 'Table', images: [UNSAFE] });
  });

  describe('in the list', () => {
    it('are pictures that load late and tell no other site where they stand, or the first letter of the name', async () => {
      const { page, errors } = await open('#/products');
      const picture = front(page);
      expect(await isLoaded(picture)).to.equal(1);
      expect(await picture.getAttribute('loading')).to.equal('lazy');
      expect(await picture.getAttribute('referrerpolicy')).to.equal('no-referrer');
      await hasTiles(page, 'ROT');
      expect(foreign.map((one) => one.url()).sort()).to.deep.equal([BROKEN.url, FRONT.url]);
      for (const one of foreign) expect(await one.headerValue('referer')).to.equal(null);
      expect(errors).to.deep.equal([]);
    });

    it('are no pictures for a person who does not want them, who is asked once', async () => {
      const { page } = await open('#/products');
      await isLoaded(front(page));
      await button(page, 'View').click();
      await page.getByLabel('Load pictures').uncheck();
      await hasTiles(page, 'DROT');
      foreign = [];
      await page.reload();
      await hasTiles(page, 'DROT');
      await show(page, `#/products/${lamp}`);
      await page
        .getByText('No picture')
        .nth(LAMP.images.length - 1)
        .waitFor();
      expect(foreign).to.deep.equal([]);
      await page.goBack();
      await button(page, 'View').click();
      await page.getByLabel('Load pictures').check();
      await isLoaded(front(page));
    });

    it('are a badge for the status, and a filter of one click', async () => {
      const { page } = await open('#/products');
      await hasNames(page, 'Desk lamp', 'Red lamp', 'Old lamp', 'Table');
      expect(await page.locator('tbody .badge').allInnerTexts()).to.deep.equal(['Live', 'Draft', 'Archived', 'Live']);
      const filter = page.getByRole('group', { name: 'Status' });
      const choice = (name: string) => button(filter, name);
      expect(await choice('All').getAttribute('aria-pressed')).to.equal('true');
      for (const [name, query, ...found] of [
        ['Live', 'status.exists=false', 'Desk lamp', 'Table'],
        ['Drafts', 'status=draft', 'Red lamp'],
        ['Archived', 'status=archived', 'Old lamp'],
      ] as const) {
        await choice(name).click();
        await page.waitForURL((url) => url.hash === `#/products?${query}`);
        await hasNames(page, ...found);
        expect(await choice(name).getAttribute('aria-pressed')).to.equal('true');
        expect(await choice('All').getAttribute('aria-pressed')).to.equal('false');
      }
    });

    it('are tags, of which a click filters by one and another narrows', async () => {
      const { page } = await open('#/products?sort=-name');
      const tag = (name: string) => page.locator('tbody').getByRole('link', { name, exact: true });
      await page.getByText('+2').waitFor();
      await tag('brass').first().click();
      await hasNames(page, 'Red lamp', 'Desk lamp');
      await tag('lighting/lamps').press('Enter');
      await hasNames(page, 'Desk lamp');
      expect(decodeURIComponent(page.url())).to.match(/tags\.all=brass,lighting\/lamps&sort=-name$/);
      await button(page, 'Filters (1)').waitFor();
      await page.getByText('More filters').click();
      const row = page.getByRole('group', { name: 'Filter' });
      expect(await row.getByLabel('Operator').locator('option:checked').innerText()).to.equal('has all of');
    });
  });

  describe('on the record', () => {
    it('are its pictures, page, tags, status and variants', async () => {
      const { page, errors } = await open(`#/products/${lamp}`);
      const pictures = page.locator('.preview img');
      for (const at of [0, 1]) expect(await isLoaded(pictures.nth(at))).to.equal(1);
      await page.getByText('No picture').nth(1).waitFor();
      const link = page.getByRole('link', { name: 'Open' }).first();
      expect(await link.getAttribute('href')).to.equal(LAMP.url);
      expect(await link.getAttribute('rel')).to.equal('noreferrer noopener');
      expect(await page.locator('.badges').isVisible()).to.equal(false);
      const variants = page.getByRole('region', { name: 'Group LAMP: other variants' });
      await hasNames(page, 'Red lamp');
      expect(errors).to.deep.equal([]);
      await variants.getByRole('link', { name: 'Red lamp' }).click();
      await page.getByRole('heading', { name: 'Red lamp' }).waitFor();
      expect(await page.locator('.badges').innerText()).to.equal('Draft');
      await hasNames(page, 'Desk lamp');
      await page.getByRole('list', { name: 'Tags' }).getByRole('link', { name: 'brass' }).click();
      await page.waitForURL((url) => url.hash === '#/products?tags.all=brass');
    });

    it('are all to read for a key that may not write', async () => {
      const { key } = await keyWith(service, 'products:read');
      const { page } = await open(`#/products/${lamp}`, { key });
      await isLoaded(page.getByRole('img', { name: FRONT.alt }));
      const details = page.locator('.details').last();
      for (const text of ['Live', 'gift', LAMP.url, LAMP.brand, LAMP.gtin, LAMP.group, '1,200'])
        await details.getByText(text, { exact: true }).waitFor();
    });
  });

  describe('in the form', () => {
    const save = (page: Page) => page.getByRole('button', { name: /^(Save|Create)$/ }).click();

    it('need the keyboard alone, for tags and for the order of pictures', async () => {
      const { page } = await open('#/products/new');
      await field(page, 'Name').fill('Chair');
      await page.getByLabel('Status').selectOption('draft');
      const tags = field(page, 'Tags');
      const chips = page.getByRole('list', { name: 'Tags' }).getByRole('listitem');
      await tags.focus();
      await page.keyboard.type('oak');
      await page.keyboard.press('Enter');
      await page.keyboard.type('wood,oak,');
      await page.keyboard.type('wrong');
      await page.keyboard.press('Enter');
      expect(await chips.allInnerTexts()).to.deep.equal(['oak ×', 'wood ×', 'wrong ×']);
      await page.keyboard.press('Backspace');
      expect(await chips.count()).to.equal(2);
      await tags.evaluate((one) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData('text', 'seats/chairs\nnew | gift\n');
        one.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
      });
      await page.getByRole('button', { name: 'Remove new' }).press('Enter');
      expect(await isFocused(tags)).to.equal(true);
      await page.keyboard.type('last');
      const row = (at: number) => page.getByRole('group', { name: `picture ${at}` });
      for (const [at, { url, alt }] of [FRONT, BACK].entries()) {
        await page.getByRole('button', { name: 'Add picture' }).press('Enter');
        expect(await isFocused(row(at + 1).getByLabel('URL'))).to.equal(true);
        await page.keyboard.type(url);
        await page.keyboard.press('Tab');
        await page.keyboard.type(alt);
      }
      expect(await page.getByRole('button', { name: 'Move picture 1 up' }).count()).to.equal(0);
      await page.getByRole('button', { name: 'Move picture 2 up' }).press('Enter');
      expect(await isFocused(page.getByRole('button', { name: 'Move picture 1 down' }))).to.equal(true);
      expect(await row(1).getByLabel('URL').inputValue()).to.equal(BACK.url);
      for (const at of [0, 1]) await isLoaded(page.locator('.preview img').nth(at));
      await field(page, 'Stock').fill('3');
      await save(page);
      await page.waitForURL(/#\/products\/\d+$/);
      const id = Number(page.url().split('/').at(-1));
      expect(await read(id)).to.deep.equal({
        id,
        name: 'Chair',
        status: 'draft',
        tags: ['oak', 'wood', 'seats/chairs', 'gift', 'last'],
        images: [BACK, FRONT],
        stock: 3,
      });
    });

    it('are removed where they are emptied', async () => {
      const id = await create({ ...LAMP, sku: 'LAMP-2', status: 'archived' });
      const { page } = await open(`#/products/${id}`);
      await page.getByLabel('Status').selectOption('Live');
      for (const tag of LAMP.tags) await page.getByRole('button', { name: `Remove ${tag}` }).click();
      for (const _ of LAMP.images) await page.getByRole('button', { name: 'Remove picture 1' }).click();
      for (const label of ['Brand', 'GTIN', 'Group', 'Stock', 'SKU']) await field(page, label).fill('');
      await field(page, 'URL').last().fill('');
      await save(page);
      await page.getByText('Saved “Desk lamp”.').waitFor();
      expect(await read(id)).to.deep.equal({ id, name: 'Desk lamp' });
      await service.client.delete(`/v1/products/${id}`);
    });

    it('have the errors of the service at their places', async () => {
      const { page } = await open('#/products/new');
      await field(page, 'Name').fill('Chair');
      await field(page, 'Tags').fill('x'.repeat(65));
      await page.getByRole('button', { name: 'Add picture' }).click();
      await page.keyboard.type('ftp://pictures.example/a.png');
      await field(page, 'GTIN').fill('4006381333932');
      await save(page);
      await page.getByRole('alert').getByText('Nothing was saved').waitFor();
      expect(await field(page, 'Tags').getAttribute('aria-invalid')).to.equal('true');
      expect(await field(page, 'GTIN').getAttribute('aria-invalid')).to.equal('true');
      expect(await page.locator('[data-pointer="/images/0/url"]').getAttribute('aria-invalid')).to.equal('true');
      await page.getByRole('alert').getByRole('button', { name: /^Tags/ }).click();
      expect(await isFocused(field(page, 'Tags'))).to.equal(true);
      await page.keyboard.press('Enter');
      await save(page);
      await page.getByRole('alert').getByRole('button', { name: /^Tags/ }).click();
      expect(await isFocused(page.getByRole('button', { name: /^Remove xxx/ }))).to.equal(true);
    });
  });

  describe('in a file', () => {
    it('are shown before an update, which changes them', async () => {
      const { page } = await open('#/import/products');
      const [before, id] = [await read(red), String(red)];
      const images = `"${JSON.stringify([IMAGE]).replaceAll('"', '""')}"`;
      const csv = `id,status,tags,images,stock\n${id},archived,brass|[red],${images},5\n`;
      await choose(page, 'a.csv', csv);
      const columns = page.getByRole('region', { name: 'Columns' }).getByRole('listitem');
      await columns.first().waitFor();
      expect(await columns.allInnerTexts()).to.deep.equal([
        id,
        'archived',
        'brass, [red]',
        JSON.stringify([IMAGE]),
        '5',
      ]);
      await button(page, 'Check the file').click();
      const changes = page.getByRole('region', { name: 'Changes' }).locator('tbody tr');
      await changes.first().waitFor();
      expect(
        await changes.evaluateAll((all) => all.map(({ children }) => [...children].at(-3)?.textContent)),
      ).to.deep.equal(['Status', 'Tags', 'Pictures', 'Stock']);
      expect(await changes.nth(1).innerText()).to.match(/Tags\s+brass\s+brass\s+\[red\]/);
      expect(foreign).to.deep.equal([]);
      await button(page, 'Start import').click();
      await page.getByText('The import is done').waitFor();
      expect(await read(red)).to.deep.equal({
        ...before,
        status: 'archived',
        tags: ['brass', '[red]'],
        images: [IMAGE],
        stock: 5,
      });
    });
  });

  for (const [appearance, options] of Object.entries(APPEARANCES))
    it(`have no axe violations and no horizontal scroll ${appearance}`, async () => {
      const { page } = await open('#/products', options);
      await isLoaded(front(page));
      await hasTiles(page, 'ROT');
      await expectAccessible(page, 'the list');
      await page.getByRole('link', { name: 'Desk lamp' }).click();
      await page
        .getByRole('region', { name: /other variants/ })
        .getByRole('link')
        .first()
        .waitFor();
      await page.getByText('No picture').nth(1).waitFor();
      await expectAccessible(page, 'the record');
    });
});
