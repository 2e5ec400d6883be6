import type { EditableCollection, ImportResult } from '#packages/client/index.js';
import { amountOf } from '#src/domain/money.js';
import { isUrl, readBoolean, readInteger, readNumber, readTexts } from '#src/shared/json.js';
import { cellsOf } from '#src/shared/record-splitters.js';
import type { Field } from '../edit/form-model.js';
import { isObject, type Json, type JsonObject, jsonIn, member, patched } from '../edit/json.js';
import { type Difference, differencesOf } from '../edit/three-way.js';
import { recordsWith } from '../records-with.js';
import type { AnyTypes, CatalogueRecord } from '../types.js';

/** A record of a file, as it is written there. */
export interface FileRecord {
  readonly text: string;
  /** The names in the header row of CSV; undefined for NDJSON. */
  readonly columns: readonly string[] | undefined;
}

/** A record of a file, and what an import says about it. */
export interface Finding {
  /** Counted from 1 in the file, without the header row. */
  readonly number: number;
  readonly record: FileRecord;
  readonly result: ImportResult;
}

/** What a record of a file changes in the record that the service has. */
export interface FileChange {
  readonly finding: Finding;
  /** What the service has; undefined if it has none, or none any more. */
  readonly current: CatalogueRecord | undefined;
  /** What the file makes of it. */
  readonly next: JsonObject;
  /** The version that the file expects, if it has one. */
  readonly version: Json | undefined;
  /** Whether the file deletes the record. */
  readonly isDeletion: boolean;
  /** `yours` is what the file says, `theirs` what the service has. */
  readonly differences: readonly Difference[];
}

/** How the records of a file are compared. */
export interface Comparison {
  readonly collection: EditableCollection<AnyTypes>;
  /** Those that a file can change. */
  readonly fields: readonly Field[];
  readonly use: ImportUse;
}

/** What an import does with the records of a file. */
export interface ImportUse {
  /** The key by which it finds records to update: `sku`, `email`, `id`. Undefined: it only adds. */
  readonly match: string | undefined;
  /** What happens to a record that it finds. */
  readonly existing: (typeof EXISTING)[number];
}

export const EXISTING = ['merge', 'replace', 'skip'] as const;

/** Reads the records that the file names, and compares them with it. */
export async function changesOf(
  findings: readonly Finding[],
  { collection, fields, use: { match = '', existing } }: Comparison,
  signal?: AbortSignal,
): Promise<FileChange[]> {
  const keyOf = (finding: Finding) => String(member(saidIn(finding.record, fields, {}), match));
  const byKey = new Map<string, CatalogueRecord>();
  const keys = new Set(match === '' ? [] : findings.map(keyOf));
  for await (const record of recordsWith(collection, match, keys, { signal })) {
    const key = String(record[match]);
    byKey.set(key, record);
    // An email is the same in capitals.
    if (!byKey.has(key.toLowerCase())) byKey.set(key.toLowerCase(), record);
  }
  return findings.map((finding): FileChange => {
    const key = keyOf(finding);
    const current = byKey.get(key) ?? byKey.get(key.toLowerCase());
    const stored = (current ?? {}) as JsonObject;
    const said = saidIn(finding.record, fields, stored);
    // A merge keeps the spelling of the key by which it finds the record.
    const isWhole = existing === 'replace' || !current;
    const merged = patched(isWhole ? {} : stored, isWhole ? said : { ...said, [match]: stored[match] ?? null });
    const next = Object.fromEntries(
      Object.entries(merged as JsonObject).filter(([name, value]) => !isNoValue(value, fieldNamed(name, fields))),
    );
    const isDeletion = readBoolean(String(member(said, 'deleted'))) === true;
    const isCompared = current !== undefined && !isDeletion;
    const differences = isCompared ? differencesOf(fields, { base: stored, theirs: stored, yours: next }) : [];
    return { finding, current, next, version: member(said, 'version'), isDeletion, differences };
  });
}

/** Whether the service has what the file says. */
export function isDone({ current, isDeletion, differences }: FileChange): boolean {
  return current !== undefined && !isDeletion && differences.length === 0;
}

