import { amountOf } from '#src/domain/money.js';
import { readBoolean, readInteger, readNumber } from '#src/shared/json.js';
import { cellsOf } from '#src/shared/record-splitters.js';
import { isPrice, type Price } from '../formats.js';
import { columnPath } from './file-changes.js';
import { type Format, partsOf } from './records-in-file.js';

/** A record of a file, before the service has seen it. */
export interface PreviewRecord {
  /** By field; undefined if the text is no record. */
  readonly values: Readonly<Record<string, unknown>> | undefined;
  readonly text: string;
}

/** What stands where a price should, and is none. */
export class NoPrice {
  constructor(readonly text: string) {}
}

/** How many records a person sees before an import. */
const RECORDS = 5;
/** Only the beginning of a file is read, in bytes. A record that goes beyond it is not shown. */
const MAX_BYTES = 524_288;
/** The field whose amount has a unit. */
const PRICE = 'price';

/** The first records of a file, with their prices as the service would read them. */
export async function previewOf(file: Blob, format: Format): Promise<PreviewRecord[]> {
  const isCsv = format === 'csv';
  const start = file.slice(0, MAX_BYTES);
  const limits = { bytes: start.size + 1, records: RECORDS + (isCsv ? 1 : 0) };
  const { value: part } = await partsOf(start, format, limits).next();
  const whole = (part?.records ?? []).filter(({ end }) => end < start.size || start.size === file.size);
  const texts = await Promise.all(whole.map((one) => start.slice(one.start, one.end).text()));
  if (!isCsv) return texts.map((text) => ({ text, values: ofJson(text) }));
  const [header = '', ...records] = texts;
  const names = (cellsOf(header) ?? []).map((name = '') => name);
  return records.map((text) => ({ text, values: ofCells(names, cellsOf(text) ?? []) }));
}

function ofJson(text: string): PreviewRecord['values'] {
  try {
    const record: unknown = JSON.parse(text);
    if (typeof record !== 'object' || record === null || Array.isArray(record)) return undefined;
    const members = Object.entries(record);
    return Object.fromEntries(members.map(([name, one]) => [name, name === PRICE ? ofPrice(one) : one]));
  } catch {
    return undefined;
  }
}

function ofPrice(value: unknown): unknown {
  return value === null || isPrice(value) ? value : new NoPrice(JSON.stringify(value));
}

function ofCells(names: readonly string[], cells: readonly (string | undefined)[]): PreviewRecord['values'] {
  if (cells.length !== names.length) return undefined;
  const filled = new Map(names.map((name, at) => [name, cells[at] ?? '']));
  const values: Record<string, unknown> = {};
  for (const [name, cell] of filled) if (cell !== '') values[name] = cell;
  const currency = filled.get(`${PRICE}.currency`) ?? '';
  for (const member of ['amount', 'decimal']) {
    const cell = filled.get(`${PRICE}.${member}`) ?? '';
    if (cell !== '') values[PRICE] = priceOf(cell, currency, member === 'decimal');
  }
  return values;
}

function priceOf(cell: string, currency: string, isDecimal: boolean): Price | NoPrice {
  const amount = isDecimal ? amountOf(cell, currency) : readInteger(cell);
  const price = { amount, currency };
  return isPrice(price) && currency !== '' ? price : new NoPrice(`${cell} ${currency}`.trim());
}

/** An attribute without a type in the header row of CSV, and its column with one: `attributes[watts]:number`. */
export interface UntypedColumn {
  readonly column: string;
  readonly typed: string;
}

/** The columns of attributes that are texts in new records, though every cell could be a number, or a boolean. */
export function untypedColumns(records: readonly PreviewRecord[]): UntypedColumn[] {
  const names = new Set(records.flatMap(({ values }) => Object.keys(values ?? {})));
  return [...names].flatMap((column) => {
    const { name, key, type: typed } = columnPath(column);
    if (name !== 'attributes' || key === undefined || typed !== undefined) return [];
    const cells = records.map(({ values }) => values?.[column]).filter((cell) => cell !== undefined);
    const areAll = (read: (text: string) => unknown) => cells.every((cell) => read(String(cell)) !== undefined);
    const type = areAll(readNumber) ? 'number' : areAll(readBoolean) ? 'boolean' : undefined;
    return type ? [{ column, typed: `attributes[${key}]:${type}` }] : [];
  });
}
