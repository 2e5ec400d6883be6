import { amountOf } from '#src/domain/money.js';
import { readInteger } from '#src/shared/json.js';
import { cellsOf } from '#src/shared/record-splitters.js';
import { isPrice, type Price } from '../formats.js';
import { inBytes, type RowReader, textIn } from './reading.js';
import { type Format, partsOf, recordsIn } from './records-in-file.js';

/** A record of a file, before the service has seen it. */
export interface PreviewRecord {
  /** By field; undefined if the text is no record. */
  readonly values: Readonly<Record<string, unknown>> | undefined;
  readonly text: string;
  /** Why it is none, if the page knows. */
  readonly problem?: string;
}

/** What stands where a price should, and is none. */
export class NoPrice {
  constructor(
    readonly text: string,
    /** Whether it is a part of a price, whose other part a stored record can have. */
    readonly isPart: boolean,
  ) {}
}

/** How many records a person sees before an import. */
const RECORDS = 5;
/** Only the beginning of a file is read, in bytes. A record that goes beyond it is not shown. */
const MAX_BYTES = 524_288;
/** The field whose amount has a unit. */
const PRICE = 'price';

/**
 * The first records of a file, with their prices as the service would read them.
 * @param rows how CSV is read; absent: as the API reads it
 */
export async function previewOf(file: File, format: Format, rows?: RowReader): Promise<PreviewRecord[]> {
  const isCsv = format === 'csv';
  const source = await inBytes(file, rows?.encoding ?? 'utf-8');
  const start = source.slice(0, MAX_BYTES);
  const limits = { bytes: start.size + 1, records: RECORDS + (isCsv ? 1 : 0) };
  const { value: part } = await partsOf(start, format, limits, rows?.separator).next();
  if (!part) return [];
  const whole = part.records.filter(({ end }) => end < start.size || start.size === source.size);
  const [header, ...others] = await recordsIn(start, { ...part, records: whole });
  const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  if (!isCsv)
    return [...(header ? [header] : []), ...others].map(textOf).map((text) => ({ text, values: ofJson(text) }));
  const names = header ? (rows?.namesIn(header) ?? (cellsOf(textOf(header)) ?? []).map((name = '') => name)) : [];
  return others.map((record) => {
    const { text, problem } = rows?.read(record, names) ?? { text: textOf(record) };
    if (problem !== undefined) return { text: textIn(record, rows?.encoding), problem, values: undefined };
    return { text, values: ofCells(rows?.columns ?? names, cellsOf(text) ?? []) };
  });
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
  return value === null || isPrice(value)
    ? value
    : new NoPrice(JSON.stringify(value), Object.keys(Object(value)).length === 1);
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
  return isPrice(price) && currency !== '' ? price : new NoPrice(`${cell} ${currency}`.trim(), currency === '');
}
