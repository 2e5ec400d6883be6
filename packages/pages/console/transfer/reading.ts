import { CsvSplitter, cellsOf } from '#src/shared/record-splitters.js';
import { decimalsIn } from '../formats.js';
import { bytesOf, type CsvForm, type FileBytes, SEPARATORS } from './files.js';

/** How a file of CSV is to be read. The API takes one kind of CSV; the programs of people write several. */
export interface Reading extends CsvForm {
  readonly numbers: Numbers;
  /** For each column of the file the name that the API has for it; empty: the column is left out. */
  readonly columns: readonly string[];
  /** Of the prices, if no column has their currency; empty if there is none. */
  readonly currency: string;
}

/** So much of a file shows how it is to be read, in bytes. */
const SAMPLE_BYTES = 1_048_576;
const SAMPLE_ROWS = 200;

/** The beginning of a file, in cells. */
export interface Sample extends Omit<Reading, 'columns' | 'currency'> {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/**
 * Recognises how a file is written.
 * @param chosen what the person has corrected
 */
export async function sampleOf(file: Blob, chosen: Partial<Sample> = {}): Promise<Sample> {
  const bytes = await bytesOf(file.slice(0, SAMPLE_BYTES));
  const encoding = chosen.encoding ?? encodingOf(bytes);
  const utf8 = new TextEncoder().encode(new TextDecoder(encoding).decode(bytes));
  const [, named] = /^sep=([,;\t])/i.exec(new TextDecoder().decode(utf8.subarray(0, 16))) ?? [];
  const found = (chosen.separator ? [chosen.separator] : SEPARATORS)
    .map((separator) => ({ separator, cells: cellsIn(utf8, separator) }))
    .sort((one, other) => fitOf(other.cells) - fitOf(one.cells));
  const { separator, cells } = found.find((one) => one.separator === named) ?? (found[0] as (typeof found)[number]);
  const [header = [], ...rows] = cells;
  const numbers = chosen.numbers ?? numbersOf(rows.flat(), separator);
  return { encoding, separator, numbers, header, rows };
}

function encodingOf(bytes: Uint8Array): Reading['encoding'] {
  const [first, second] = bytes;
  if (second === 0 || (first === 0xff && second === 0xfe)) return 'utf-16le';
  if (first === 0 || (first === 0xfe && second === 0xff)) return 'utf-16be';
  try {
    // As a stream, because the sample can end within a character.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return 'utf-8';
  } catch {
    return 'windows-1252';
  }
}

function cellsIn(utf8: Uint8Array, separator: string): string[][] {
  const splitter = new CsvSplitter(SAMPLE_BYTES, undefined, separator);
  const rows: string[][] = [];
  for (const line of [...splitter.push(utf8), ...splitter.end()].slice(0, SAMPLE_ROWS)) {
    const text = 'bytes' in line ? new TextDecoder().decode(line.bytes).replace(/\r$/, '') : '';
    rows.push((cellsOf(text, undefined, undefined, separator) ?? []).map((cell = '') => cell));
  }
  return rows;
}

/** How well a separator fits: the columns of the header row, if the other rows have as many. */
function fitOf([header = [], ...rows]: readonly (readonly string[])[]): number {
  const alike = rows.filter(({ length }) => length === header.length).length;
  return header.length * (rows.length === 0 ? 1 : alike / rows.length);
}

/** @returns what the cells show; without a sign of it, a comma where cells are separated by semicolons */
function numbersOf(cells: readonly string[], separator: string): Numbers {
  const count = (pattern: RegExp) => cells.filter((cell) => pattern.test(cell)).length;
  const commas = count(/^-?(\d+|\d{1,3}([.\s\u00a0\u202f]\d{3})+),\d{1,2}(\D{0,4})$/);
  const points = count(/^-?(\d+|\d{1,3}([,\s\u00a0\u202f]\d{3})+)\.\d{1,2}(\D{0,4})$/);
  if (commas !== points) return commas > points ? 'comma' : 'point';
  return separator === ';' ? 'comma' : 'plain';
}

/** A row of a file as the API takes it. */
export interface Row {
  readonly text: string;
  /** Why the row is none, in a sentence. Its text then has too many cells, so that the service refuses it too. */
  readonly problem?: string;
}

/** Reads rows of a file, and writes them as the API takes them: UTF-8, commas, points, the columns of the API. */
export class RowReader {
  /** The names of all columns, as sent. */
  readonly columns: readonly string[];

  /**
   * @param names those of the header row: what stands in a column without a name is sent, so that it is refused
   * @param kindOf what stands in a column of the API
   */
  constructor(
    readonly reading: Reading,
    readonly names: readonly string[],
    private readonly kindOf: (column: string) => CellKind,
  ) {
    const hasCurrency = reading.currency !== '' && reading.columns.includes(PRICE);
    this.columns = hasCurrency ? [...reading.columns, 'price.currency'] : reading.columns;
  }

  read(record: FileBytes): Row {
    const read = this.cellsIn(record);
    if (typeof read === 'string') return { text: `?${','.repeat(this.columns.length)}`, problem: read };
    return { text: csvRow(read) };
  }

