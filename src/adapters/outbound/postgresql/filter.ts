import type {
  AttributeFilter,
  Comparison,
  Filter,
  Position,
  RecordTable,
  SearchFilter,
  SortOrder,
  Value,
} from '../../../application/ports/list-query.js';
import {
  attributeValues,
  comparedValue,
  isFolded,
  prefixRange,
} from '../../../application/records/query-semantics.js';
import { attributeEntry, columnOf, foldedColumnOf, specOf, valuesTable } from './columns.js';

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
function comparison(
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
  const places = values.map(placeOf).filter(({ isBehind }) => !isBehind);
  return `${term} = ANY(${parameters.add(places.map(({ value }) => value))})`;
}

/**
 * The conditions of the filters that are no searches. Of several elements of one list, the first is looked up in the
 * table of values, and the others in the rows found: a join for each would take the server long to plan.
 * @param idConditions conditions of the statement on `id` alone
 */
export function filterConditions(
  table: RecordTable,
  filters: readonly Filter[],
  parameters: Parameters,
  idConditions: readonly string[] = [],
): string[] {
  const lookedUp = new Set<string>();
  return filters.flatMap((filter) => {
    if (filter.operator === 'search') return [];
    const isElement = filter.operator === 'eq' && specOf(table, filter.field).isList === true;
    if (!isElement || !lookedUp.has(filter.field)) {
      if (isElement) lookedUp.add(filter.field);
      return [conditionOf(table, filter, parameters, idConditions)];
    }
    const { value, isBehind } = placeOf(comparedValue(table, filter, filter.value));
    return [isBehind ? 'FALSE' : `${parameters.add(value)} = ANY(${columnOf(filter.field)})`];
  });
}

/**
 * The condition of a filter that is no search. A condition on the values of a list is about the ids of the table with
 * them, whose key is in the order of the ids for each value.
 */
function conditionOf(
  table: RecordTable,
  filter: Exclude<Filter, SearchFilter>,
  parameters: Parameters,
  idConditions: readonly string[],
): string {
  if (filter.operator === 'attribute') return attributeCondition(filter, parameters);
  const { field } = filter;
  const { isList } = specOf(table, field);
  const column = isFolded(table, filter) ? foldedColumnOf(field) : columnOf(field);
  if (filter.operator === 'exists') return `${column} IS ${filter.value ? 'NOT NULL' : 'NULL'}`;
  const term = isList ? 'value' : column;
  const compared = (value: Value) => comparedValue(table, filter, value);
  const condition =
    filter.operator === 'in'
      ? membership(term, filter.values.map(compared), parameters)
      : comparison(term, filter.operator, compared(filter.value), parameters);
  if (!isList) return condition;
  const conditions = [`field = '${field}'`, condition, ...idConditions].join(' AND ');
  return `id IN (SELECT id FROM ${valuesTable(table.name)} WHERE ${conditions})`;
}

function attributeCondition(filter: AttributeFilter, parameters: Parameters): string {
  if (filter.key.includes('\0')) return 'exists' in filter && !filter.exists ? 'TRUE' : 'FALSE';
  const own = `(fields::jsonb -> 'attributes' -> ${parameters.add(filter.key)})`;
  if ('exists' in filter) return `${own} IS ${filter.exists ? 'NOT NULL' : 'NULL'}`;
  if ('comparison' in filter)
    return `CASE WHEN jsonb_typeof${own} = 'number' THEN ${own}::text::double precision
      ${SIGNS[filter.comparison]} ${parameters.add(filter.number)} END`;
  const entries = attributeValues(filter).map((value) => attributeEntry(filter.key, value));
  return `${columnOf(filter.field)} && ${parameters.add(entries)}`;
}

/** The order in which rows are read: the order of the list, reversed if the page lies before its position. */
export function scanOrder(order: SortOrder, from: Position | undefined): SortOrder {
  if (from?.side !== 'before') return order;
  return order.map(({ field, descending }) => ({ field, descending: !descending }));
}

/** The terms of an order. */
export function orderBy(order: SortOrder): string {
  return order.map(({ field, descending }) => columnOf(field) + (descending ? ' DESC' : '')).join(', ');
}

/**
 * The condition on the rows beyond a position. If all keys have one direction, it compares rows, which is one range of
 * an index; else the first key alone bounds the range.
 * @param order in which rows are read
 */
export function keysetCondition(
  order: SortOrder,
  { values, inclusive }: Pick<Position, 'values' | 'inclusive'>,
  parameters: Parameters,
): string {
  const places = order.map(({ field }, at) => {
    const value = values[at];
    if (value === undefined || value === null) throw new Error(`The position has no value of ${field}.`);
    return placeOf(value);
  });
  // No row ties with a place between two values, so no further key decides.
  const last = places.findIndex(({ isBehind }) => isBehind);
  const keys = order.slice(0, last < 0 ? order.length : last + 1).map(({ field, descending }, at) => {
    const place = places[at] as Place;
    const isIncluded = at === last ? descending : inclusive;
    return {
      column: columnOf(field),
      descending,
      further: descending ? '<' : '>',
      isIncluded,
      parameter: parameters.add(place.value),
    };
  });
  return rowCondition(keys);
}

interface Key {
  readonly column: string;
  readonly descending: boolean;
  readonly further: string;
  readonly isIncluded: boolean;
  readonly parameter: string;
}

function rowCondition(keys: readonly Key[]): string {
  const [first, ...others] = keys as [Key, ...Key[]];
  const sign = first.further + ((keys.at(-1) as Key).isIncluded ? '=' : '');
  if (others.every(({ descending }) => descending === first.descending)) {
    const row = (of: (key: Key) => string) => `(${keys.map(of).join(', ')})`;
    return `${row(({ column }) => column)} ${sign} ${row(({ parameter }) => parameter)}`;
  }
  const { column, further, parameter } = first;
  return `${column} ${further}= ${parameter} AND (${column} ${further} ${parameter} OR ${rowCondition(others)})`;
}
