import type {
  AttributeComparison,
  AttributeFilter,
  Comparison,
  ExistenceFilter,
  Filter,
  Membership,
  OptionalMembership,
  Position,
  RecordTable,
  SortOrder,
  Value,
} from '../../../application/ports/list-query.js';
import {
  attributeValues,
  comparedValue,
  isFolded,
  prefixRange,
} from '../../../application/records/query-semantics.js';
import { keyEntry, rangeEntries, valueEntry } from './attributes.js';
import { columnOf, documentColumnOf, foldedColumnOf, isOutdated, specOf, valuesTable } from './columns.js';

/** The values of the numbered parameters of a statement. Nothing that a client sent becomes part of its text. */
export class Parameters {
  readonly values: unknown[] = [];

  /** @returns the place of a value in the text */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

/** No integer of a record is so large, and a `bigint` can be. */
const BEYOND = 2 ** 60;

/** A place among the values that a column can have. */
interface Place {
  readonly value: Value;
  /** Whether the place lies between the value and the next one that a column can have. */
  readonly isBehind: boolean;
}

/** Columns have whole numbers, and texts without U+0000. Other values of a query lie between two of these. */
function placeOf(value: Value): Place {
  if (typeof value === 'string') {
    const end = value.indexOf('\0');
    return end < 0 ? { value, isBehind: false } : { value: value.slice(0, end), isBehind: true };
  }
  const whole = Math.floor(value);
  return { value: Math.max(-BEYOND, Math.min(BEYOND, whole)), isBehind: whole !== value };
}

const SIGNS = { lt: '<', lte: '<=', gt: '>', gte: '>=' } as const;
const SIGNS_BEHIND = { lt: '<=', lte: '<=', gt: '>', gte: '>' } as const;

/** The condition on a term of one value. It is not true if there is no value. */
export function comparison(
  term: string,
  operator: Comparison['operator'],
  value: Value,
  parameters: Parameters,
): string {
  const place = placeOf(value);
  const is = (sign: string, other = place.value) => `${term} ${sign} ${parameters.add(other)}`;
  if (operator === 'ne') return place.isBehind ? `${term} IS NOT NULL` : is('<>');
  if (operator !== 'eq' && operator !== 'prefix')
    return is((place.isBehind ? SIGNS_BEHIND : SIGNS)[operator]);
  if (place.isBehind) return 'FALSE';
  if (operator === 'eq') return is('=');
  const { from, before } = prefixRange(String(value));
  return before === undefined ? is('>=', from) : `${is('>=', from)} AND ${is('<', before)}`;
}

function membership(term: string, values: readonly Value[], parameters: Parameters): string {
  return `${term} = ANY(${parameters.add(possible(values))})`;
}

/** Those of some values that a column can have. */
function possible(values: readonly Value[]): Value[] {
  return values
    .map(placeOf)
    .filter(({ isBehind }) => !isBehind)
    .map(({ value }) => value);
}

/**
 * The conditions of the filters that are no searches.
 * @param byId of a statement in the order of ids: its conditions on `id` alone
 */
export function filterConditions(
  table: RecordTable,
  filters: readonly Filter[],
  parameters: Parameters,
  byId?: readonly string[],
): string[] {
  return filters.flatMap((filter) => {
    if (filter.operator === 'search') return [];
    if ('comparison' in filter) {
      // Several comparisons of one attribute are one range.
      const [first, ...others] = filters.filter(
        (one): one is AttributeComparison => 'comparison' in one && one.key === filter.key,
      );
      return first === filter ? [attributeCondition(table, [filter, ...others], parameters)] : [];
    }
    if (filter.operator === 'attribute') return [attributeCondition(table, [filter], parameters)];
    const { field, operator } = filter;
    const { isList } = specOf(table, field);
    if (!isList || operator === 'exists' || operator === 'inOrNone')
      return [fieldCondition(table, filter, parameters)];
    const isAlone = filters.every((other) => other === filter || other.field === 'id');
    return [
      operator === 'prefix' || (byId && isAlone)
        ? valuesCondition(table, filter, byId ?? [], parameters)
        : elementsCondition(table, filter, parameters),
    ];
  });
}

/** The condition on a field with one value, or on the presence of any value. */
function fieldCondition(
  table: RecordTable,
  filter: Comparison | ExistenceFilter | Membership | OptionalMembership,
  parameters: Parameters,
): string {
  const { field, operator } = filter;
  const column = isFolded(table, filter) ? foldedColumnOf(field) : columnOf(field);
  if (operator === 'exists') return `${column} IS ${filter.value ? 'NOT NULL' : 'NULL'}`;
  if (operator === 'inOrNone')
    return `(${column} IS NULL OR ${membership(column, filter.values, parameters)})`;
  return valueCondition(table, column, filter, parameters);
}

function valueCondition(
  table: RecordTable,
  term: string,
  filter: Comparison | Membership,
  parameters: Parameters,
): string {
  const compared = (value: Value) => comparedValue(table, filter, value);
  return filter.operator === 'in'
    ? membership(term, filter.values.map(compared), parameters)
    : comparison(term, filter.operator, compared(filter.value), parameters);
}

/** The condition on the values of a list that looks them up in their own table, which has the ids of each in order. */
function valuesCondition(
  table: RecordTable,
  filter: Comparison | Membership,
  byId: readonly string[],
  parameters: Parameters,
): string {
  const conditions = [
    `field = '${filter.field}'`,
    valueCondition(table, 'value', filter, parameters),
    ...byId,
  ];
  return `id IN (SELECT id FROM ${valuesTable(table.name)} WHERE ${conditions.join(' AND ')})`;
}

/** The condition on the elements of a list. One index has those of lists and attributes, and intersects them. */
function elementsCondition(
  table: RecordTable,
  filter: Comparison | Membership,
  parameters: Parameters,
): string {
  const values = filter.operator === 'in' ? filter.values : [filter.value];
  const compared = values.map((value) => comparedValue(table, filter, value));
  return `${columnOf(filter.field)} && ${parameters.add(possible(compared))}`;
}

/**
 * The condition on one attribute. The entries of the index lead to the rows, and the document decides. A row that is read
 * by another index is compared by its document first, since the server begins with what seems to cost less.
 */
function attributeCondition(
  table: RecordTable,
  filters: readonly [AttributeFilter, ...AttributeFilter[]],
  parameters: Parameters,
): string {
  const [first] = filters;
  const { field, key } = first;
  const test = isStorable(key) ? attributeTest(filters) : NO_TEST;
  const isAbsent = 'exists' in first && !first.exists;
  if (test.path === '') return isAbsent ? 'TRUE' : 'FALSE';
  const path = parameters.add(test.path);
  const matches = attributesTerm(table, field, (document) => `${document} @@ ${path}::jsonpath`);
  if (isAbsent) return `${matches} IS NOT TRUE`;
  const hasEntry = `${columnOf(field)} && ${parameters.add(test.entries)}`;
  // Rows of every version have the entries of values.
  if ('value' in first || 'values' in first) return `${matches} AND ${hasEntry}`;
  return `${matches} AND (${hasEntry} OR ${isOutdated(table)} AND ${matches})`;
}

/** What an attribute must fulfil: as a predicate of its document, and as entries of which the row has one. */
interface AttributeTest {
  /** See https://www.postgresql.org/docs/current/functions-json.html, "The SQL/JSON Path Language"; empty: none does. */
  readonly path: string;
  readonly entries: readonly string[];
}

const NO_TEST: AttributeTest = { path: '', entries: [] };

/** @param filters of one key: one, or several comparisons of numbers */
function attributeTest(filters: readonly [AttributeFilter, ...AttributeFilter[]]): AttributeTest {
  const [first] = filters;
  const { key } = first;
  const own = `$.${JSON.stringify(key)}`;
  if ('exists' in first) return { path: `exists(${own})`, entries: [keyEntry(key)] };
  if (!('comparison' in first)) {
    const values = attributeValues(first).filter((value) => typeof value !== 'string' || isStorable(value));
    return {
      path: values.map((value) => `${own} == ${JSON.stringify(value)}`).join(' || '),
      entries: values.map((value) => valueEntry(key, value)),
    };
  }
  const comparisons = filters.filter((filter) => 'comparison' in filter);
  let [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const { comparison, number } of comparisons)
    if (comparison === 'gt' || comparison === 'gte') low = Math.max(low, number);
    else high = Math.min(high, number);
  const path = comparisons.map(({ comparison, number }) => `${own} ${SIGNS[comparison]} ${number}`);
  return { path: path.join(' && '), entries: rangeEntries(key, low, high) };
}

/** Whether a record can have this text in its attributes, and the server takes it in a path. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && !/\p{Cs}/u.test(text);
}

/** A term of the attributes of a row, which is null if there are none. Those of an outdated row are in its JSON. */
export function attributesTerm(
  table: RecordTable,
  field: string,
  termOf: (document: string) => string,
): string {
  const parsed = `(fields::jsonb -> '${field}')`;
  return `CASE WHEN ${isOutdated(table)} THEN ${termOf(parsed)} ELSE ${termOf(documentColumnOf(field))} END`;
}

/** A key by which rows are read. */
interface ScanKey {
  readonly field: string;
  readonly column: string;
  readonly descending: boolean;
  /** Where the rows without a value stand. Absent: there are none. */
  readonly missing?: 'FIRST' | 'LAST';
}

/** The order in which rows are read: the order of the list, reversed if the page lies before its position. */
export function scanOrder(table: RecordTable, order: SortOrder, from: Position | undefined): ScanKey[] {
  const isReversed = from?.side === 'before';
  return order.map(({ field, descending }, at) => ({
    field,
    column: columnOf(field),
    descending: descending !== isReversed,
    ...(at > 0 && !specOf(table, field).required && { missing: isReversed ? 'FIRST' : 'LAST' }),
  }));
}

/** The terms of an order. */
export function orderBy(order: readonly ScanKey[]): string {
  return order
    .map(
      ({ column, descending, missing }) =>
        column + (descending ? ' DESC' : '') + (missing ? ` NULLS ${missing}` : ''),
    )
    .join(', ');
}

/**
 * The condition on the rows beyond a position. If all keys have one direction and a value, it compares rows, which is one
 * range of an index; else the first key alone bounds the range.
 */
export function keysetCondition(
  order: readonly ScanKey[],
  { values, inclusive }: Pick<Position, 'values' | 'inclusive'>,
  parameters: Parameters,
): string {
  const places = order.map(({ field, missing }, at) => {
    const value = values[at] ?? null;
    if (value === null && !missing) throw new Error(`The position has no value of ${field}.`);
    return value === null ? null : placeOf(value);
  });
  // No row ties with a place between two values, so no further key decides.
  const last = places.findIndex((place) => place?.isBehind);
  const keys = order.slice(0, last < 0 ? order.length : last + 1).map((key, at): Key => {
    const place = places[at];
    return place ? { ...key, parameter: parameters.add(place.value) } : key;
  });
  return beyond(keys, order[last]?.descending ?? inclusive);
}

interface Key extends ScanKey {
  /** Absent: the position is at a row without a value. */
  readonly parameter?: string;
}

function beyond(keys: readonly Key[], isIncluded: boolean): string {
  const [first, ...others] = keys as [Key, ...Key[]];
  const { column, descending, missing, parameter } = first;
  const sign = descending ? '<' : '>';
  if (keys.every((key) => !key.missing && key.descending === descending)) {
    const row = (of: (key: Key) => string | undefined) => `(${keys.map(of).join(', ')})`;
    return `${row((key) => key.column)} ${sign}${isIncluded ? '=' : ''} ${row((key) => key.parameter)}`;
  }
  const rest = others.length > 0 ? beyond(others, isIncluded) : isIncluded ? 'TRUE' : 'FALSE';
  if (parameter === undefined)
    return missing === 'FIRST' ? `(${column} IS NOT NULL OR ${rest})` : `(${column} IS NULL AND ${rest})`;
  const further = `${column} ${sign} ${parameter}`;
  if (!missing) return `${column} ${sign}= ${parameter} AND (${further} OR ${rest})`;
  const lacking = missing === 'LAST' ? ` OR ${column} IS NULL` : '';
  return `(${further}${lacking} OR ${column} = ${parameter} AND ${rest})`;
}