  /** The cells of a record as they are sent, or why it is none. */
  private cellsIn(record: FileBytes): (string | undefined)[] | string {
    const { encoding, separator, columns, currency } = this.reading;
    if (record instanceof Blob) return 'The record is too long.';
    const text = decoded(record, encoding);
    if (text === undefined) return 'The record is not UTF-8. Choose another encoding above.';
    let problem = '';
    const cells = cellsOf(
      text,
      undefined,
      (cell, what) => (problem = `Cell ${cell} of the record ${what}.`),
      separator,
    );
    if (!cells) return problem;
    if (cells.length !== this.names.length)
      return `The record has ${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}, and the header row has ${this.names.length}.`;
    const sent = cells.map((cell, at) => this.cellOf(cell, at));
    if (this.columns.length > columns.length)
      sent.push(sent[columns.indexOf(PRICE)] === undefined ? undefined : currency);
    return sent.some((cell) => cell !== undefined) ? sent : 'The record has no value in a column that is imported.';
  }

  private cellOf(cell: string | undefined, at: number): string | undefined {
    const column = this.reading.columns[at] ?? '';
    if (cell === undefined || (column === '' && this.names[at] !== '')) return undefined;
    const text = unguarded(cell);
    const kind = this.kindOf(column);
    if (kind === 'number') return plainNumber(text, this.reading.numbers);
    return kind === 'boolean' ? plainBoolean(text) : text;
  }
}

const PRICE = 'price.decimal';

/** The text of a record: of bytes that are not UTF-8, though they should be, the most likely one; of a long one none. */
export function textIn(record: FileBytes, encoding: Reading['encoding'] = 'utf-8'): string {
  if (record instanceof Blob) return '';
  return decoded(record, encoding) ?? new TextDecoder('windows-1252').decode(record);
}

/** @returns undefined if the bytes must be UTF-8 and are not */
function decoded(bytes: Uint8Array, encoding: Reading['encoding']): string | undefined {
  try {
    return new TextDecoder(encoding === 'windows-1252' ? encoding : 'utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** What stands in a cell of the API's CSV. */
export type CellKind = 'text' | 'number' | 'boolean';

/** UTF-8's, without which Excel takes a file for the encoding of the country. */
export const BYTE_ORDER_MARK = '\ufeff';

/** `1234.56` alone, as the API writes numbers; `1.234,56`; or `1,234.56`. */
export const NUMBERS = ['plain', 'comma', 'point'] as const;
export type Numbers = (typeof NUMBERS)[number];

/**
 * A number as the API writes it: `1.299,00 €` of a file with decimal commas is `1299.00`. A text that is no number stays
 * as it is, and the service says so.
 */
export function plainNumber(text: string, numbers: Numbers): string {
  if (numbers === 'plain') return text;
  const bare = text.trim().replace(/^(?:\p{Sc}|[A-Z]{3})\s*|\s*(?:\p{Sc}|[A-Z]{3})$/gu, '');
  const readings = decimalsIn(bare);
  return (bare.includes(numbers === 'comma' ? ',' : '.') ? readings.at(-1) : readings[0]) ?? text;
}

/** What spreadsheets and people write for a boolean, in English, German and French. */
function plainBoolean(text: string): string {
  if (/^(wahr|vrai|yes|ja|oui)$/i.test(text)) return 'true';
  return /^(falsch|faux|no|nein|non)$/i.test(text) ? 'false' : text;
}

/** A row of the API's CSV. An empty text has quotation marks, unlike no value. */
export function csvRow(cells: readonly (string | undefined)[], separator = ','): string {
  return cells.map((cell) => csvCell(cell, separator)).join(separator);
}

function csvCell(cell: string | undefined, separator: string): string {
  if (cell === undefined) return '';
  return cell === '' || cell.includes(separator) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** What a spreadsheet takes for the beginning of a formula, behind the apostrophes of texts that were guarded before. */
const FORMULA = /^'*[=+\-@\t\r\n]/;
/** The beginnings of months in English, German and French. */
const MONTH = 'jan|feb|f[eé]v|m[aä]r|apr|avr|ma[iy]|ju[nil]|aug|ao[uû]|sep|o[ck]t|nov|de[cz]|d[eé]c';
/** What a spreadsheet takes for a number, a date, a time or a boolean: `00123`, `1/2`, `3-12`, `MAR1`, `true`. */
const CONVERTED = new RegExp(
  [
    String.raw`[\d\s.,:/()%+\-eE\p{Sc}]*\d[\d\s.,:/()%+\-eE\p{Sc}]*`,
    String.raw`\s*(?:true|false|wahr|falsch|vrai|faux)\s*`,
    String.raw`\d{1,4}[-. /]*(?:MONTH)\p{L}*\.?(?:[-. /]*\d{1,4})?`,
    String.raw`(?:MONTH)\p{L}*\.?[-. /]*\d{1,4}`,
  ]
    .map((one) => `^${one.replace('MONTH', MONTH)}$`)
    .join('|'),
  'iu',
);

/**
 * A text that a spreadsheet opens, shows and saves as it is: an apostrophe stands before a formula, and what would become
 * a number or a date is the result of a formula, which the program saves as the text.
 */
export function guarded(text: string): string {
  if (FORMULA.test(text)) return `'${text}`;
  return CONVERTED.test(text) ? `="${text.replaceAll('"', '""')}"` : text;
}

/** What {@link guarded} was given. */
export function unguarded(cell: string): string {
  const [, text] = /^="((?:[^"]|"")*)"$/.exec(cell) ?? [];
  if (text !== undefined) return text.replaceAll('""', '"');
  return /^''*[=+\-@\t\r\n]/.test(cell) ? cell.slice(1) : cell;
}
