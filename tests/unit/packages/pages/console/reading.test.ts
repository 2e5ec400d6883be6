import { expect } from 'chai';
import { guessColumns, kindOf, templateColumns } from '#packages/pages/console/transfer/columns.js';
import { inUtf8 } from '#packages/pages/console/transfer/files.js';
import {
  type Numbers,
  plainNumber,
  type Reading,
  RowReader,
  sampleOf,
} from '#packages/pages/console/transfer/reading.js';
import { PRODUCT_FIELDS } from './product-fields.js';

const GERMAN = 'Bezeichnung;Preis\nTöpfe;1,50\n';
const latin1 = (text: string) => Buffer.from(text, 'latin1') as Uint8Array<ArrayBuffer>;
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const fileOf = (...parts: BlobPart[]) => new File(parts, 'x.csv');

describe('how a file is written', () => {
  for (const [name, content, expected] of [
    ['a program’s CSV', 'name,stock\nTöpfe,1\n', ['utf-8', ',', 'plain']],
    ['European Excel', latin1(GERMAN), ['windows-1252', ';', 'comma']],
    ['European Excel, UTF-8', `\ufeff${GERMAN}`, ['utf-8', ';', 'comma']],
    ['Excel’s Unicode text', utf16(GERMAN.replaceAll(';', '\t')), ['utf-16le', '\t', 'comma']],
    ['UTF-16 in the other order', utf16(GERMAN).swap16(), ['utf-16be', ';', 'comma']],
    ['a line that names the separator', 'sep=;\na,b;c\n1,2;3\n', ['utf-8', ';', 'comma']],
    ['commas in one column of semicolons', 'a;b,c,d\n1;2\n', ['utf-8', ';', 'comma']],
    ['semicolons in texts', 'name,text\n"a;b",x;y;z\n', ['utf-8', ',', 'plain']],
    ['points and semicolons', 'a;b\nx;1.50\n', ['utf-8', ';', 'point']],
    ['one column', 'name\nTöpfe\n', ['utf-8', ',', 'plain']],
    ['nothing', '', ['utf-8', ',', 'plain']],
  ] as const)
    it(`is recognised: ${name}`, async () => {
      const { encoding, separator, numbers } = await sampleOf(fileOf(content as BlobPart));
      expect([encoding, separator, numbers]).to.deep.equal(expected);
    });

  it('is what the person says', async () => {
    const { header, numbers } = await sampleOf(fileOf(GERMAN), { separator: ',', numbers: 'plain' });
    expect([header, numbers]).to.deep.equal([['Bezeichnung;Preis'], 'plain']);
  });

  it('is UTF-8 with the same text, if it was UTF-16 in many pieces', async () => {
    const text = 'x\u010a€'.repeat(400_000);
    expect(await (await inUtf8(fileOf(utf16(text) as BlobPart), 'utf-16le')).text()).to.equal(text);
  });
});

describe('a number of a file', () => {
  for (const [text, numbers, expected] of [
    ['44,69', 'comma', '44.69'],
    ['1.299,00 €', 'comma', '1299.00'],
    ['EUR 1 299,5', 'comma', '1299.5'],
    ['1.000', 'comma', '1000'],
    ['1,000', 'comma', '1.000'],
    ['1,000', 'point', '1000'],
    ['1.000', 'point', '1.000'],
    ['-7,5', 'comma', '-7.5'],
    ['44.69', 'comma', '44.69'],
    ['1,000', 'plain', '1,000'],
    ['about 5', 'comma', 'about 5'],
    ['1.29.9', 'comma', '1.29.9'],
  ] as const)
    it(`is ${expected} for ${text} with decimal mark ${numbers}`, () => {
      expect(plainNumber(text, numbers as Numbers)).to.equal(expected);
    });
});

const NOTHING = { attributes: {}, remembered: {} };

async function guessed(csv: string, known: Partial<Parameters<typeof guessColumns>[1]> = {}) {
  const control = ['id', 'version', 'deleted'];
  return guessColumns(await sampleOf(fileOf(csv)), { fields: PRODUCT_FIELDS, control, ...NOTHING, ...known });
}

