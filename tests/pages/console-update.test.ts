import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import type { Page } from 'playwright-core';
import { inProcessService } from '../support/in-process-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { APPEARANCES, expectAccessible } from './accessibility.js';
import { button, choose, consolePages, download, keyWith, linesOf, show } from './console-page.js';

const use = (page: Page, name: string) => page.getByRole('radio', { name });
const startButton = (page: Page) => button(page, 'Start import');
const check = async (page: Page, outcome: string) => {
  await button(page, 'Check the file').click();
  await page.getByText('Nothing is written yet').waitFor();
  await page.getByText(outcome, { exact: true }).waitFor();
};
const start = async (page: Page, outcome: string) => {
  await startButton(page).click();
  await page.getByText('The import is done').waitFor();
  await page.getByText(outcome, { exact: true }).waitFor();
};
const change = (page: Page) => button(page, 'Change how it is read and used').click();
const another = (page: Page) => button(page, 'Choose another file').click();

/** The cells of a table, whose title begins so. */
const rowsIn = async (page: Page, title: string) => {
  const rows = page.getByRole('region', { name: new RegExp(`^${title}`) }).locator('tbody tr');
  await rows.first().waitFor();
  return rows.evaluateAll((all) => all.map((row) => [...row.children].map(({ textContent }) => textContent)));
};

