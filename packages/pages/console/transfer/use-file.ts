import { useState } from 'preact/hooks';
import type { EditableCollection } from '#packages/client/index.js';
import { useConsole } from '../context.js';
import type { Field } from '../edit/form-model.js';
import { isObject, type Json, type JsonObject, jsonIn, member } from '../edit/json.js';
import { prefer, preferred } from '../preferences.js';
import type { AnyTypes, Resource } from '../types.js';
import { guessColumns, kindOf } from './columns.js';
import { saidIn } from './file-changes.js';
import { formatOfFile, partsOf } from './files.js';
import { type Reading, RowReader, type Sample, sampleOf, textIn } from './reading.js';

/** A record of a file, before the service has seen it. */
interface PreviewRecord {
  /** What it says; undefined if the text is no record. */
  readonly values: JsonObject | undefined;
  readonly text: string;
  /** Why it is none, if the page knows. */
  readonly problem?: string;
}

/** How many records show what a file has. */
const RECORDS = 100;
/** Only the beginning of a file is read, in bytes. A record that goes beyond it is not shown. */
const MAX_BYTES = 524_288;

/**
 * The first records of a file, as the service would read them.
 * @param rows how CSV is read; absent: NDJSON
 */
export async function previewOf(file: Blob, fields: readonly Field[], rows?: RowReader): Promise<PreviewRecord[]> {
  const limits = { bytes: Number.POSITIVE_INFINITY, records: RECORDS + 1 };
  const { value: part } = await partsOf(file.slice(0, MAX_BYTES), rows?.reading, limits).next();
  const found = part?.records ?? [];
  const shown = found.slice(0, file.size > MAX_BYTES ? Math.min(RECORDS, found.length - 1) : RECORDS);
  return shown.map((record) => {
    const { text, problem } = rows?.read(record) ?? { text: textIn(record) };
    if (problem !== undefined) return { text: textIn(record, rows?.reading.encoding), problem, values: undefined };
    const isRecord = rows !== undefined || isObject(jsonIn(text));
    return { text, values: isRecord ? saidIn({ text, columns: rows?.columns }, fields, {}) : undefined };
  });
}

/** A file that a person has chosen. */
export interface ChosenFile {
  readonly file: File;
  /** The first records. */
  readonly records: readonly PreviewRecord[];
  /** How CSV is read; absent: the file is NDJSON. */
  readonly sample?: Sample;
  readonly rows?: RowReader;
  /** The names of attributes that records have. */
  readonly attributes?: readonly string[];
}

/** How files of people are read: what is recognised, and what the person corrects. */
export function useFile(resource: Resource) {
  const { api } = useConsole();
  const [chosen, setChosen] = useState<ChosenFile>();
  const { form: fields } = resource;
  const preference = `file-columns.${resource.name}`;
  const remembered = (): Readonly<Record<string, string>> => JSON.parse(preferred(preference) ?? '{}');
  /** The columns that only an update has. */
  const control = resource.importMatches.length > 0 ? ['id', 'version', 'deleted'] : [];
  const rowsOf = (reading: Reading, { header }: Sample) =>
    new RowReader(reading, header, (column) => kindOf(column, fields));
  const open = async (file: File, written: Partial<Sample> = {}): Promise<ChosenFile> => {
    if (!formatOfFile(file)?.isCsv) return { file, records: await previewOf(file, fields) };
    const sample = await sampleOf(file, written);
    const stored = await knownValues(api.mayRead(resource) ? api.collection(resource) : undefined, fields);
    const { attributes } = stored;
    const columns = guessColumns(sample, { fields, control, attributes, remembered: remembered() });
    const isNamed = columns.some((column) => column.endsWith('.currency'));
    const currency = isNamed ? '' : (currencyIn(sample) ?? stored.currency);
    const rows = rowsOf({ ...sample, columns, currency }, sample);
    const records = await previewOf(file, fields, rows);
    return { file, sample, rows, attributes: Object.keys(attributes), records };
  };
  return {
    chosen,
    control,
    /** A file that cannot be read says so when it is sent. */
    async choose(file: File): Promise<void> {
      setChosen(await open(file).catch((): ChosenFile => ({ file, records: [] })));
    },
    /** The person says that the file is written otherwise. */
    async correct(written: Partial<Sample>): Promise<void> {
      if (!chosen?.sample) return;
      setChosen(await open(chosen.file, { ...chosen.sample, ...written }));
    },
    async change(reading: Reading): Promise<void> {
      if (!chosen?.sample) return;
      const rows = rowsOf(reading, chosen.sample);
      // At once, because a person goes on typing.
      setChosen({ ...chosen, rows });
      const records = await previewOf(chosen.file, fields, rows);
      setChosen((now) => (now?.rows === rows ? { ...now, records } : now));
    },
    /** Keeps the columns for the next file with the same names. */
    remember(): void {
      const { names, reading } = chosen?.rows ?? { names: [] };
      const named = names.map((name, at) => [name.trim(), reading?.columns[at] ?? ''] as const);
      const all = { ...remembered(), ...Object.fromEntries(named.filter(([name]) => name !== '')) };
      if (names.length > 0) prefer(preference, JSON.stringify(all));
    },
    forget: () => setChosen(undefined),
  };
}

/** The attributes of the newest records, with a value of each, and the most frequent currency of their prices. */
async function knownValues(collection: EditableCollection<AnyTypes> | undefined, fields: readonly Field[]) {
  const [map, price] = ['map', 'price'].map((wanted) => fields.find(({ kind }) => kind === wanted)?.name);
  const names = [map, price].filter((name) => name !== undefined) as never[];
  if (!collection || names.length === 0) return { attributes: {}, currency: '' };
  const query = { limit: 500, sort: '-id', fields: names };
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
