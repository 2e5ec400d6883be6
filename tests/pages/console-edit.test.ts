import { expect } from 'chai';
import type { BrowserContextOptions, Locator, Page, Request } from 'playwright-core';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { until } from '../support/until.js';
import { APPEARANCES, expectAccessible } from './accessibility.js';
import { button, consolePages, field, isFocused, keyWith, show, signOut } from './console-page.js';

const LAMP = {
  name: 'Lamp',
  description: 'Brass.\nWith a shade.',
  price: { amount: 4990, currency: 'EUR' },
  attributes: { colour: 'green', watts: 7.5, dimmable: true },
};

describe('the console, when a person edits', () => {
  const service = inProcessService();
  const openConsole = consolePages(service);

  /** Opens a page of the console as a signed-in person. */
  const open = async (hash: string, options: BrowserContextOptions = {}, key = FIRST_KEY): Promise<Page> =>
    (await openConsole(hash, { ...options, key })).page;
  let lastSku = 0;
  const makeProduct = async (more: object = {}): Promise<number> => {
    const body = { ...LAMP, sku: `LAMP-${++lastSku}`, ...more };
    return (await service.client.post('/v1/products', body)).json.id;
  };
  const openProduct = async (more: object = {}, options: BrowserContextOptions = {}) => {
    const id = await makeProduct(more);
    return { id, page: await open(`#/products/${id}`, options) };
  };
  const read = async (id: number) => (await service.client.get(`/v1/products/${id}`)).json;
  /** A change by another client. */
  const changeElsewhere = async (id: number, patch: object) => {
    const { status } = await service.client.patch(`/v1/products/${id}`, patch);
    expect(status).to.equal(200);
  };
  const save = (page: Page) => page.getByRole('button', { name: /^(Save|Create|Create it again)$/ }).click();
  const saved = (page: Page) =>
    page
      .locator('.notice', { hasText: /^Saved / })
      .first()
      .waitFor();
  /** The id of the record whose page is open. */
  const idIn = (page: Page) => Number(page.url().split('/').at(-1));
  /** The requests that write. */
  const writesOf = (page: Page): Request[] => {
    const writes: Request[] = [];
    page.on('request', (one) => {
      if (one.method() !== 'GET' && one.url().includes('/v1/')) writes.push(one);
    });
    return writes;
  };

  /** Playwright does not see the bodies of requests that `fetch` gets as objects. */
  const bodiesOf = async (page: Page): Promise<() => Promise<unknown[]>> => {
    const bodies = await page.evaluateHandle(() => {
      const sent: unknown[] = [];
      const { fetch } = window;
      window.fetch = async (input, init) => {
        if (input instanceof Request && input.method !== 'GET') sent.push(await input.clone().json());
        return fetch(input, init);
      };
      return sent;
    });
    return () => bodies.jsonValue();
  };
  /** Changes the entity tags of a record, as a proxy does. */
  const alterTags = (page: Page, id: number, altered = (tag: string) => tag.replace(/"$/, '-altered"')) =>
    page.route(`**/v1/products/${id}*`, async (route) => {
      const response = await route.fetch();
      const { etag = '', ...headers } = response.headers();
      await route.fulfill({ response, headers: { ...headers, etag: altered(etag) } });
    });
  const problems = (page: Page) => page.getByRole('alert');
  const pointer = (page: Page, at: string) => page.locator(`[data-pointer="${at}"]`);
  /** What a screen reader says after the label. */
  const descriptionOf = (control: Locator) =>
    control.evaluate((one) =>
      (one.getAttribute('aria-describedby') ?? '')
        .split(' ')
        .map((id) => document.getElementById(id)?.textContent)
        .join(' '),
    );

  describe('a new record', () => {
    it('shows the errors of the service at their fields, keeps the text, and is created', async () => {
      const taken = (await read(await makeProduct())).sku;
      const page = await open('#/products/new');
      await field(page, 'SKU').fill('no spaces');
      await field(page, 'Currency').fill('x');
      await button(page, 'Add attribute').click();
      await page.keyboard.type('a/b');
      await field(page, 'Value').fill('x'.repeat(501));
      await page.keyboard.press('Control+s');
      await problems(page).getByText('Nothing was saved').waitFor();
      expect(await isFocused(problems(page))).to.equal(true);
      for (const at of ['/name', '/sku', '/price/currency', '/attributes/a~1b']) {
        expect(await pointer(page, at).getAttribute('aria-invalid'), at).to.equal('true');
        expect(await descriptionOf(pointer(page, at)), at).to.match(
          /Fill this in|Write letters|three capital|At most 500/,
        );
      }
      await problems(page).getByRole('button', { name: 'Price › Currency' }).click();
      expect(await isFocused(pointer(page, '/price/currency'))).to.equal(true);
      await field(page, 'Name').fill('Table');
      expect(await pointer(page, '/name').getAttribute('aria-invalid')).to.equal(null);
      await field(page, 'SKU').fill(taken);
      await field(page, 'Price').fill('1');
      await field(page, 'Currency').fill('EUR');
      await field(page, 'Value').fill('x');
      await save(page);
      await problems(page).getByRole('button', { name: 'SKU:' }).click();
      expect(await field(page, 'SKU').inputValue()).to.equal(taken);
      await field(page, 'SKU').fill('TABLE');
      await save(page);
      await page.getByRole('heading', { level: 1, name: 'Table' }).waitFor();
      const { id, ...made } = await read(idIn(page));
      expect(id).to.be.a('number');
      expect(made).to.deep.equal({
        name: 'Table',
        sku: 'TABLE',
        price: { amount: 100, currency: 'EUR' },
        attributes: { 'a/b': 'x' },
      });
    });

    it('starts as a copy without what is its own, and a price with the usual currency', async () => {
      const { sku, ...others } = await read(await makeProduct({ gtin: '4006381333931' }));
      const page = await open(`#/products/${others.id}`);
      await page.getByRole('link', { name: 'Duplicate' }).click();
      await page.getByText('This is a copy of “Lamp”.').waitFor();
      expect(await field(page, 'SKU').inputValue()).to.equal('');
      await save(page);
      await page.getByText(/^Created product/).waitFor();
      const { id, gtin, ...copied } = others;
      const copy = await read(idIn(page));
      expect([sku, gtin]).to.not.include(undefined);
      expect(copy).to.deep.equal({ ...copied, id: copy.id });
      expect(copy.id).to.not.equal(id);
      await show(page, '#/products/new');
      await until('the currency is there', async () => {
        await field(page, 'Price').fill('');
        await field(page, 'Price').fill('5');
        return (await field(page, 'Currency').inputValue()) === 'EUR';
      });
      await field(page, 'Price').fill('');
      await until('the currency is gone', async () => (await field(page, 'Currency').inputValue()) === '');
    });

    it('takes numbers as people write them, and says the rule for another text', async () => {
      const page = await open('#/products/new', { locale: 'de-DE' });
      const writes = writesOf(page);
      const amount = field(page, 'Price');
      await field(page, 'Name').fill('Mit Komma');
      for (const [text, currency, rule] of [
        ['4,999', 'EUR', 'at most 2 digits after the decimal mark for EUR'],
        ['4,99', 'JPY', 'no digits after the decimal mark for JPY'],
        ['1.000', 'EUR', 'Do you mean 1000 or 1?'],
      ] as const) {
        await field(page, 'Currency').fill(currency);
        await amount.fill(text);
        await save(page);
        await problems(page).getByText(rule).waitFor();
        expect(await descriptionOf(amount)).to.include(rule);
        expect(await amount.inputValue()).to.equal(text);
      }
      expect(writes).to.have.length(0);
      await field(page, 'Stock').fill('1 000');
      await amount.fill('1.000,5');
      await save(page);
      await page.getByRole('heading', { level: 1, name: 'Mit Komma' }).waitFor();
      expect(await read(idIn(page))).to.deep.include({ price: { amount: 100_050, currency: 'EUR' }, stock: 1000 });
      await page.locator('output', { hasText: '1.000,50\u00a0€' }).waitFor();
      expect(await amount.inputValue()).to.equal('1000,50');
    });

    it('of an order finds user and products by words or ID, and shows errors at their items', async () => {
      const [first, gone, second] = [await makeProduct(), await makeProduct(), await makeProduct()];
      const user = (await service.client.post('/v1/users', { name: 'Eva', email: 'eva@example.com' })).json.id;
      const page = await open('#/orders/new');
      const choose = async (at: string, words: string, id: number) => {
        await pointer(page, at).fill(words);
        await page.getByRole('option', { name: new RegExp(`ID ${id}$`) }).waitFor();
        await page.keyboard.press('Enter');
      };
      await choose('/userId', 'eva@exa', user);
      await until('the name is shown', async () => (await pointer(page, '/userId').inputValue()) === 'Eva');
      for (const [at, product] of [first, gone, second].entries()) {
        await button(page, 'Add item').click();
        await choose(`/items/${at}/productId`, at === 0 ? String(product) : (await read(product)).sku, product);
        await pointer(page, `/items/${at}/quantity`).fill('2');
      }
      await service.client.delete(`/v1/products/${gone}`);
      await save(page);
      await problems(page).getByRole('button', { name: 'Items 2 › Product' }).waitFor();
      expect(await descriptionOf(pointer(page, '/items/1/productId'))).to.include('This does not exist any more');
      await page.getByRole('button', { name: 'Remove item 2' }).click();
      await save(page);
      await page.getByRole('heading', { level: 1, name: /^Order \d/ }).waitFor();
      const [order] = (await service.client.get(`/v1/orders?userId=${user}`)).json;
      expect(order.items.map(({ productId }: { productId: number }) => productId)).to.deep.equal([first, second]);
    });

    const named = async (name: string) =>
      (await service.client.get(`/v1/products?name=${encodeURIComponent(name)}`)).json;
    /** Carries out the next creations and loses their responses. */
    const loseResponses = async (page: Page, count: number) => {
      let left = count;
      await page.route('**/v1/products', async (route) => {
        if (route.request().method() !== 'POST' || left-- <= 0) return route.continue();
        await route.fetch();
        return route.abort('connectionreset');
      });
    };

    it('is one record although the person changes the text after a lost connection', async () => {
      const page = await open('#/products/new');
      await loseResponses(page, 3);
      await field(page, 'Name').fill('Before');
      await save(page);
      await problems(page).getByText('No connection').waitFor();
      await field(page, 'Name').fill('After');
      await save(page);
      await page.getByRole('heading', { level: 1, name: 'After' }).waitFor();
      expect([await named('Before'), await named('After')].map(({ length }) => length)).to.deep.equal([0, 1]);
    });
  });

  describe('an existing record', () => {
    it('sends only what changed, with the version that was read', async () => {
      const { id, page } = await openProduct({ description: 'One.\r\nTwo.' });
      const writes = writesOf(page);
      const bodies = await bodiesOf(page);
      await field(page, 'Description').focus();
      await page.keyboard.press('Control+End');
      await page.keyboard.type('!');
      await page.getByRole('textbox', { name: 'Value', exact: true }).nth(1).fill('8');
      await page.getByRole('button', { name: 'Remove attribute dimmable' }).click();
      await save(page);
      await saved(page);
      expect(await bodies()).to.deep.equal([
        { description: 'One.\r\nTwo.!', attributes: { watts: 8, dimmable: null } },
      ]);
      expect(await writes[0]?.headerValue('If-Match')).to.equal('"1"');
      expect((await read(id)).attributes).to.deep.equal({ colour: 'green', watts: 8 });
      await page.getByText('Version').locator('..').getByText('2').waitFor();
      await field(page, 'Description').fill('');
      await save(page);
      await saved(page);
      await until('there is none', async () => (await read(id)).description === undefined);
    });

    it('that a second client changed is shown side by side, and the person chooses', async () => {
      const { id, page } = await openProduct();
      await field(page, 'Name').fill('Your lamp');
      await field(page, 'Price').fill('0.01');
      await page.getByRole('textbox', { name: 'Value', exact: true }).nth(1).fill('9');
      await changeElsewhere(id, {
        name: 'Their lamp',
        description: 'Theirs alone.',
        attributes: { colour: 'red' },
      });
      await save(page);
      const dialog = page.getByRole('dialog', { name: 'Somebody else changed this record' });
      const group = (name: string) => dialog.getByRole('group', { name, exact: true });
      await dialog.waitFor();
      const rows = await dialog
        .locator('fieldset.difference')
        .evaluateAll((all) =>
          all.map((one) => [
            ...[...one.querySelectorAll(':scope > legend, .side > :last-child')].map(({ textContent }) => textContent),
            one.querySelector('input:checked')?.parentElement?.textContent?.trim(),
          ]),
        );
      expect(rows).to.deep.equal([
        ['Name', 'Lamp', 'Your lamp', 'Their lamp', undefined],
        ['Description', LAMP.description, LAMP.description, 'Theirs alone.', 'Theirs'],
        ['Price', '€49.90', '€0.01', '€49.90', 'Yours'],
        ['Attributes: colour', 'green', 'green', 'red', 'Theirs'],
        ['Attributes: watts', '7.5', '9', '7.5', 'Yours'],
      ]);
      const writes = writesOf(page);
      const saveChoice = button(dialog, 'Save my choice');
      await saveChoice.click();
      expect(writes, 'a choice is missing').to.have.length(0);
      await group('Name').getByLabel('Yours').check();
      await button(dialog, 'Edit my choice').click();
      await dialog.waitFor({ state: 'detached' });
      await field(page, 'Name').fill('Our lamp');
      await save(page);
      await saved(page);
      expect(await writes[0]?.headerValue('If-Match')).to.equal('"2"');
      expect(await read(id)).to.deep.include({
        name: 'Our lamp',
        description: 'Theirs alone.',
        price: { amount: 1, currency: 'EUR' },
        attributes: { colour: 'red', watts: 9, dimmable: true },
      });
      expect(await field(page, 'Name').inputValue()).to.equal('Our lamp');
    });

    it('that is changed again during the choice is shown again, with the choice as yours', async () => {
      const { id, page } = await openProduct();
      await field(page, 'Name').fill('Yours');
      await changeElsewhere(id, { name: 'Theirs' });
      await save(page);
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('group', { name: 'Name' }).getByLabel('Yours').check();
      await changeElsewhere(id, { name: 'Theirs again', description: 'And this.' });
      await button(dialog, 'Save my choice').click();
      await dialog.getByRole('heading', { name: 'again' }).waitFor();
      expect(
        await dialog.getByRole('group', { name: 'Name' }).locator('.side > :last-child').allTextContents(),
      ).to.deep.equal(['Theirs', 'Yours', 'Theirs again']);
      await dialog.getByRole('button', { name: 'all of theirs' }).click();
      await dialog.getByRole('group', { name: 'Name' }).getByLabel('Yours').check();
      await button(dialog, 'Save my choice').click();
      await saved(page);
      expect(await read(id)).to.deep.include({ name: 'Yours', description: 'And this.' });
    });

    it('that refuses the choice shows why in the form, with the choice in it', async () => {
      const { id, page } = await openProduct();
      await field(page, 'SKU').fill('not allowed');
      await changeElsewhere(id, { sku: 'theirs', name: 'Other' });
      await save(page);
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('group', { name: 'SKU' }).getByLabel('Yours').check();
      await button(dialog, 'Save my choice').click();
      await problems(page).getByRole('button', { name: 'SKU:' }).waitFor();
      expect(await dialog.count()).to.equal(0);
      expect(await field(page, 'SKU').inputValue()).to.equal('not allowed');
      await button(page, 'Discard changes').click();
      expect(await field(page, 'SKU').inputValue()).to.equal('theirs');
      await field(page, 'SKU').fill(`allowed-${id}`);
      await save(page);
      await saved(page);
      expect(await read(id)).to.include({ name: 'Other', sku: `allowed-${id}` });
    });

    it('that was saved although its response was lost is no conflict', async () => {
      const { id, page } = await openProduct();
      let isLost = false;
      await page.route(`**/v1/products/${id}`, async (route) => {
        if (route.request().method() !== 'PATCH' || isLost) return route.continue();
        isLost = true;
        await route.fetch();
        return route.abort('connectionreset');
      });
      await field(page, 'Name').fill('Saved once');
      await page.setViewportSize({ width: 800, height: 300 });
      const { y, height } = (await page.getByRole('button', { name: 'Save' }).boundingBox()) ?? { y: 0, height: 300 };
      expect(y + height).to.be.below(300);
      await page.keyboard.press('Control+s');
      await saved(page);
      expect(await read(id)).to.include({ name: 'Saved once' });
    });

    it('whose version alone has changed is saved without a question', async () => {
      const { id, page } = await openProduct();
      await field(page, 'Name').fill('Yours');
      await changeElsewhere(id, { name: 'Theirs' });
      await changeElsewhere(id, { name: LAMP.name });
      await save(page);
      await saved(page);
      expect(await read(id)).to.include({ name: 'Yours' });
      expect(await page.getByRole('dialog').count()).to.equal(0);
    });

    it('is saved, and compared with another change, behind a proxy that makes its tags weak and those of a coding', async () => {
      const { id, page } = await openProduct();
      await alterTags(page, id, (tag) => tag.replace(/^"/, 'W/"').replace(/"$/, '-gzip"'));
      await page.reload();
      await field(page, 'Name').fill('First');
      await save(page);
      await saved(page);
      await field(page, 'Name').fill('Second');
      await changeElsewhere(id, { name: 'Theirs' });
      await save(page);
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('group', { name: 'Name' }).getByLabel('Yours').check();
      await button(dialog, 'Save my choice').click();
      await dialog.waitFor({ state: 'detached' });
      expect(await read(id)).to.include({ name: 'Second' });
    });

    it('whose tags are altered on the way is no conflict, and the text stays', async () => {
      const { id, page } = await openProduct();
      await alterTags(page, id);
      await page.reload();
      await field(page, 'Name').fill('Yours');
      await save(page);
      await problems(page).getByText('Nobody has changed the record.').waitFor();
      expect(await page.getByRole('dialog').count()).to.equal(0);
      expect(await field(page, 'Name').inputValue()).to.equal('Yours');
      expect((await read(id)).name).to.equal(LAMP.name);
    });

    it('that was deleted meanwhile can be created anew with the typed text', async () => {
      const { id, page } = await openProduct();
      await field(page, 'Name').fill('Phoenix');
      // Behind the click, so that the page does not learn of it before.
      await page.route(`**/v1/products/${id}`, async (route) => {
        if (route.request().method() === 'PATCH') await service.client.delete(`/v1/products/${id}`);
        await route.continue();
      });
      await save(page);
      await problems(page).getByText('Somebody deleted this record').waitFor();
      await button(page, 'Create it again').click();
      await page.getByRole('heading', { level: 1, name: 'Phoenix' }).waitFor();
      const hash = new URL(page.url()).hash;
      expect(hash).to.not.equal(`#/products/${id}`);
      expect(await read(Number(hash.split('/').at(-1)))).to.deep.include({
        name: 'Phoenix',
        price: LAMP.price,
      });
    });

    it('shows an error of the service that no field of the form has', async () => {
      const { id, page } = await openProduct();
      const details = [{ code: 'x', message: 'odd', in: 'body', pointer: '/no/where' }];
      await page.route(`**/v1/products/${id}`, (route) =>
        route.request().method() === 'PATCH'
          ? route.fulfill({ status: 400, json: { code: 'validation_failed', message: 'x', details } })
          : route.continue(),
      );
      await field(page, 'Name').fill('Typed');
      await save(page);
      await problems(page).getByText('no › where: Odd.').first().waitFor();
    });

    it('asks before it is left with unsaved text', async () => {
      const { id, page } = await openProduct();
      const leave = async () => page.locator('.breadcrumb > a').click();
      const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
      await field(page, 'Name').fill('Typed');
      await leave();
      await dialog.getByRole('button', { name: 'Stay' }).click();
      expect(await field(page, 'Name').inputValue()).to.equal('Typed');
      expect(new URL(page.url()).hash).to.equal(`#/products/${id}`);
      const question = page.waitForEvent('dialog');
      await page.close({ runBeforeUnload: true });
      const asked = await question;
      expect(asked.type()).to.equal('beforeunload');
      await asked.dismiss();
      await leave();
      await dialog.getByRole('button', { name: 'Leave' }).click();
      await page.getByRole('heading', { level: 1, name: 'Products' }).waitFor();
      await page.goBack();
      await field(page, 'Name').waitFor();
      expect(await field(page, 'Name').inputValue()).to.equal('Lamp');
      await leave();
      await page.getByRole('heading', { level: 1, name: 'Products' }).waitFor();
    });

    it('is only shown to a key that may only read', async () => {
      const id = await makeProduct();
      const { key } = await keyWith(service, 'products:read');
      const page = await open(`#/products/${id}`, {}, key);
      await page.getByText('Price', { exact: true }).waitFor();
      expect(await page.getByRole('button', { name: /Save|Delete/ }).count()).to.equal(0);
      expect(await page.locator('main input').count()).to.equal(0);
    });

    it('of a user leads to the orders of that user', async () => {
      const body = { name: 'Ada', email: 'ada@example.com' };
      const { id } = (await service.client.post('/v1/users', body)).json;
      const page = await open(`#/users/${id}`);
      await page.getByRole('link', { name: 'Orders of this user' }).click();
      await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
      expect(new URL(page.url()).hash).to.equal(`#/orders?userId=${id}`);
    });
  });

  describe('a deletion', () => {
    const UNDO_MS = 10_000;
    const remove = async (page: Page) => {
      // The clock of the page is frozen, so that the time to undo ends when a test says so.
      await page.clock.install({ time: 0 });
      await page.clock.pauseAt(1_000);
      await button(page, 'Delete this product').click();
      await page.getByText('Deleted “Lamp”.', { exact: true }).waitFor();
    };

    const endTimeToUndo = async (page: Page) => {
      await page.clock.runFor(UNDO_MS);
      await page.clock.resume();
    };

    it('of a record that somebody changed brings it back with words', async () => {
      const { id, page } = await openProduct();
      await remove(page);
      await changeElsewhere(id, { name: 'Kept' });
      await endTimeToUndo(page);
      await page.getByText('was not deleted').waitFor();
      await page.getByRole('link', { name: 'Show it' }).click();
      await page.getByRole('heading', { level: 1, name: 'Kept' }).waitFor();
      expect((await read(id)).name).to.equal('Kept');
    });

    it('of a record whose version alone has changed is carried out', async () => {
      const { id, page } = await openProduct();
      await remove(page);
      await changeElsewhere(id, { name: 'Theirs' });
      await changeElsewhere(id, { name: LAMP.name });
      await endTimeToUndo(page);
      await page.getByText('Deleted “Lamp”.', { exact: true }).waitFor({ state: 'detached' });
      await until('the record is gone', async () => {
        const { status } = await service.client.get(`/v1/products/${id}`);
        return status === 404;
      });
      expect(await page.getByText('was not deleted').count()).to.equal(0);
    });

    it('of a record whose tags are altered on the way says so', async () => {
      const { id, page } = await openProduct();
      await alterTags(page, id);
      await page.reload();
      await field(page, 'Name').waitFor();
      await remove(page);
      await endTimeToUndo(page);
      await page.getByText('Nobody has changed the record.').waitFor();
      expect((await service.client.get(`/v1/products/${id}`)).status).to.equal(200);
    });

    it('with unsaved text keeps the text for an undo', async () => {
      const { page } = await openProduct();
      const undo = page.getByRole('button', { name: 'Undo the deletion' });
      const description = field(page, 'Description');
      await description.fill('Typed');
      await remove(page);
      await description.waitFor({ state: 'hidden' });
      await undo.click();
      expect(await description.inputValue()).to.equal('Typed');
      await button(page, 'Delete this product').click();
      await undo.waitFor();
      await endTimeToUndo(page);
      await page.getByText('There is no such record').waitFor();
      expect(await description.inputValue()).to.equal('Typed');
    });

    const leavings: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
      'the page is reloaded': (page) => page.reload(),
      'the person signs out': signOut,
    };
    for (const [what, leave] of Object.entries(leavings))
      it(`is dropped if ${what} before it is sent`, async () => {
        const { id, page } = await openProduct();
        const writes = writesOf(page);
        await remove(page);
        await leave(page);
        await page.getByText('Deleted “Lamp”.', { exact: true }).waitFor({ state: 'detached' });
        await page.clock.runFor(2 * UNDO_MS);
        expect(writes).to.have.length(0);
        expect((await service.client.get(`/v1/products/${id}`)).status).to.equal(200);
      });
  });

  for (const [appearance, options] of Object.entries(APPEARANCES))
    it(`has no axe violations and no horizontal scroll ${appearance}`, async () => {
      const { id, page } = await openProduct({}, options);
      await expectAccessible(page, 'record');
      await field(page, 'Name').fill('');
      await field(page, 'Price').fill('many');
      await save(page);
      await problems(page).waitFor();
      await expectAccessible(page, 'errors');
      await field(page, 'Price').fill('1');
      await field(page, 'Name').fill('Mine');
      await changeElsewhere(id, { name: 'Theirs', attributes: { colour: 'red', note: 'long '.repeat(60) } });
      await save(page);
      await page.getByRole('dialog').waitFor();
      await page.getByRole('group', { name: 'Name' }).getByLabel('Yours').check();
      await expectAccessible(page, 'conflict');
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      await page.locator('.breadcrumb > a').click();
      await page.getByRole('dialog', { name: 'Leave' }).waitFor();
      await expectAccessible(page, 'leaving');
      await page.getByRole('button', { name: 'Stay' }).click();
      await page.getByRole('button', { name: 'Discard' }).click();
      await page.getByRole('button', { name: 'Delete this' }).click();
      await page.getByRole('button', { name: 'Undo the deletion' }).waitFor();
      await expectAccessible(page, 'deletion');
    });
});
