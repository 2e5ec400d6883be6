import { decimalsIn } from '../formats.js';

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
export function plainBoolean(text: string): string {
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
