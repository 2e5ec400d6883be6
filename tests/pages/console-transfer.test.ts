import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import type { Download, Page, Route } from 'playwright-core';
import { inProcessService } from '../support/in-process-service.js';
import { APPEARANCES, expectAccessible } from './accessibility.js';
import { consolePages, signIn } from './console-page.js';

/** Products that a person would import: some are invalid. */
const linesOf = (count: number, isBad: (at: number) => boolean = () => false) =>
  Array.from({ length: count }, (_, at) =>
    isBad(at) ? `{"name":"","colour":"${at}"}` : `{"name":"Imported ${at}","description":"${'x'.repeat(300)}"}`,
  );

const refuse = (route: Route) =>
  route.fulfill({ status: 503, json: { code: 'unavailable', message: 'x', details: [] } });

describe('imports in the console', () => {
  const service = inProcessService();
  const open = consolePages(service);
  const products = async (): Promise<number> =>
    Number(
      (await service.client.get(`/v1/products?limit=1`, { headers: { Prefer: 'count=exact' } })).headers[
        'x-total-count'
      ],
    );
  const choose = (page: Page, name: string, text: string) =>
    page.locator('input[type=file]').setInputFiles({ name, mimeType: '', buffer: Buffer.from(text) });
  const start = (page: Page) => page.getByRole('button', { name: 'Start import' }).click();
  const textOf = async (download: Download) => readFileSync(await download.path(), 'utf8');
  let before = 0;
  beforeEach(async () => {
    before = await products();
  });
  const added = async () => (await products()) - before;

  it('create the valid records of a file, and give the others back with their errors', async () => {
    const { page, errors } = await open('#/import/products');
    await expectAccessible(page, 'before a file is chosen');
    await choose(page, 'new products.ndjson', linesOf(20, (at) => at % 7 === 3).join('\n'));
    await start(page);
    await page.getByText('17 created, 3 refused.').waitFor();
    expect(await page.getByRole('row', { name: 'Created' }).innerText()).to.match(/17/);
    expect(await page.getByRole('row', { name: 'validation_failed' }).innerText()).to.match(/3/);
    expect(await added()).to.equal(17);
    await expectAccessible(page, 'after an import');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the refused records (3)' }).click(),
    ]);
    expect(download.suggestedFilename()).to.equal('new products-failed.ndjson');
    const refused = (await textOf(download))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(refused.map(({ colour }) => colour)).to.deep.equal(['3', '10', '17']);
    expect(refused[0].error.code).to.equal('validation_failed');
    expect(refused[0].error.details).to.have.length(2);
    expect(errors).to.deep.equal([]);
  });

  it('take CSV, and give invalid rows back as rows with an error', async () => {
    const { page } = await open('#/import/products');
    const rows = ['name,sku,price.amount,price.currency', '"Lamp, ""tall""",T-1,100,EUR', 'Desk,T-1,1,EUR', ',T-2,,'];
    await choose(page, 'products.csv', `\ufeff${rows.join('\r\n')}\r\n\r\nChair,T-3\r\n"not closed\r\n`);
    await page.getByRole('radio', { name: 'Only add records' }).check();
    await start(page);
    await page.getByText('1 created, 4 refused.').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the refused records (4)' }).click(),
    ]);
    expect(download.suggestedFilename()).to.equal('products-failed.csv');
    const [header, duplicate, nameless, short, broken] = (await textOf(download)).split('\n', 5);
    expect(header).to.equal(`\ufeff${rows[0]},error`);
    expect(duplicate).to.match(/^Desk,T-1,1,EUR,"duplicate_value: /);
    expect(nameless).to.match(/^,T-2,,,"validation_failed: name is required/);
    expect(short).to.match(/^,,,,"malformed_csv: .*","Chair,T-3"$/);
    expect(broken).to.match(/^,,,,"malformed_csv: .*","""not closed/);
  });

  it('refuse uncorrected rows also after a spreadsheet has filled up the short ones', async () => {
    const { page } = await open('#/import/products');
    const importFile = async (text: string, outcome: string) => {
      await choose(page, 'w.csv', text);
      await start(page);
      await page.getByText(outcome).waitFor();
    };
    const rows = ['sep=,', 'name,price.decimal,price.currency', 'Lamp,0.25,EUR', 'Short', ',,', 'Desk,24.999,EUR'];
    await importFile(rows.join('\r\n'), '1 created, 2 refused.');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the refused records (2)' }).click(),
    ]);
    const given: string[][] = parse(await textOf(download), { relax_column_count: true });
    const width = Math.max(...given.map(({ length }) => length));
    const saved = given.map((row) => [...row, ...Array(width - row.length).fill('')]);
    await page.getByRole('button', { name: 'Choose another file' }).click();
    await importFile(stringify(saved), '0 created, 2 refused.');
    await page.getByRole('button', { name: 'Choose another file' }).click();
    const corrected = stringify(saved)
      .replace(/,,,(.*?),Short/, 'Short,,,$1,')
      .replace('24.999', '24.99');
    await importFile(corrected, '2 created, 0 refused.');
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
    await page.getByRole('button', { name: 'Choose another file' }).click();
    await choose(page, 'prices.ndjson', '{"name":"Cents","price":{"amount":25,"currency":"EUR"},"tags":["a","b"]}');
    await row('price').getByText('€0.25').waitFor();
    await row('tags').getByText('a, b').waitFor();
    await page.getByText('25 EUR is €0.25').waitFor();
    await start(page);
    await page.getByText('1 created, 0 refused.').waitFor();
    expect(await row('price').count()).to.equal(0);
  });

  it('read the file of a European Excel, show how, send it as the person corrects it, and undo that', async () => {
    const { page, errors } = await open('#/import/products', { locale: 'de-DE' });
    const rows = [
      'Bezeichnung;Artikelnr.;Preis;Bestand;Farbe;Notiz;error',
      'Töpfe;EU-1;1.299,50;1.204;grün;n;old',
      'Tür;EU-2;7,09;8;;;',
    ];
    const buffer = Buffer.from(rows.join('\r\n'), 'latin1');
    await page.locator('input[type=file]').setInputFiles({ name: 'artikel.csv', mimeType: '', buffer });
    const goesTo = (name: string) => page.getByLabel(`Goes to: ${name}`);
    await goesTo('Farbe').waitFor();
    expect(await page.getByRole('radio', { name: 'Update by SKU' }).isChecked()).to.equal(true);
    for (const [label, chosen] of Object.entries({ Separator: ';', 'Character set': 'windows-1252', Numbers: 'comma' }))
      expect(await page.getByLabel(label, { exact: true }).inputValue()).to.equal(chosen);
    expect(await goesTo('error').count()).to.equal(0);
    expect(await goesTo('Notiz').inputValue()).to.equal('');
    await page.getByLabel('Currency of the prices').fill('EUR');
    await goesTo('Notiz').selectOption('Description');
    await page.getByText('1.299,50\u00a0€').waitFor();
    await expectAccessible(page, 'the columns');
    const importIt = async () => {
      await page.getByRole('button', { name: 'Check the file' }).click();
      await start(page);
    };
    await importIt();
    await page.getByText('2 created, 0 changed').waitFor();
    const { json } = await service.client.get('/v1/products?sku=EU-1');
    expect(json[0]).to.deep.include({
      name: 'Töpfe',
      description: 'n',
      price: { amount: 129950, currency: 'EUR' },
      stock: 1204,
      attributes: { Farbe: 'grün' },
    });
    // The choice is remembered for the next file with these columns.
    await page.getByRole('button', { name: 'Choose another file' }).click();
    await page.locator('input[type=file]').setInputFiles({ name: 'artikel.csv', mimeType: '', buffer });
    await goesTo('Notiz').waitFor();
    expect(await goesTo('Notiz').inputValue()).to.equal('description');
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
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

  it('name every problem of a header row, and send nothing more', async () => {
    const { page } = await open('#/import/products');
    await choose(page, 'products.csv', 'id,sku\n1,2\n');
    await page.getByRole('radio', { name: 'Only add records' }).check();
    await start(page);
    await page.getByText('name is required').waitFor();
    expect(await page.getByRole('alert').innerText()).to.include('id');
    expect(await page.getByRole('button', { name: 'Continue' }).count()).to.equal(0);
    expect(await added()).to.equal(0);
    // Nothing is left to stop.
    await page.getByRole('link', { name: 'Users' }).click();
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
  });

  it('continue after a lost connection, and create nothing twice', async () => {
    let count = 0;
    const { page } = await open('#/import/products');
    await page.route('**/v1/products/imports', async (route) => {
      count++;
      if (count !== 2) return route.continue();
      // The service has created the records, and the response is lost.
      await route.fetch();
      return route.abort('connectionreset');
    });
    await choose(page, 'many.ndjson', linesOf(6_000).join('\n'));
    await start(page);
    await page.getByText('No connection to the service').waitFor();
    await expectAccessible(page, 'after a lost connection');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('6,000 created, 0 refused.').waitFor();
    expect(await page.getByRole('row', { name: 'Created by an earlier attempt' }).count()).to.equal(1);
    expect(await added()).to.equal(6_000);
  });

  it('wait while the rate limit is used up', async () => {
    const { page } = await open('#/import/products');
    let calls = 0;
    await page.route('**/v1/products/imports', (route) =>
      calls++ === 0
        ? route.fulfill({
            status: 429,
            headers: { 'Retry-After': '59' },
            json: { code: 'rate_limited', message: 'x', details: [] },
          })
        : route.continue(),
    );
    await page.clock.install();
    await choose(page, 'a.ndjson', '{"name":"Late"}');
    await start(page);
    await page.getByText(/The import continues in \d+ s/).waitFor();
    await page.clock.runFor(60_000);
    await page.getByText('1 created, 0 refused.').waitFor();
  });

  it('say that a proxy responded, and what the service refuses for good', async () => {
    const { page } = await open('#/import/products');
    await page.route('**/v1/products/imports', (route) =>
      route.fulfill({ status: 200, contentType: 'text/html', body: '<h1>Welcome</h1>' }),
    );
    await choose(page, 'a.ndjson', '{"name":"a"}');
    await start(page);
    await page.getByText('The response did not come from the service').waitFor();
    await page.unrouteAll();
    await page.route('**/v1/products/imports', (route) =>
      route.fulfill({
        status: 415,
        json: { code: 'unsupported_media_type', message: 'Send JSON.', details: [] },
      }),
    );
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Send JSON', { exact: false }).waitFor();
    expect(await page.getByRole('button', { name: 'Continue' }).count()).to.equal(0);
    await page.getByRole('button', { name: 'Choose another file' }).click();
    await page.locator('input[type=file]').waitFor();
  });

  it('stop and continue as the person wishes', async () => {
    const { page } = await open('#/import/products');
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let calls = 0;
    await page.route('**/v1/products/imports', async (route) => {
      if (++calls === 2) await held;
      await route.continue().catch(() => {});
    });
    await choose(page, 'many.ndjson', linesOf(6_000).join('\n'));
    await start(page);
    await page.getByRole('row', { name: 'Created' }).waitFor();
    const share = await page.locator('progress').evaluate((bar) => (bar as HTMLProgressElement).value);
    expect(share).to.be.greaterThan(0).and.lessThan(1);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('The import has stopped.').waitFor();
    release();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('6,000 created, 0 refused.').waitFor();
    expect(await added()).to.equal(6_000);
  });

  it('take a file that is dropped', async () => {
    const { page } = await open('#/import/users');
    const data = await page.evaluateHandle(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['{"name":"Ann","email":"ann@example.org"}'], 'users.ndjson'));
      return transfer;
    });
    const zone = page.locator('.drop');
    await zone.dispatchEvent('dragenter', { dataTransfer: data });
    await zone.dispatchEvent('drop', { dataTransfer: data });
    await page.getByRole('radio', { name: 'Only add records' }).check();
    await start(page);
    await page.getByText('1 created, 0 refused.').waitFor();
  });

  it('refuse a file of another kind before anything is sent', async () => {
    const { page } = await open('#/import/products');
    await choose(page, 'report.pdf', 'x');
    await page.getByText('report.pdf cannot be imported.').waitFor();
    await choose(page, 'empty.ndjson', '');
    await start(page);
    await page.getByText('The file has no records.').waitFor();
    await page.goto(page.url().replace(/#.*/, '#/import/orders'));
    await choose(page, 'orders.csv', 'userId\n1\n');
    await page.getByText('orders.csv cannot be imported. Choose NDJSON').waitFor();
  });

  it('are offered only to keys that may write', async () => {
    const { json } = await service.client.post('/v1/api-keys', { name: 'reader', scopes: ['products:read'] });
    const { page } = await open('#/import/products', { key: json.key });
    await page.getByText('Your key does not allow').waitFor();
    expect(await page.locator('input[type=file]').count()).to.equal(0);
  });

  it('ask before they are left unfinished', async () => {
    const { page } = await open('#/import/products');
    await page.route('**/v1/products/imports', refuse);
    await choose(page, 'a.ndjson', '{"name":"Unfinished"}');
    await start(page);
    await page.getByText('The service cannot respond now').waitFor();
    await page.getByRole('link', { name: 'Users' }).click();
    const dialog = page.getByRole('dialog', { name: 'Stop the import?' });
    await dialog.getByRole('button', { name: 'Stay on the page' }).click();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('1 created, 0 refused.').waitFor();
    await page.getByRole('link', { name: 'Users' }).click();
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
  });

  it('continue with another key, if the service rejects the first', async () => {
    const { client } = service;
    const scopes = ['products:read', 'products:write'];
    const [first, second] = [
      (await client.post('/v1/api-keys', { name: 'first', scopes })).json,
      (await client.post('/v1/api-keys', { name: 'second', scopes })).json,
    ];
    const { page } = await open('#/import/products', { key: first.key });
    await client.delete(`/v1/api-keys/${first.id}`);
    await choose(page, 'a.ndjson', '{"name":"Signed in again"}');
    await start(page);
    await signIn(page, second.key);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('1 created, 0 refused.').waitFor();
  });

  it('need the keyboard alone', async () => {
    const { page } = await open('#/import/products');
    await choose(page, 'a.ndjson', '{"name":"a"}\nbad');
    const button = page.getByRole('button', { name: 'Start import' });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByText('1 created, 1 refused.').waitFor();
    expect(await page.evaluate(() => document.activeElement?.tagName)).to.equal('H1');
  });
});

describe('exports in the console', () => {
  const service = inProcessService();
  const open = consolePages(service);
  const textOf = async (download: Download) => readFileSync(await download.path(), 'utf8');
  before(async () => {
    const lines = Array.from({ length: 3_000 }, (_, at) =>
      JSON.stringify({
        name: `${at % 3 === 0 ? 'Lamp' : 'Desk'} ${at}`,
        description: 'x\n"y"',
        sku: `S-${at}`,
      }),
    );
    await service.client.post('/v1/products/imports', lines.join('\n'), {
      headers: { 'Content-Type': 'application/x-ndjson' },
    });
  });

  for (const [format, file, type] of [
    ['CSV', 'products.csv', 'text/csv'],
    ['NDJSON', 'products.ndjson', 'application/x-ndjson'],
  ] as const)
    it(`save all records that the list shows, as ${format}`, async () => {
      const { page, errors } = await open('#/products?q=lamp&sort=-name');
      await page.getByRole('button', { name: 'Export' }).click();
      await expectAccessible(page, 'the menu');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: `As ${format}` }).click(),
      ]);
      expect(download.suggestedFilename()).to.equal(file);
      await page.getByText(`${file} is saved`).waitFor();
      const saved = await textOf(download);
      const { text } = await service.client.get('/v1/products?q=lamp&sort=-name', {
        headers: { Accept: type },
      });
      expect(saved).to.equal(text);
      expect(saved.match(/Lamp/g)).to.have.length(1_000);
      expect(errors).to.deep.equal([]);
    });

  it('save a file for Excel with prices as people write them, a column for each attribute, and no formulas', async () => {
    const names = ['=1+1', '@SUM(A1)', "'=1", '"=1"', 'Müller, "=1"'];
    const price = { amount: 1990, currency: 'EUR' };
    for (const name of names) await service.client.post('/v1/products', { name, price, attributes: { watts: 7.5 } });
    const { page, errors } = await open('#/products?sort=-id', { locale: 'de-DE' });
    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'For Excel' }).click(),
    ]);
    expect(download.suggestedFilename()).to.equal('products-excel.csv');
    const text = await textOf(download);
    expect(text.startsWith('\ufeffid;name;')).to.equal(true);
    const rows: Record<string, string>[] = parse(text, { bom: true, delimiter: ';', columns: true });
    const first = rows.slice(0, names.length);
    expect(first.map((row) => row['name'])).to.deep.equal(
      names.map((name) => (/^'?[=@]/.test(name) ? `'${name}` : name)).reverse(),
    );
    for (const row of first)
      expect([row['price.decimal'], row['attributes[watts]:number']]).to.deep.equal(['19,90', '7,5']);
    expect(rows.length).to.be.greaterThan(3_000);
    expect(errors).to.deep.equal([]);
  });

  it('save nothing if the response breaks off, and say so', async () => {
    const { page } = await open('#/products');
    await page.route('**/v1/products*', (route) =>
      route.request().headers()['accept'] === 'text/csv' ? route.abort('connectionreset') : route.continue(),
    );
    const downloads: Download[] = [];
    page.on('download', (download) => downloads.push(download));
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('button', { name: 'As CSV' }).click();
    await page.getByText('Nothing was saved. No connection to the service').waitFor();
    expect(downloads).to.deep.equal([]);
  });

  it('can be cancelled', async () => {
    const { page } = await open('#/products');
    await page.route('**/v1/products*', (route) =>
      route.request().headers()['accept'] === 'text/csv' ? undefined : route.continue(),
    );
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('button', { name: 'As CSV' }).click();
    await page.getByText('Exporting…').waitFor();
    await page.getByRole('button', { name: 'Cancel export' }).click();
    await page.getByRole('button', { name: 'Export' }).waitFor();
  });
});
