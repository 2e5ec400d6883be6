import {
  type Attributes,
  type AttributeValue,
  type FieldSpec,
  foldedOperators,
  foldedText,
  SYSTEM_FIELDS,
} from '../../domain/fields.js';
import type { Versioned } from '../../domain/record.js';
import { compareText, endOfPrefix } from '../../domain/text.js';
import type {
  AttributeEquality,
  AttributeFilter,
  AttributeMembership,
  Comparison,
  FacetValue,
  Filter,
  Membership,
  Position,
  RecordTable,
  SortOrder,
  Value,
} from '../ports/list-query.js';
import { matchesText, recordText } from '../search/tokenizer.js';

/** @throws Error if the table has no such field, so that no other name gets into a query */
export function specOf({ name, fields }: RecordTable, field: string): FieldSpec {
  const specs = [SYSTEM_FIELDS, fields].find((all) => Object.hasOwn(all, field));
  const spec = specs?.[field];
  if (!spec) throw new Error(`The table ${name} has no field ${field}.`);
  return spec;
}

/** The elements of a list in the fields of a record; empty if there is none. */
export function listValues(fields: object, field: string): readonly string[] {
  return (fields as Readonly<Record<string, readonly string[] | undefined>>)[field] ?? [];
}

/** The value of a field in a record. `price.amount` is inside `price`. */
export function fieldValue(record: Versioned<unknown>, field: string): Value | undefined {
  if (field === 'id' || field === 'createdAt' || field === 'updatedAt') return record[field];
  return memberValue(record.fields as object, field) as Value | undefined;
}

/** The value of a field in the fields of a record; of any type. */
export function memberValue(fields: object, field: string): unknown {
  let value: unknown = fields;
  if (!field.includes('.')) return (value as Record<string, unknown>)[field];
  for (const step of field.split('.')) value = (value as Record<string, unknown> | undefined)?.[step];
  return value;
}

export function compareValues(a: Value, b: Value): number {
  return typeof a === 'string' || typeof b === 'string' ? compareText(String(a), String(b)) : a - b;
}

const TYPES = ['string', 'number', 'boolean'];

/** Texts by code points, then numbers, then false and true. */
export function compareFacetValues(a: FacetValue, b: FacetValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  return TYPES.indexOf(typeof a) - TYPES.indexOf(typeof b) || Number(a) - Number(b);
}

type Values = Position['values'];

/** @returns below 0 if `a` comes first. Both have a value, or null, for each key. */
export function compareInOrder(order: SortOrder, a: Values, b: Values): number {
  for (const [at, { descending }] of order.entries()) {
    const [one = null, other = null] = [a[at], b[at]];
    if (one === other) continue;
    if (one === null) return 1;
    if (other === null) return -1;
    const difference = compareValues(one, other);
    if (difference !== 0) return descending ? -difference : difference;
  }
  return 0;
}

export function valuesOf(record: Versioned<unknown>, order: SortOrder): Values {
  return order.map(({ field }) => fieldValue(record, field) ?? null);
}

/** The position of a record in an order. */
export function positionOf(
  record: Versioned<unknown>,
  order: SortOrder,
  side: Position['side'],
  inclusive = false,
): Position {
  return { side, inclusive, values: valuesOf(record, order) };
}

/** Whether a filter compares the folded values of a field. Filters that depend on the order never do. */
export function isFolded({ fields }: RecordTable, { field, operator }: Filter): boolean {
  const spec = fields[field];
  return (spec && foldedOperators(spec)?.includes(operator)) === true;
}

/** The value of a filter as it is compared. */
export function comparedValue(table: RecordTable, filter: Filter, value: Value): Value {
  return isFolded(table, filter) ? foldedValue(table, filter.field, value) : value;
}

/** Every attribute value that is written like a text of a filter. */
export function attributeValues(filter: AttributeEquality | AttributeMembership): AttributeValue[] {
  return 'values' in filter ? filter.values.flatMap(valuesWritten) : valuesWritten(filter.value);
}

function valuesWritten(text: string): AttributeValue[] {
  const number = Number(text);
  return [
    text,
    ...(String(number) === text && Number.isFinite(number) ? [number] : []),
    ...(text === 'true' || text === 'false' ? [text === 'true'] : []),
  ];
}

