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
  Value,
} from '../../../application/ports/list-query.js';
import {
  attributeValues,
  comparedValue,
  isFolded,
  prefixRange,
  specOf,
} from '../../../application/records/query-semantics.js';
import { columnOf, foldedColumnOf, keysetCondition, type ScanKey, valuesTable } from '../sql/keyset.js';
import { keyEntry, rangeEntries, valueEntry } from './attributes.js';
import { documentColumnOf } from './columns.js';

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
  if (operator !== 'eq' && operator !== 'prefix') return is((place.isBehind ? SIGNS_BEHIND : SIGNS)[operator]);
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
      return first === filter ? [attributeCondition([filter, ...others], parameters)] : [];
    }
    if (filter.operator === 'attribute') return [attributeCondition([filter], parameters)];
    const { field, operator } = filter;
    const { isList } = specOf(table, field);
    if (!isList || operator === 'exists' || operator === 'inOrNone') return [fieldCondition(table, filter, parameters)];
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
  if (operator === 'inOrNone') return `(${column} IS NULL OR ${membership(column, filter.values, parameters)})`;
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
  const conditions = [`field = '${filter.field}'`, valueCondition(table, 'value', filter, parameters), ...byId];
  return `id IN (SELECT id FROM ${valuesTable(table.name)} WHERE ${conditions.join(' AND ')})`;
}

/** The condition on the elements of a list. One index has those of lists and attributes, and intersects them. */
function elementsCondition(table: RecordTable, filter: Comparison | Membership, parameters: Parameters): string {
  const values = filter.operator === 'in' ? filter.values : [filter.value];
  const compared = values.map((value) => comparedValue(table, filter, value));
  return `${columnOf(filter.field)} && ${parameters.add(possible(compared))}`;
}

/**
 * The condition on one attribute. The entries of the index lead to the rows, and the document decides. A row that is read
 * by another index is compared by its document first, since the server begins with what seems to cost less.
 */
function attributeCondition(filters: readonly [AttributeFilter, ...AttributeFilter[]], parameters: Parameters): string {
  const [first] = filters;
  const { field, key } = first;
  const test = isStorable(key) ? attributeTest(filters) : NO_TEST;
  const isAbsent = 'exists' in first && !first.exists;
  if (test.path === '') return isAbsent ? 'TRUE' : 'FALSE';
  const path = parameters.add(test.path);
  const matches = `${documentColumnOf(field)} @@ ${path}::jsonpath`;
  if (isAbsent) return `${matches} IS NOT TRUE`;
  return `${matches} AND ${columnOf(field)} && ${parameters.add(test.entries)}`;
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

/** The rows beyond a position. No row ties with a place between two values, so no further key decides. */
export function beyondPosition(
  order: readonly ScanKey[],
  { values, inclusive }: Pick<Position, 'values' | 'inclusive'>,
  parameters: Parameters,
): string {
  const places = values.map((value) => (value === null ? null : placeOf(value)));
  const last = places.findIndex((place) => place?.isBehind);
  const position = {
    values: places.map((place) => place?.value ?? null),
    inclusive: order[last]?.descending ?? inclusive,
  };
  const deciding = last < 0 ? order : order.slice(0, last + 1);
  return keysetCondition(deciding, position, (value) => parameters.add(value));
}
