import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import type { Download, Page, Route } from 'playwright-core';
import { inProcessService } from '../support/in-process-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { APPEARANCES, expectAccessible } from './accessibility.js';
import { button, choose, consolePages, download, keyWith, linesOf, show, signIn } from './console-page.js';

/** Products that a person would import: some are invalid. */
const productsOf = (count: number, isBad: (at: number) => boolean = () => false) =>
  Array.from({ length: count }, (_, at) =>
    isBad(at) ? `{"name":"","colour":"${at}"}` : `{"name":"Imported ${at}","description":"${'x'.repeat(300)}"}`,
  ).join('\n');

type Answer = (route: Route) => Promise<unknown>;
const carryOut: Answer = (route) => route.continue().catch(() => {});
/** The service carries it out, and the response is lost. */
const lose: Answer = async (route) => {
  await route.fetch();
  await route.abort('connectionreset');
};
const refuse =
  (status: number, code: string, headers: Record<string, string> = {}): Answer =>
  (route) =>
    route.fulfill({ status, headers, json: { code, message: 'Send JSON.', details: [] } });
/** Answers the first imports so, and carries out the others. */
const answer = (page: Page, ...answers: Answer[]) =>
  page.route('**/v1/products/imports', (route) => (answers.shift() ?? carryOut)(route));

const SCOPES = ['products:read', 'products:write'];