/** The texts that start with a prefix, as a range. */
export function prefixRange(prefix: string): { readonly from: string; readonly before: string | undefined } {
  return { from: prefix, before: endOfPrefix(prefix) };
}

/** Whether a record matches a filter, for stores without a query language. */
export function matchesFilter(table: RecordTable, record: Versioned<unknown>, filter: Filter): boolean {
  if (filter.operator === 'attribute') return hasAttribute(record, filter);
  if (filter.operator === 'search') return matchesText(filter.words, recordText(table, record.fields as object));
  const own: unknown = fieldValue(record, filter.field);
  if (filter.operator === 'exists') return (own !== undefined) === filter.value;
  if (filter.operator === 'inOrNone') return own === undefined || filter.values.includes(own as Value);
  const values = (Array.isArray(own) ? own : [own]) as readonly (Value | undefined)[];
  return values.some((value) => value !== undefined && matchesValue(table, value, filter));
}

function matchesValue(table: RecordTable, own: Value, filter: Comparison | Membership): boolean {
  const value = comparedValue(table, filter, own);
  if (filter.operator === 'in') return membersOf(table, filter).has(value);
  return COMPARISONS[filter.operator](value, comparedValue(table, filter, filter.value));
}

/** The values of filters as they are compared: there can be 1,000, and each is compared with many records. */
const MEMBERS = new WeakMap<Membership, ReadonlySet<Value>>();

function membersOf(table: RecordTable, filter: Membership): ReadonlySet<Value> {
  const known = MEMBERS.get(filter);
  if (known) return known;
  const members = new Set(filter.values.map((value) => comparedValue(table, filter, value)));
  MEMBERS.set(filter, members);
  return members;
}

const COMPARISONS = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => compareValues(a, b) < 0,
  lte: (a, b) => compareValues(a, b) <= 0,
  gt: (a, b) => compareValues(a, b) > 0,
  gte: (a, b) => compareValues(a, b) >= 0,
  prefix: (a, b) => String(a).startsWith(String(b)),
} satisfies Record<string, (a: Value, b: Value) => boolean>;

function hasAttribute({ fields }: Versioned<unknown>, filter: AttributeFilter): boolean {
  const own = attributeOf(fields as object, filter.key);
  if ('exists' in filter) return (own !== undefined) === filter.exists;
  if (own === undefined) return false;
  if ('comparison' in filter) return typeof own === 'number' && COMPARISONS[filter.comparison](own, filter.number);
  return attributeValues(filter).includes(own);
}

export function attributeOf(fields: object, key: string): AttributeValue | undefined {
  const { attributes } = fields as { attributes?: Attributes };
  return attributes && Object.hasOwn(attributes, key) ? attributes[key] : undefined;
}

/** Whether a filter asks for some values of a field in which no two records share one. */
export function matchesUniqueValues({ fields }: RecordTable, { field, operator }: Filter): boolean {
  const isUnique = field === 'id' || fields[field]?.unique === true;
  return isUnique && (operator === 'eq' || operator === 'in');
}

/** The value of a unique field in a record, as it is compared. */
export function uniqueValueOf(
  table: Pick<RecordTable, 'fields'>,
  record: Versioned<unknown>,
  field: string,
): Value | undefined {
  const value = fieldValue(record, field);
  return value === undefined ? undefined : foldedValue(table, field, value);
}

/** A value of a field as it is compared for equality. */
export function foldedValue({ fields }: Pick<RecordTable, 'fields'>, field: string, value: Value): Value {
  const spec = fields[field];
  return typeof value === 'string' && spec ? foldedText(spec, value) : value;
}

/** Returns for each value of a unique field, in order, the record that has it. */
export function ownersOf<Fields>(
  table: RecordTable,
  field: string,
  values: readonly Value[],
  records: readonly Versioned<Fields>[],
): (Versioned<Fields> | undefined)[] {
  const owners = new Map(records.map((record) => [uniqueValueOf(table, record, field), record]));
  return values.map((value) => owners.get(foldedValue(table, field, value)));
}
