import { useState } from 'preact/hooks';
import type { EditableCollection } from '#packages/client/index.js';
import type { Field } from '../edit/form-model.js';
import { isObject, type Json, member } from '../edit/json.js';
import { prefer, preferred } from '../preferences.js';
import type { AnyTypes, Resource } from '../types.js';
import { guessColumns, kindOf } from './columns.js';
import type { Format } from './files.js';
import { type PreviewRecord, previewOf } from './preview.js';
import { type Reading, RowReader, type Sample, sampleOf } from './reading.js';

/** A file that a person has chosen. */
export interface ChosenFile {
  readonly file: File;
  readonly format: Format;
  /** The first records. */
  readonly records: readonly PreviewRecord[];
  /** How CSV is read. */
  readonly sample?: Sample;
  readonly rows?: RowReader;
}

/** The columns that only an update has. */
export const CONTROL = ['id', 'version', 'deleted'] as const;

interface Known {
  readonly resource: Resource;
  readonly fields: readonly Field[];
  /** Undefined if its records cannot be read. */
  readonly collection: EditableCollection<AnyTypes> | undefined;
}

/** How files of people are read: what is recognised, and what the person corrects. */
export function useFile({ resource, fields, collection }: Known) {
  const [chosen, setChosen] = useState<ChosenFile>();
  const preference = `file-columns.${resource.name}`;
  const control = resource.importMatches.length > 0 ? CONTROL : [];
  const rowsOf = (reading: Reading, { header }: Sample) =>
    new RowReader(reading, header, (column) => kindOf(column, fields));
  const open = async (file: File, format: Format, written: Partial<Sample> = {}): Promise<ChosenFile> => {
    if (!format.isCsv) return { file, format, records: await previewOf(file) };
    const sample = await sampleOf(file, written);
    const stored = collection ? await knownValues(collection, fields) : { attributes: {}, currency: '' };
    const remembered: Readonly<Record<string, string>> = JSON.parse(preferred(preference) ?? '{}');
    const columns = guessColumns(sample, {
      fields,
      control,
      attributes: stored.attributes,
      remembered: (name) => (Object.hasOwn(remembered, name) ? remembered[name] : undefined),
    });
    const isNamed = columns.some((column) => column.endsWith('.currency'));
    const currency = isNamed ? '' : (currencyIn(sample) ?? stored.currency);
    const rows = rowsOf({ ...sample, columns, currency }, sample);
    return { file, format, sample, rows, records: await previewOf(file, rows) };
  };
  return {
    chosen,
    control,
    /** @returns what was recognised. A file that cannot be read says so when it is sent. */
    async choose(file: File, format: Format): Promise<ChosenFile> {
      const opened = await open(file, format).catch((): ChosenFile => ({ file, format, records: [] }));
      setChosen(opened);
      return opened;
    },
    async correct(written: Partial<Sample>): Promise<void> {
      if (!chosen?.sample) return;
      const { encoding, separator, numbers } = chosen.sample;
      setChosen(await open(chosen.file, chosen.format, { encoding, separator, numbers, ...written }));
    },
    async change(reading: Reading): Promise<void> {
      if (!chosen?.sample) return;
      const rows = rowsOf(reading, chosen.sample);
      // At once, because a person goes on typing.
      setChosen({ ...chosen, rows });
      const records = await previewOf(chosen.file, rows);
      setChosen((now) => (now?.rows === rows ? { ...now, records } : now));
    },
    /** Keeps the columns for the next file with the same names. */
    remember(): void {
      const { rows } = chosen ?? {};
      if (!rows) return;
      const named = rows.names.map((name, at) => [name.trim(), rows.reading.columns[at] ?? ''] as const);
      const others: object = JSON.parse(preferred(preference) ?? '{}');
      prefer(preference, JSON.stringify({ ...others, ...Object.fromEntries(named.filter(([name]) => name !== '')) }));
    },
    forget: () => setChosen(undefined),
  };
}

/** The attributes of the newest records, with a value of each, and the most frequent currency of their prices. */
async function knownValues(collection: EditableCollection<AnyTypes>, fields: readonly Field[]) {
  const [map, price] = ['map', 'price'].map((wanted) => fields.find(({ kind }) => kind === wanted)?.name);
  const names = [map, price].filter((name) => name !== undefined) as never[];
  if (names.length === 0) return { attributes: {}, currency: '' };
  const query = { limit: 100, sort: '-id', fields: names };
  const records = (await collection.page<never>(query).catch(() => ({ records: [] }))).records as readonly Json[];
  const maps = records.map((record) => member(record, map ?? '')).filter(isObject);
  const currencies = records.map((record) => String(member(member(record, price ?? ''), 'currency') ?? ''));
  const count = (one: string) => currencies.filter((other) => other === one).length;
  const [currency = ''] = [...new Set(currencies)].filter((one) => one !== '').sort((a, b) => count(b) - count(a));
  return { attributes: Object.assign({}, ...maps) as Readonly<Record<string, unknown>>, currency };
}

const SIGNS: Readonly<Record<string, string>> = { '€': 'EUR', '£': 'GBP' };

/** The currency in the heading of a price, or in its cells: `Preis (CHF)`, `44,69 €`. */
function currencyIn({ header, rows }: Sample): string | undefined {
  for (const text of [...header, ...rows.flat()]) {
    const [, code, sign = ''] = /(?:^|[\s(])([A-Z]{3})\)?$|^[\d.,\s]*([€£])[\d.,\s]*$/u.exec(text) ?? [];
    const isCode = code !== undefined && /^(EUR|USD|GBP|CHF|PLN|SEK|DKK|NOK|CZK|HUF|JPY|CAD|AUD)$/.test(code);
    if (isCode || SIGNS[sign]) return isCode ? code : SIGNS[sign];
  }
  return undefined;
}
