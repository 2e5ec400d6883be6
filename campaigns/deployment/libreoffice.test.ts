import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { consolePages } from '../../tests/pages/console-page.js';
import { inProcessService } from '../../tests/support/in-process-service.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';

const run = promisify(execFile);

/** A spreadsheet as one XML file (Flat ODS). */
const sheet = (rows: readonly (readonly (string | number)[])[]) => {
  const cell = (value: string | number) =>
    typeof value === 'number'
      ? `<table:table-cell office:value-type="float" office:value="${value}"/>`
      : `<table:table-cell office:value-type="string">${value
          .split('\n')
          .map((line) => `<text:p>${line}</text:p>`)
          .join('')}</table:table-cell>`;
  const row = (cells: readonly (string | number)[]) => `<table:table-row>${cells.map(cell).join('')}</table:table-row>`;
  const namespaces = ['office', 'table', 'text'].map(
    (name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<office:document ${namespaces.join(' ')} office:version="1.3"
 office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body><office:spreadsheet>
<table:table table:name="Sheet1">${rows.map(row).join('')}</table:table>
</office:spreadsheet></office:body></office:document>`;
};

/** The settings of LibreOffice in a locale, in the file where it keeps them. */
const settings = (locale: string) => `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry"><item oor:path="/org.openoffice.Setup/L10N">
<prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>${locale}</value></prop></item></oor:items>`;

const ROWS = [
  ['name', 'description', 'price.amount', 'price.currency', 'attributes.watts'],
  ['Lamp, "green"', 'a\nb; c', 4990, 'EUR', 7.5],
  ['Würfel 😀', '=1+1', 123456789012, 'USD', 'x'],
  ['Chair', '', '', '', ''],
] as const;
/** Comma or semicolon, quotation mark, UTF-8, from line 1, no column formats, language, quotes around no numbers. */
const filter = (separator: ',' | ';') =>
  `csv:Text - txt - csv (StarCalc):${separator.charCodeAt(0)},34,76,1,,0,false,true,false`;

describe('CSV and LibreOffice', () => {
  const service = inProcessService();
  const open = consolePages(service);
  const folder = temporaryFolder();

  before('needs soffice, from the Debian package libreoffice-calc', async () => {
    await run('soffice', ['--version']).catch((error) => {
      throw new Error(`soffice does not start: ${error.message}. Install the Debian package libreoffice-calc.`);
    });
  });

  /** @param infilter how to read a file, if that does not follow from its name */
  const convert = async (file: string, to: string, locale: string, infilter?: string) => {
    const profile = join(folder, `profile-${locale}`);
    mkdirSync(join(profile, 'user'), { recursive: true });
    writeFileSync(join(profile, 'user', 'registrymodifications.xcu'), settings(locale));
    const options = [`-env:UserInstallation=file://${profile}`, '--headless'];
    const filters = [...(infilter ? [`--infilter=${infilter}`] : []), '--convert-to', to];
    await run('soffice', [...options, ...filters, '--outdir', folder, file]);
    return file.replace(/\.\w+$/, `.${to.split(':')[0]}`);
  };
  const importFile = (file: string) =>
    service.client.post('/v1/products/imports', readFileSync(file), {
      headers: { 'Content-Type': 'text/csv' },
    });
  const writeSheet = (name: string) => {
    const file = join(folder, `${name}.fods`);
    writeFileSync(file, sheet(ROWS));
    return file;
  };

  for (const [locale, watts] of [
    ['en-US', '7.5'],
    ['de-DE', '7,5'],
  ] as const)
    it(`imports a file that LibreOffice writes with commas, in the locale ${locale}`, async () => {
      const file = await convert(writeSheet(`commas-${locale}`), filter(','), locale);
      const { status, text } = await importFile(file);
      expect([status, text.match(/"status":201/g)?.length], text).to.deep.equal([200, 3]);
      const ids = [...text.matchAll(/"id":(\d+)/g)].map(([, id]) => id);
      const shown = await Promise.all(ids.map(async (id) => (await service.client.get(`/v1/products/${id}`)).json));
      expect(shown).to.deep.equal([
        {
          id: Number(ids[0]),
          name: 'Lamp, "green"',
          description: 'a\nb; c',
          price: { amount: 4990, currency: 'EUR' },
          // A spreadsheet writes numbers as it shows them.
          attributes: { watts },
        },
        {
          id: Number(ids[1]),
          name: 'Würfel 😀',
          description: '=1+1',
          price: { amount: 123456789012, currency: 'USD' },
          attributes: { watts: 'x' },
        },
        { id: Number(ids[2]), name: 'Chair' },
      ]);
    });

  it('says what is wrong with a file that has semicolons', async () => {
    const file = await convert(writeSheet('semicolons'), filter(';'), 'de-DE');
    const { status, json } = await importFile(file);
    expect([status, json.code]).to.deep.equal([400, 'validation_failed']);
    expect(json.details[0].message).to.include('";" in it: cells are separated by commas here');
  });

  it('opens an export: LibreOffice reads the cells that the service wrote', async () => {
    const { json } = await service.client.post('/v1/products', {
      name: 'a "b", c',
      description: '1\r\n2;é',
      sku: '0012',
    });
    const { text } = await service.client.get(`/v1/products?id=${json.id}`, {
      headers: { Accept: 'text/csv' },
    });
    const file = join(folder, 'export.csv');
    writeFileSync(file, text);
    const html = readFileSync(await convert(file, 'html', 'en-US', 'CSV:44,34,76,1'), 'utf8');
    expect(html).to.include('a &quot;b&quot;, c').and.to.include('2;é');
    // A spreadsheet takes digits for a number.
    expect(html).to.match(/>12</);
  });

  it('saves in the locale de-DE what the console exported to edit, and the console finds nothing changed', async () => {
    const products = [
      { name: '=1+1', sku: '00123', price: { amount: 129950, currency: 'EUR' }, attributes: { a: '1/2', n: 7.5 } },
      { name: "'=x", sku: 'MAR1', description: 'zwei\nZeilen; "x"', group: '1E5', attributes: { a: '-5 °C', b: true } },
      {
        name: 'Töpfe – 日本',
        sku: '3-12',
        gtin: '00012345678905',
        stock: 1_000_000,
        attributes: { n: 0.123456789012 },
      },
    ];
    for (const product of products) await service.client.post('/v1/products', { ...product, brand: 'Edited' });
    const { page } = await open('#/products?brand=Edited', { locale: 'de-DE' });
    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'To edit and import again' }).click(),
    ]);
    const file = join(folder, download.suggestedFilename());
    await download.saveAs(file);
    const sheets = await convert(file, 'ods', 'de-DE', 'Text - txt - csv (StarCalc):59,34,76,1,,1031');
    const saved = await convert(sheets, filter(';'), 'de-DE');
    await page.goto(page.url().replace(/#.*/, '#/import/products'));
    await page.locator('input[type=file]').setInputFiles(saved);
    await page.getByRole('button', { name: 'Check the file' }).click();
    await page.getByText(/^3 unchanged\./).waitFor();
    // And a change of a person arrives.
    const edited = readFileSync(saved, 'utf8').replace(';1299,5;', ';1.300,25;');
    await page.getByRole('button', { name: 'Choose another file' }).click();
    await page.locator('input[type=file]').setInputFiles({ name: 'a.csv', mimeType: '', buffer: Buffer.from(edited) });
    await page.getByRole('button', { name: 'Check the file' }).click();
    await page.getByRole('cell', { name: '1.300,25\u00a0€' }).waitFor();
    await page.getByText(/^1 changed, 2 unchanged\./).waitFor();
  });
});