describe('updates in the console', () => {
  const service = inProcessService();
  const open = consolePages(service);
  let last = 0;
  /** Creates a record, with a key of its own. */
  const create = async (fields: object = {}, path = 'products') => {
    last++;
    const key = path === 'products' ? { sku: `U-${last}` } : { email: `u${last}@example.org` };
    const { json } = await service.client.post(`/v1/${path}`, { name: `No. ${last}`, ...key, ...fields });
    return json as Readonly<{ id: number; name: string; sku: string }>;
  };
  const read = async (id: number, path = 'products') => (await service.client.get(`/v1/${path}/${id}`)).json;
  const changeElsewhere = (id: number, fields: object) => service.client.patch(`/v1/products/${id}`, fields);

  it('show what they would change side by side, and change nothing before the person starts them', async () => {
    const { page, errors } = await open('#/import/products', { locale: 'en-GB' });
    const [lamp, desk, chair] = [
      await create({ price: { amount: 1990, currency: 'EUR' }, attributes: { watts: 5, size: 'L' } }),
      await create({ description: 'Oak' }),
      await create({ name: 'Chair' }),
    ];
    const rows = [
      'id,version,deleted,sku,name,description,price.decimal,price.currency,attributes.watts',
      `${lamp.id},1,,${lamp.sku},Lamp,,21.9,EUR,7.5`,
      `${desk.id},1,,${desk.sku},,"",,,`,
      `${chair.id},1,true,,,,,,`,
      `${lamp.id + 1_000},1,,,Nobody,,,,`,
    ];
    await choose(page, 'products.csv', rows.join('\r\n'));
    await page.getByRole('region', { name: 'Columns' }).waitFor();
    expect(await use(page, 'Update by ID').isChecked()).to.equal(true);
    expect(await use(page, 'Keep what the file does not mention').isChecked()).to.equal(true);
    expect(await startButton(page).count()).to.equal(0);
    await expectAccessible(page, 'before the check');
    await check(page, '2 changed, 1 deleted, 1 refused.');
    expect(await rowsIn(page, 'Changes')).to.deep.equal([
      [lamp.name, 'Name', lamp.name, 'Lamp'],
      ['Price', '€19.90', '€21.90'],
      ['Attributes: watts', '5', '7.5'],
      [desk.name, 'Description', 'Oak', 'empty text'],
      ['Chair', 'Whole record', `ID: ${chair.id}Name: ChairSKU: ${chair.sku}`, 'deleted'],
    ]);
    expect(await rowsIn(page, 'Refused')).to.deep.equal([['4', `${lamp.id + 1_000} · 1 · Nobody`, 'Not found.']]);
    await expectAccessible(page, 'after the check');
    expect((await read(lamp.id)).name).to.equal(lamp.name);
    expect(await read(chair.id)).to.have.property('name', 'Chair');
    await start(page, '2 changed, 1 deleted, 1 refused.');
    await expectAccessible(page, 'after the import');
    expect(await page.getByRole('region', { name: 'Changes' }).count()).to.equal(0);
    expect(await read(lamp.id)).to.deep.equal({
      id: lamp.id,
      name: 'Lamp',
      sku: lamp.sku,
      price: { amount: 2190, currency: 'EUR' },
      attributes: { watts: 7.5, size: 'L' },
    });
    expect(await read(desk.id)).to.have.property('description', '');
    expect((await service.client.get(`/v1/products/${chair.id}`)).status).to.equal(404);
    expect(errors).to.deep.equal([]);
  });

  it('show what somebody else has changed since the export with both versions, and leave it as it is', async () => {
    const { page } = await open('#/import/products');
    const [lamp, desk] = [await create(), await create()];
    await changeElsewhere(lamp.id, { name: 'Theirs' });
    const file = linesOf({ id: lamp.id, version: 1, name: 'Mine' }, { id: desk.id, version: 1, name: 'Mine too' });
    await choose(page, 'products.ndjson', file);
    await check(page, '1 changed, 1 refused.');
    const conflict = [
      ['Theirs', 'Version', '2', '1'],
      ['Name', 'Theirs', 'Mine'],
    ];
    expect(await rowsIn(page, 'Changed since the export')).to.deep.equal(conflict);
    // Between the check and the import.
    await changeElsewhere(desk.id, { name: 'Theirs too' });
    await start(page, '2 refused.');
    expect(await rowsIn(page, 'Changed since the export')).to.deep.equal([
      ...conflict,
      ['Theirs too', 'Version', '2', '1'],
      ['Name', 'Theirs too', 'Mine too'],
    ]);
    expect([(await read(lamp.id)).name, (await read(desk.id)).name]).to.deep.equal(['Theirs', 'Theirs too']);
    const { text } = await download(page, 'Download the refused records (2)');
    const refused = text.trimEnd().split('\n');
    expect(refused.map((line) => JSON.parse(line).error.code)).to.deep.equal(Array(2).fill('precondition_failed'));
  });

  it('by SKU add, change, replace, skip and delete', async () => {
    const { page } = await open('#/import/products');
    const lamp = await create({ description: 'Brass' });
    const rows = ['sku,name', `${lamp.sku},Lamp`, `NEW-${lamp.id},Desk`];
    await choose(page, 'products.csv', rows.join('\n'));
    expect(await use(page, 'Update by SKU').isChecked()).to.equal(true);
    // Without the column that has the key there is no such update.
    expect(await use(page, 'Update by ID').count()).to.equal(0);
    const column = page.getByLabel('Goes to: sku');
    await column.selectOption('Leave out');
    await page.getByText('It has no SKU or ID to update them by.').waitFor();
    await startButton(page).waitFor();
    await column.selectOption('SKU');
    await use(page, 'Leave them alone').check();
    await check(page, '1 new, 1 unchanged.');
    expect(await rowsIn(page, 'New')).to.deep.equal([['Desk', `SKUNEW-${lamp.id}StatusLive`]]);
    await change(page);
    await use(page, 'Replace each record').check();
    // Another choice needs another check.
    expect(await startButton(page).count()).to.equal(0);
    await check(page, '1 new, 1 changed.');
    expect(await rowsIn(page, 'Changes')).to.deep.equal([
      [lamp.name, 'Name', lamp.name, 'Lamp'],
      ['Description', 'Brass', 'no value'],
    ]);
    await change(page);
    await use(page, 'Keep what the file does not mention').check();
    await check(page, '1 new, 1 changed.');
    await start(page, '1 created, 1 changed.');
    expect(await read(lamp.id)).to.deep.equal({ ...lamp, name: 'Lamp' });
    await another(page);
    await choose(page, 'products.csv', rows.join('\n'));
    await check(page, '2 unchanged.');
    await page.getByText('This file changes nothing.').waitFor();
    expect(await startButton(page).count()).to.equal(0);
    await another(page);
    await choose(page, 'products.csv', `sku,deleted\n${lamp.sku},true`);
    await check(page, '1 deleted.');
  });

  it('change orders by ID alone', async () => {
    const { page } = await open('#/import/orders');
    const [user, lamp] = [await create({}, 'users'), await create()];
    const items = [{ productId: lamp.id, quantity: 1 }];
    const { json } = await service.client.post('/v1/orders', { userId: user.id, items });
    await choose(page, 'orders.ndjson', linesOf({ userId: user.id, items }));
    await page.getByText('It has no ID to update them by.').waitFor();
    await check(page, '1 new.');
    const added = `User${user.id}ItemsProduct ${lamp.id}, Quantity 1`;
    expect(await rowsIn(page, 'New')).to.deep.equal([['No. 1', added]]);
    await another(page);
    const more = [{ productId: lamp.id, quantity: 3 }];
    await choose(page, 'orders.ndjson', linesOf({ id: json.id, items: more }));
    await use(page, 'Update by ID').waitFor();
    expect(await page.getByRole('radio').count()).to.equal(4);
    expect(await use(page, 'Update by ID').isChecked()).to.equal(true);
    await check(page, '1 changed.');
    expect(await rowsIn(page, 'Changes')).to.deep.equal([
      [`order ${json.id}`, 'Items', `Product ${lamp.id}, Quantity 1`, `Product ${lamp.id}, Quantity 3`],
    ]);
    await start(page, '1 changed.');
    expect((await read(json.id, 'orders')).items).to.deep.equal(more);
  });

  it('need another choice of a file that has changed since the check, or between its parts', async () => {
    const { page } = await open('#/import/products');
    const lamp = await create();
    const path = join(temporaryFolder(), 'products.csv');
    const chooseFile = () => page.locator('input[type=file]').setInputFiles(path);
    const isChanged = async () => {
      await page.getByText('The file has changed').waitFor();
      expect(await button(page, 'Continue').count()).to.equal(0);
      await another(page);
    };
    writeFileSync(path, `id,name\n${lamp.id},Checked`);
    // A browser sees changes by the time in seconds.
    utimesSync(path, 1, 1);
    await chooseFile();
    await check(page, '1 changed.');
    writeFileSync(path, `id,name\n${lamp.id},Not checked`);
    await startButton(page).click();
    await isChanged();
    expect((await read(lamp.id)).name).to.equal(lamp.name);
    await chooseFile();
    await check(page, '1 changed.');
    await start(page, '1 changed.');
    expect((await read(lamp.id)).name).to.equal('Not checked');
    await another(page);
    writeFileSync(path, `name\n${`${'x'.repeat(200)}\n`.repeat(6_000)}`);
    utimesSync(path, 1, 1);
    await page.route('**/v1/products/imports', async (route) => {
      utimesSync(path, 2, 2);
      await route.continue();
    });
    await chooseFile();
    await startButton(page).click();
    await isChanged();
  });

  it('are named where an import that only adds meets records that exist', async () => {
    const { page } = await open('#/import/products');
    const lamp = await create();
    await choose(page, 'products.csv', `name,sku\nLamp,${lamp.sku}\nDesk,NEW-${lamp.id}`);
    await use(page, 'Only add records').check();
    await check(page, '1 new, 1 refused.');
    await page.getByText('choose “Update by SKU”').waitFor();
    await change(page);
    await use(page, 'Update by SKU').check();
    await check(page, '1 new, 1 changed.');
    await change(page);
    await use(page, 'Only add records').check();
    await start(page, '1 created, 1 refused.');
    expect((await read(lamp.id)).name).to.equal(lamp.name);
    await another(page);
    await choose(page, 'products.csv', `id,name\n${lamp.id},Lamp`);
    await use(page, 'Only add records').check();
    await startButton(page).click();
    await page.getByText('The header row is invalid').waitFor();
    expect(await page.getByRole('alert').innerText()).to.match(/\bid\b/);
    expect(await button(page, 'Continue').count()).to.equal(0);
    await change(page);
    await use(page, 'Update by ID').check();
    await check(page, '1 changed.');
  });

  it('are offered only to keys that may read too', async () => {
    const { key } = await keyWith(service, 'users:read', 'products:write');
    const { page } = await open('#/import/products', { key });
    const lamp = await create();
    await choose(page, 'products.csv', `sku,name\n${lamp.sku},Lamp\nNEW-${lamp.id},Desk`);
    await start(page, '1 created, 1 refused.');
    expect(await page.getByRole('radio').count()).to.equal(0);
    expect(await button(page, 'Check the file').count()).to.equal(0);
  });

  it('need the keyboard alone', async () => {
    const { page } = await open('#/import/products');
    const lamp = await create();
    await choose(page, 'products.csv', `sku,name\n${lamp.sku},Lamp`);
    const press = async (key: string) => page.keyboard.press(key);
    const focused = () =>
      page.evaluate(() => {
        const { activeElement } = document;
        return activeElement?.closest('label')?.textContent.trim() ?? activeElement?.textContent;
      });
    const tabTo = async (name: string) => {
      for (let at = 0; at < 60 && (await focused()) !== name; at++) await press('Tab');
      expect(await focused()).to.equal(name);
    };
    await page.getByRole('radio').first().waitFor();
    await tabTo('Update by SKU');
    await tabTo('Check the file');
    await press('Enter');
    await page.getByText('Nothing is written yet').waitFor();
    expect(await focused()).to.match(/^Nothing is written yet/);
    await tabTo('Start import');
    await press('Enter');
    await page.getByText('The import is done').waitFor();
    expect(await focused()).to.match(/^The import is done/);
    expect((await read(lamp.id)).name).to.equal('Lamp');
  });

  for (const [appearance, options] of Object.entries(APPEARANCES))
    it(`are shown without axe violations ${appearance}`, async () => {
      const { page } = await open('#/import/products', options);
      const [lamp, desk] = [await create({ description: 'x'.repeat(4_000) }), await create()];
      const long = 'L'.repeat(200);
      const file = linesOf(
        {
          id: lamp.id,
          name: long,
          description: `${'x'.repeat(2_000)}y`,
          attributes: { [long.slice(0, 64)]: long },
        },
        { id: desk.id, version: 9, name: long },
        { id: desk.id, name: '' },
      );
      await choose(page, 'products.ndjson', file);
      await page.getByRole('region', { name: 'The first 3 records' }).waitFor();
      await expectAccessible(page, `before a check ${appearance}`);
      await check(page, '1 changed, 2 refused.');
      expect((await rowsIn(page, 'Changes'))[1]?.[2]).to.match(/^…x{40}y$/);
      await rowsIn(page, 'Changed since the export');
      await expectAccessible(page, `after a check ${appearance}`);
    });
});