describe('the columns of a file', () => {
  for (const [header, expected] of [
    ['id;version;name;price.decimal;attributes.watts', 'id,version,name,price.decimal,attributes[watts]'],
    ['Artikel-Nr.;Bezeichnung;Preis (EUR);Währung', 'sku,name,price.decimal,price.currency'],
    [
      'Référence;Désignation;Prix TTC;Quantité;Marque;Couleur',
      'sku,name,price.decimal,stock,brand,attributes[Couleur]',
    ],
    ['Variant SKU;Title;Vendor;Barcode;Image Src', 'sku,name,brand,gtin,images'],
    ['Name;Title', 'name,'],
    ['ID;error;EK-Preis;;Lagerplatz', ',,,,'],
    ['constructor;__proto__', ','],
  ] as const)
    it(`are guessed from ${header}`, async () => {
      expect((await guessed(`${header}\n`)).join(',')).to.equal(expected);
    });

  it('are attributes, with the type of their values or of those that are stored, but for the errors of an import', async () => {
    const file = 'Gewicht;Lager;on;size;error\n7,5;A1;true;10;old\n';
    const attributes = { Lager: 'B2', on: false, size: 'L', error: 'E1' };
    expect(await guessed(file, { attributes })).to.deep.equal([
      'attributes[Gewicht]:number',
      'attributes[Lager]',
      'attributes[on]:boolean',
      'attributes[size]',
      '',
    ]);
  });

  for (const [header, expected] of [
    ['Material', ['attributes[material]']],
    [' MATERIAL ;fit', ['attributes[material]', 'attributes[ Fit]']],
    ['Material;material', ['attributes[Material]', 'attributes[material]']],
    ['attributes[Material]', ['attributes[Material]']],
    ['LAGER', ['attributes[Lager]']],
  ] as const)
    it(`keep the spelling that an attribute has in records: ${header}`, async () => {
      expect(await guessed(`${header}\n`, { attributes: { material: 'oak', ' Fit': 'S', Lager: 'B2' } })).to.deep.equal(
        expected,
      );
    });

  it('are those that the person chose the last time', async () => {
    const remembered = { Preis: '', Extra: 'brand' };
    expect(await guessed('Preis;Extra;Marke\n', { remembered })).to.deep.equal(['', 'brand', '']);
  });
});

describe('the template of a file to fill in', () => {
  it('has a column for each field, of which each is read as itself', async () => {
    const columns = templateColumns(PRODUCT_FIELDS);
    expect(columns).to.include.members(['name', 'sku', 'price.decimal', 'price.currency', 'images']);
    expect(await guessed(`${columns.join(';')}\n`)).to.deep.equal(columns);
  });
});

describe('a row of a file', () => {
  const reading: Reading = {
    encoding: 'windows-1252',
    separator: ';',
    numbers: 'comma',
    columns: ['name', 'price.decimal', '', 'attributes[on]:boolean', ''],
    currency: 'EUR',
  };
  const NAMES = ['Name', 'Preis', 'Notiz', 'An', ''];
  const rowOf = (text: string, change: Partial<Reading> = {}) =>
    new RowReader({ ...reading, ...change }, NAMES, (column) => kindOf(column, PRODUCT_FIELDS)).read(latin1(text));

  for (const [row, sent] of [
    ['Töpfe;1.299,00 EUR;x;WAHR;', 'Töpfe,1299.00,,true,,EUR'],
    ['"a;""b"",c";;;nein;', '"a;""b"",c",,,false,,'],
    ['"=""00123""";5;;;', '00123,5,,,,EUR'],
    ["'=1;;;;stray", '=1,,,,stray,'],
    ['"";;;;', '"",,,,,'],
  ] as const)
    it(`is sent as ${sent}`, () => {
      expect(rowOf(row)).to.deep.equal({ text: sent });
    });

  for (const [row, problem, change] of [
    ['a;b', 'The record has 2 cells, and the header row has 5.'],
    ['a"b;;;;', 'Cell 1 of the record has a quotation mark and does not begin with one.'],
    ['"a"b;;;;', 'Cell 1 of the record has "b" after its closing quotation mark, where ";" or the end must follow.'],
    [';;note;;', 'The record has no value in a column that is imported.'],
    ['Töpfe;;;;', 'The record is not UTF-8. Choose another encoding above.', { encoding: 'utf-8' }],
  ] as const)
    it(`is none, and is refused in its place: ${row}`, () => {
      expect(rowOf(row, change)).to.deep.equal({ text: '?,,,,,,', problem });
    });
});
