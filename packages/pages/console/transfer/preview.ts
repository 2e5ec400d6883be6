import { amountOf } from '#src/domain/money.js';
import { readInteger } from '#src/shared/json.js';
import { cellsOf } from '#src/shared/record-splitters.js';
import { isObject, jsonIn } from '../edit/json.js';
import { isPrice } from '../formats.js';
import { partsOf } from './file-parts.js';
import { type RowReader, textIn } from './reading.js';

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
 * @param rows how CSV is read; absent: NDJSON
 */
export async function previewOf(file: Blob, rows?: RowReader): Promise<PreviewRecord[]> {
  const limits = { bytes: Number.POSITIVE_INFINITY, records: RECORDS + 1 };
  const { value: part } = await partsOf(file.slice(0, MAX_BYTES), rows?.reading, limits).next();
  const found = part?.records ?? [];
  const shown = found.slice(0, file.size > MAX_BYTES ? Math.min(RECORDS, found.length - 1) : RECORDS);
  return shown.map((record) => {
    const { text, problem } = rows?.read(record) ?? { text: textIn(record) };
    if (problem !== undefined) return { text: textIn(record, rows?.reading.encoding), problem, values: undefined };
    return { text, values: rows ? ofCells(rows.columns, cellsOf(text) ?? []) : ofJson(text) };
  });
}

function ofJson(text: string): PreviewRecord['values'] {
  const record = jsonIn(text);
  if (!isObject(record)) return undefined;
  const price = record[PRICE] ?? null;
  if (price === null || isPrice(price)) return record;
  return { ...record, [PRICE]: new NoPrice(JSON.stringify(price), Object.keys(Object(price)).length === 1) };
}

function ofCells(columns: readonly string[], cells: readonly (string | undefined)[]): PreviewRecord['values'] {
  const filled = columns.flatMap((name, at) => (cells[at] ? [[name, cells[at]] as const] : []));
  const values: Record<string, unknown> = Object.fromEntries(filled);
  const currency = String(values[`${PRICE}.currency`] ?? '');
  for (const [name, cell] of filled) {
    if (name !== `${PRICE}.amount` && name !== `${PRICE}.decimal`) continue;
    const price = { amount: name.endsWith('decimal') ? amountOf(cell, currency) : readInteger(cell), currency };
    const isWhole = isPrice(price) && currency !== '';
    values[PRICE] = isWhole ? price : new NoPrice(`${cell} ${currency}`.trim(), currency === '');
  }
  return values;
}