/** The cells of a file as Excel shows them in Germany: a formula as its text, a number without zeros at its end. */
const openedByExcel = (text: string): string[][] =>
  (parse(text, { bom: true, delimiter: ';' }) as string[][]).map((cells) =>
    cells.map((cell) => cell.replace(/^="(.*)"$/s, '$1').replace(/^(-?\d+,\d*?)0+$/, '$1')),
  );

describe('exports to edit in the console', () => {
  const service = inProcessService();
  const open = consolePages(service);
  const exportToEdit = async (page: Page, hash: string) => {
    await show(page, hash);
    await button(page, 'Export').click();
    return download(page, 'To edit and import again');
  };

  it('come back from a European Excel with the changes of a person, and lose nobody’s', async () => {
    const { page, errors } = await open('#/products', { locale: 'de-DE' });
    const { json: lamp } = await service.client.post('/v1/products', {
      name: 'Tisch für "zwei"',
      sku: 'E-1',
      description: 'two\r\nlines',
      price: { amount: 1990, currency: 'EUR' },
      attributes: { watts: 7.5, code: '1/2', on: false },
      status: 'draft',
      tags: ['a/b', '[c]'],
      images: [{ url: 'https://example.com/a.png', alt: 'A "table"' }],
      gtin: '00012345678905',
      stock: 0,
    });
    const { json: desk } = await service.client.post('/v1/products', { name: 'Desk', sku: 'E-2' });
    const { name, text } = await exportToEdit(page, '#/products?sort=id');
    expect(name).to.equal('products-edit.csv');
    const [header = [], first = [], second = []] = openedByExcel(text);
    const columns = header.join();
    expect(columns).to.match(/^id,version,name,description,sku,price.decimal,price.currency,status,tags,images,url,/);
    expect(columns).to.match(/,stock,(.*,)?attributes\[code\],attributes\[on\]:boolean,attributes\[watts\]:number$/);
    expect(first.slice(0, 2)).to.deep.equal([String(lamp.id), '1']);
    expect(first[5]).to.equal('19,9');
    await service.client.patch(`/v1/products/${desk.id}`, { name: 'Theirs' });
    const rows = [header, first.with(5, '1.025,5'), second.with(2, 'Mine')];
    const edited = stringify(rows, { delimiter: ';', record_delimiter: 'windows' });
    await show(page, '#/import/products');
    await choose(page, name, Buffer.from(edited, 'latin1'));
    await check(page, '1 changed, 1 refused.');
    await start(page, '1 changed, 1 refused.');
    const records = (await service.client.get('/v1/products?sort=id')).json;
    expect(records[0]).to.deep.equal({ ...lamp, price: { amount: 102_550, currency: 'EUR' } });
    expect(records[1].name).to.equal('Theirs');
    expect(errors).to.deep.equal([]);
  });

  it('are NDJSON for orders, which cannot be imported from CSV', async () => {
    const { json: user } = await service.client.post('/v1/users', { name: 'Ann', email: 'ann@example.org' });
    const { json: product } = await service.client.post('/v1/products', { name: 'Lamp' });
    const items = [{ productId: product.id, quantity: 2 }];
    const { json: order } = await service.client.post('/v1/orders', { userId: user.id, items });
    const { page } = await open('#/orders');
    const { name, text } = await exportToEdit(page, '#/orders');
    expect(name).to.equal('orders-edit.ndjson');
    expect(JSON.parse(text)).to.deep.equal({ id: order.id, version: 1, userId: user.id, items });
  });

  it('are offered only to keys that may write', async () => {
    const { key } = await keyWith(service, 'products:read');
    const { page } = await open('#/products', { key });
    await button(page, 'Export').click();
    await button(page, 'As CSV').waitFor();
    expect(await button(page, 'To edit and import again').count()).to.equal(0);
    await expectAccessible(page, 'the menu');
  });
});