/** What a record says of a stored one, as a merge patch. A text that is no record says nothing. */
export function saidIn({ text, columns }: FileRecord, fields: readonly Field[], stored: JsonObject): JsonObject {
  if (columns) return saidInCells(columns, cellsOf(text) ?? [], fields, stored);
  const value = jsonIn(text);
  return isObject(value) ? value : {};
}

/** Reads a column of a header row: that of a field, or of a member of it: `price.amount`, `attributes[watts]:number`. */
export function columnPath(column: string) {
  const [, name = column, dotted, key = dotted, type] =
    /^([^.[]+)(?:\.(.+)|\[(.+)\](?::(number|boolean))?)$/s.exec(column) ?? [];
  return { name, key, type };
}

function saidInCells(
  columns: readonly string[],
  cells: readonly (string | undefined)[],
  fields: readonly Field[],
  stored: JsonObject,
): JsonObject {
  const said: Record<string, Json> = {};
  for (const [at, column] of columns.entries()) {
    const cell = cells[at];
    if (cell === undefined) continue;
    const { name, key, type } = columnPath(column);
    const field = fieldNamed(name, fields);
    if (key === undefined) said[name] = valueIn(cell, field, member(stored, name));
    else {
      const others = said[name] ?? {};
      const currency = cells[columns.indexOf(`${name}.currency`)] ?? member(member(stored, name), 'currency');
      const isDecimal = field?.kind === 'price' && key === 'decimal';
      const value = isDecimal
        ? ((currency === undefined ? undefined : amountOf(cell, String(currency))) ?? cell)
        : memberIn(cell, key, field, type ?? typeof member(member(stored, name), key));
      said[name] = { ...(isObject(others) ? others : {}), [isDecimal ? 'amount' : key]: value };
    }
  }
  return said;
}

const SEPARATOR = '|';

/**
 * The value of a cell, as the service reads it.
 * @param stored what the record has that the cell changes
 */
function valueIn(cell: string, field: Field | undefined, stored?: Json): Json {
  const known = Array.isArray(stored) ? (stored as readonly Json[]) : [];
  switch (field?.kind) {
    case 'number': {
      const number = readInteger(cell);
      return Number.isSafeInteger(number) ? (number as number) : cell;
    }
    case 'chips':
      return known.join(SEPARATOR) === cell ? known : readTexts(cell, SEPARATOR);
    case 'list':
      if (!isUrl(cell)) return jsonIn(cell);
      return cell.split(SEPARATOR).map((url) => known.find((one) => member(one, 'url') === url) ?? { url });
    case 'map':
    case 'price':
      return jsonIn(cell);
    default:
      return cell;
  }
}

/** @param type the one that the header names, else that of the stored value, which the service keeps */
function memberIn(cell: string, key: string, field: Field | undefined, type: string): Json {
  if (field?.kind === 'price')
    return valueIn(
      cell,
      field.fields.find(({ name }) => name === key),
    );
  if (type === 'number') return readNumber(cell) ?? cell;
  return type === 'boolean' ? (readBoolean(cell) ?? cell) : cell;
}

/** So much of a long text is shown, and so much before the first difference, in characters. */
const EXCERPT = { length: 200, before: 40 };

/** Two texts from shortly before their first difference on, if they are long; other values as they are. */
export function excerpts(...values: [Json | undefined, Json | undefined]): [Json | undefined, Json | undefined] {
  const texts = values.map((value) => (typeof value === 'string' ? [...value] : []));
  const [one = [], other = []] = texts;
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  const from = Math.max(0, same - EXCERPT.before);
  const cut = (value: Json | undefined, letters: readonly string[] = []) =>
    letters.length <= EXCERPT.length
      ? value
      : `${from > 0 ? '…' : ''}${letters.slice(from, from + EXCERPT.length).join('')}${from + EXCERPT.length < letters.length ? '…' : ''}`;
  return [cut(values[0], one), cut(values[1], other)];
}

function fieldNamed(name: string, fields: readonly Field[]): Field | undefined {
  return fields.find((one) => one.name === name);
}

/** Whether the service takes a value for none. Of a choice it takes one other text, such as `live`, and refuses others. */
function isNoValue(value: Json, field: Field | undefined): boolean {
  if (field?.kind === 'choice') return !field.values.includes(String(value));
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