describe('imports in the console', () => {
  const service = inProcessService();
  const open = consolePages(service);
  const products = async (): Promise<number> => {
    const headers = { Prefer: 'count=exact' };
    return Number((await service.client.get('/v1/products?limit=1', { headers })).headers['x-total-count']);
  };
  const start = (page: Page) => button(page, 'Start import').click();
  const has = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
  const added = async () => (await products()) - before;
  let before = 0;
  beforeEach(async () => {
    before = await products();
  });

  it('create the valid records of a file, and give the others back with their errors', async () => {
    const { page, errors } = await open('#/import/products');
    await expectAccessible(page, 'before a file is chosen');
    await choose(
      page,
      'new products.ndjson',
      productsOf(20, (at) => at % 7 === 3),
    );
    await start(page);
    await has(page, '17 created, 3 refused.');
    expect(await added()).to.equal(17);
    await expectAccessible(page, 'after an import');
    const { name, text } = await download(page, 'Download the refused records (3)');
    expect(name).to.equal('new products-failed.ndjson');
    const refused = text.trimEnd().split('\n');
    expect(refused.map((line) => JSON.parse(line).colour)).to.deep.equal(['3', '10', '17']);
    expect(JSON.parse(refused[0] ?? '').error.details).to.have.length(2);
    await button(page, 'Choose another file').click();
    await choose(page, name, text.replaceAll('"name":"","colour":', '"name":"Corrected","description":'));
    await start(page);
    await has(page, '3 created.');
    expect(errors).to.deep.equal([]);
  });

  it('give rows back that are as wrong after a spreadsheet has filled up the short ones, until they are corrected', async () => {
    const { page } = await open('#/import/products');
    const rows = ['sep=,', 'name,price.decimal,price.currency', 'Lamp,0.25,EUR', 'Short', ',,', 'Desk,24.999,EUR'];
    await choose(page, 'w.csv', rows.join('\r\n'));
    await start(page);
    await has(page, '1 created, 2 refused.');
    const { name, text } = await download(page, 'Download the refused records (2)');
    expect([name, text[0]]).to.deep.equal(['w-failed.csv', '\ufeff']);
    const given: string[][] = parse(text, { relax_column_count: true });
    const width = Math.max(...given.map(({ length }) => length));
    const saved = stringify(given.map((row) => [...row, ...Array(width - row.length).fill('')]));
    const corrected = saved.replace(/,,,(.*?),Short/, 'Short,,,$1,').replace('24.999', '24.99');
    for (const [file, outcome] of [
      [saved, '2 refused.'],
      [corrected, '2 created.'],
    ] as const) {
      await button(page, 'Choose another file').click();
      await choose(page, 'w.csv', file);
      await start(page);
      await has(page, outcome);
    }
    expect(await added()).to.equal(3);
  });

  it('show the prices of the first records as money before they start', async () => {
    const { page } = await open('#/import/products', { locale: 'en-GB' });
    const rows = ['name,price.amount,price.currency', 'Cents,25,EUR', 'Euros,25.00,EUR', 'Yen,25,JPY', 'short'];
    await choose(page, 'prices.csv', rows.join('\n'));
    const row = (name: string) => page.getByRole('row', { name });
    const prices = row('price.amount').getByRole('listitem');
    await prices.first().waitFor();
    expect(await prices.allInnerTexts()).to.deep.equal(['€0.25', '25.00 EUR: not a price', 'JP¥25']);
    await page.getByText('Not a record: short').waitFor();
    expect(await added()).to.equal(0);
    await expectAccessible(page, 'before an import');
    await button(page, 'Choose another file').click();
    await choose(page, 'prices.ndjson', '{"name":"Cents","price":{"amount":25,"currency":"EUR"},"tags":["a","b"]}');
    await row('price').getByText('€0.25').waitFor();
    await row('tags').getByText('a, b').waitFor();
    await page.getByText('25 EUR is €0.25').waitFor();
    await start(page);
    await has(page, '1 created.');
    expect(await row('price').count()).to.equal(0);
  });

  it('read the file of a European Excel, show how, send it as the person corrects it, and undo that', async () => {
    await service.client.post('/v1/products', { name: 'Chair', attributes: { material: 'oak' } });
    before++;
    const { page, errors } = await open('#/import/products', { locale: 'de-DE' });
    const rows = [
      'Bezeichnung;Artikelnr.;Preis;Bestand;Farbe;Gewicht;Notiz;Material ;error',
      'Töpfe;EU-1;1.299,50;1.204;grün;5,6;n;Ton;old',
      'Tür;EU-2;7,09;8;;;;;',
    ];
    const buffer = Buffer.from(rows.join('\r\n'), 'latin1');
    await choose(page, 'artikel.csv', buffer);
    const goesTo = (name: string) => page.getByLabel(`Goes to: ${name}`);
    await goesTo('Farbe').waitFor();
    expect(await page.getByRole('radio', { name: 'Update by SKU' }).isChecked()).to.equal(true);
    for (const [label, chosen] of Object.entries({ Separator: ';', 'Character set': 'windows-1252', Numbers: 'comma' }))
      expect(await page.getByLabel(label, { exact: true }).inputValue()).to.equal(chosen);
    expect(await goesTo('error').count()).to.equal(0);
    expect(await goesTo('Notiz').inputValue()).to.equal('');
    await page.getByLabel('Currency of the prices').fill('EUR');
    await goesTo('Notiz').selectOption('Description');
    await has(page, 'Other records have “material”.');
    await goesTo('Material').selectOption('Material (text)');
    await has(page, 'A second attribute: other records have “material”.');
    await goesTo('Material').selectOption('material (text)');
    await page.getByText('1.299,50\u00a0€').waitFor();
    await expectAccessible(page, 'the columns');
    await button(page, 'Check the file').click();
    const found = page.getByRole('region', { name: 'New', exact: true }).getByRole('row');
    const attributes = ['Farbe: grün', 'Gewicht: 5,6', 'material: Ton'];
    const shown = ['Töpfe', 'n', 'EU-1', '1.299,50\u00a0€', ...attributes, 'Live', '1.204'];
    for (const text of shown) await found.nth(1).getByText(text, { exact: true }).waitFor();
    const cells = await found.evaluateAll((rows) =>
      rows.map((row) => Array.from((row as HTMLTableRowElement).cells, ({ colSpan }) => colSpan)),
    );
    expect(cells).to.deep.equal([1, 2, 3].map(() => [1, 1]));
    await expectAccessible(page, 'the new records');
    await start(page);
    await has(page, '2 created.');
    const { json } = await service.client.get('/v1/products?sku=EU-1');
    expect(json[0]).to.deep.include({
      name: 'Töpfe',
      description: 'n',
      price: { amount: 129950, currency: 'EUR' },
      stock: 1204,
      attributes: { Farbe: 'grün', Gewicht: 5.6, material: 'Ton' },
    });
    // The choice is remembered for the next file with these columns.
    await button(page, 'Choose another file').click();
    await choose(page, 'artikel.csv', buffer);
    await goesTo('Notiz').waitFor();
    expect(await goesTo('Notiz').inputValue()).to.equal('description');
    // The tab keeps the undo.
    await page.reload();
    await button(page, 'Undo').click();
    await button(page.getByRole('dialog'), 'Undo').click();
    await page.getByText('2 undone.').waitFor();
    expect(await added()).to.equal(0);
    expect(errors).to.deep.equal([]);
  });

  for (const [appearance, options] of Object.entries(APPEARANCES))
    it(`show a wide file before they start without axe violations ${appearance}`, async () => {
      const { page } = await open('#/import/products', options);
      const header = 'name,sku,price.decimal,price.currency,attributes,description';
      const cells = ['x'.repeat(200), 'S'.repeat(64), '24.999', 'EUR', '"{""a"":1}"', 'long '.repeat(50)];
      await choose(page, 'wide.csv', `${header}\n${cells.join(',')}\n"not closed`);
      await page.getByText('24.999 EUR: not a price').waitFor();
      await expectAccessible(page, appearance);
    });

  it('say why they stop, and continue where they were until each record is created once', async () => {
    const [first, second] = [await keyWith(service, ...SCOPES), await keyWith(service, ...SCOPES)];
    const { page } = await open('#/import/products', { key: first.key });
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const hold: Answer = (route) => held.then(() => carryOut(route));
    const proxy: Answer = (route) => route.fulfill({ contentType: 'text/html', body: '<h1>Welcome</h1>' });
    await service.client.delete(`/v1/api-keys/${first.id}`);
    await choose(page, 'many.ndjson', productsOf(6_000));
    await start(page);
    await signIn(page, second.key);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await answer(page, carryOut, hold, lose, refuse(503, 'unavailable'), proxy);
    await button(page, 'Continue').click();
    await has(page, /^[\d,]+ created\.$/);
    const share = await page.locator('progress').evaluate((bar) => (bar as HTMLProgressElement).value);
    expect(share).to.be.greaterThan(0).and.lessThan(1);
    await button(page, 'Stop').click();
    for (const words of ['has stopped.', 'No connection to the service', 'cannot respond now', 'did not come from']) {
      await has(page, words);
      release();
      await expectAccessible(page, words);
      if (words !== 'did not come from') await button(page, 'Continue').click();
    }
    await page.getByRole('link', { name: 'Products' }).first().click();
    await button(page.getByRole('dialog', { name: 'Stop the import?' }), 'Stay on the page').click();
    await button(page, 'Continue').click();
    await has(page, '6,000 created.');
    expect(await added()).to.equal(6_000);
  });

  it('do not go on under another key that cannot tell what the lost attempt has created', async () => {
    const [first, second] = [await keyWith(service, ...SCOPES), await keyWith(service, ...SCOPES)];
    const { page } = await open('#/import/products', { key: first.key });
    await answer(page, lose);
    await choose(page, 'some.ndjson', productsOf(20));
    await start(page);
    await has(page, 'No connection to the service');
    await service.client.delete(`/v1/api-keys/${first.id}`);
    await button(page, 'Continue').click();
    await signIn(page, second.key);
    await has(page, 'The import cannot go on with another key');
    await has(page, /in records 1 to 20\./);
    expect(await button(page, 'Continue').count()).to.equal(0);
    expect(await added()).to.equal(20);
  });

  it('wait while the rate limit is used up, and end with what the service refuses for good', async () => {
    const { page } = await open('#/import/products');
    await answer(page, refuse(429, 'rate_limited', { 'Retry-After': '59' }), refuse(415, 'unsupported_media_type'));
    await page.clock.install();
    await choose(page, 'a.ndjson', '{"name":"Late"}');
    await start(page);
    await has(page, /The import continues in \d+ s/);
    await page.clock.runFor(60_000);
    await has(page, /Send JSON/);
    expect(await button(page, 'Continue').count()).to.equal(0);
    await button(page, 'Choose another file').click();
    await page.locator('input[type=file]').waitFor();
  });

  it('take a file that is dropped anywhere on the page', async () => {
    const path = join(temporaryFolder(), 'users.ndjson');
    writeFileSync(path, '{"name":"Ann","email":"ann@example.org"}');
    const { page, context } = await open('#/import/users');
    await page.locator('.drop').waitFor();
    const session = await context.newCDPSession(page);
    const data = { items: [], files: [path], dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await session.send('Input.dispatchDragEvent', { type, x: 5, y: 5, data });
    await page.getByRole('radio', { name: 'Only add records' }).check();
    await start(page);
    await has(page, '1 created.');
  });

  it('refuse a file of another kind before anything is sent', async () => {
    const { page } = await open('#/import/products');
    await choose(page, 'report.pdf', 'x');
    await has(page, 'report.pdf cannot be imported.');
    await choose(page, 'empty.ndjson', '');
    await start(page);
    await has(page, 'The file has no records.');
    await show(page, '#/import/orders');
    await choose(page, 'orders.csv', 'userId\n1\n');
    await has(page, 'orders.csv cannot be imported. Choose NDJSON');
  });

  it('are offered only to keys that may write', async () => {
    const { key } = await keyWith(service, 'products:read');
    const { page } = await open('#/import/products', { key });
    await has(page, 'Your key does not allow');
    expect(await page.locator('input[type=file]').count()).to.equal(0);
  });
});

describe('exports in the console', () => {
  const service = inProcessService();
  const open = consolePages(service);
  const openMenu = (page: Page) => button(page, 'Export').click();
  before(async () => {
    const products = Array.from({ length: 3_000 }, (_, at) => ({
      name: `${at % 3 === 0 ? 'Lamp' : 'Desk'} ${at}`,
      description: 'x\n"y"',
      sku: `S-${at}`,
    }));
    const headers = { 'Content-Type': 'application/x-ndjson' };
    await service.client.post('/v1/products/imports', linesOf(...products), { headers });
  });

  it('save all records that the list shows, as CSV and as NDJSON', async () => {
    const { page, errors } = await open('#/products?q=lamp&sort=-name');
    for (const [format, name, type] of [
      ['CSV', 'products.csv', 'text/csv'],
      ['NDJSON', 'products.ndjson', 'application/x-ndjson'],
    ] as const) {
      await openMenu(page);
      await expectAccessible(page, 'the menu');
      const saved = await download(page, `As ${format}`);
      await page.getByText(`${name} is saved`).waitFor();
      const { text } = await service.client.get('/v1/products?q=lamp&sort=-name', { headers: { Accept: type } });
      expect(saved).to.deep.equal({ name, text });
      expect(text.match(/Lamp/g)).to.have.length(1_000);
    }
    expect(errors).to.deep.equal([]);
  });

  it('save a file for Excel with prices as people write them, a column for each attribute, and no formulas', async () => {
    const price = { amount: 1990, currency: 'EUR' };
    await service.client.post('/v1/products', { name: '=1+1', price, attributes: { watts: 7.5 } });
    const { page, errors } = await open('#/products?sort=-id', { locale: 'de-DE' });
    await openMenu(page);
    const { name, text } = await download(page, 'For Excel');
    expect(name).to.equal('products-excel.csv');
    expect(text.startsWith('\ufeffid;name;')).to.equal(true);
    const rows: Record<string, string>[] = parse(text, { bom: true, delimiter: ';', columns: true });
    expect(rows[0]).to.include({ name: "'=1+1", 'price.decimal': '19,90', 'attributes[watts]:number': '7,5' });
    expect(rows).to.have.length(3_001);
    expect(errors).to.deep.equal([]);
  });

  for (const [what, respond, act] of [
    ['cannot be saved', (route: Route) => route.abort('connectionreset'), () => {}],
    ['are cancelled', () => {}, (page: Page) => button(page, 'Cancel export').click()],
  ] as const)
    it(`save nothing if they ${what}`, async () => {
      const { page } = await open('#/products');
      await page.route('**/v1/products*', (route) =>
        route.request().headers()['accept'] === 'text/csv' ? respond(route) : route.continue(),
      );
      const downloads: Download[] = [];
      page.on('download', (one) => downloads.push(one));
      await openMenu(page);
      await button(page, 'As CSV').click();
      await act(page);
      if (what === 'cannot be saved') await page.getByText('Nothing was saved. No connection to the service').waitFor();
      await button(page, 'Export').waitFor();
      expect(downloads).to.deep.equal([]);
    });
});
