import { currencyDigits } from '#src/domain/money.js';
import { readNumber } from '#src/shared/json.js';
import { type FilterField, nameOfKey } from '../docs/filters.js';
import {
  amountText,
  decimalMark,
  isPrice,
  type NumberProblem,
  typedAmount,
  typedNumber,
  typedText,
} from './formats.js';

/** What a list shows, from the query in the page's URL. Its parameters are those of the API. */
export interface ListState {
  readonly words: string;
  readonly filters: readonly Filter[];
  /** Fields in the form of the API, such as `name,-id`; empty for the order of the ids. */
  readonly sort: string;
  readonly limit: number;
  /** The field of which the list shows one record for each value. Absent: it shows every record. */
  readonly distinct?: string | undefined;
  /** Marks a page that is not the first. */
  readonly cursor: string | undefined;
  /** The place of its first record in the list, from 1, if that is known. */
  readonly start?: number | undefined;
}

/** A row of the filters. */
export interface Filter {
  readonly field: string;
  /** The key of an attribute, which the person chooses; empty for any other field. */
  readonly key: string;
  /** `equals`, or a suffix of the API such as `gte`. */
  readonly operator: string;
  readonly value: string;
}

export const PAGE_SIZES = [20, 50, 100, 500] as const;
export const PAGE_SIZE = 50;

export function stateOf(query: URLSearchParams, fields: readonly FilterField[]): ListState {
  const [limit, start] = ['limit', 'start'].map((name) => Number(query.get(name)));
  return {
    words: query.get('q') ?? '',
    filters: [...query].flatMap(([name, value]) => filterOf(name, value, fields) ?? []),
    sort: query.get('sort') ?? '',
    limit: PAGE_SIZES.find((size) => size === limit) ?? PAGE_SIZE,
    cursor: query.get('cursor') ?? undefined,
    ...(start && { start }),
    ...(query.has('distinct') && { distinct: query.get('distinct') ?? '' }),
  };
}

/** A list without search and filters. */
export const ALL_RECORDS = stateOf(new URLSearchParams(), []);

/** The query of a state for the URL of the page. */
export function queryOf({ words, filters, sort, limit, distinct, cursor, start }: ListState): URLSearchParams {
  return new URLSearchParams([
    ...(words.trim() === '' ? [] : [['q', words.trim()]]),
    ...withJoinedLists(filters).map((filter) => [parameterOf(filter), filter.value]),
    ...(sort === '' ? [] : [['sort', sort]]),
    ...(distinct === undefined ? [] : [['distinct', distinct]]),
    ...(limit === PAGE_SIZE ? [] : [['limit', String(limit)]]),
    ...(cursor === undefined ? [] : [['cursor', cursor]]),
    ...(cursor === undefined || !start ? [] : [['start', `${start}`]]),
  ]);
}

/** Operators whose value is a list. */
const LISTS = ['in', 'all'];

/** Filters of which no two are the same list of values: such lists become one, as the service reads them. */
function withJoinedLists(filters: readonly Filter[]): readonly Filter[] {
  const joined = new Map<string, Filter>();
  for (const [at, filter] of filters.entries()) {
    // Any other parameter that is there twice stays so, and the service refuses it.
    const name = LISTS.includes(filter.operator) ? parameterOf(filter) : String(at);
    const value = [joined.get(name)?.value ?? [], filter.value].flat().join(',');
    joined.set(name, { ...filter, value });
  }
  return [...joined.values()];
}

/** The parameters of the records of a list, whatever its page: search, filters, sort and one record for all variants. */
export function selectionOf(state: ListState): Record<string, string> {
  return Object.fromEntries(queryOf({ ...state, limit: PAGE_SIZE, cursor: undefined }));
}

/** The name of a filter's parameter, such as `price.amount.gte`, `attributes.colour` or `attributes[watts].gte`. */
export function parameterOf({ field, key, operator }: Omit<Filter, 'value'>): string {
  if (operator === 'equals') return key === '' ? field : nameOfKey(field, key);
  return key === '' ? `${field}.${operator}` : `${field}[${key}].${operator}`;
}

/**
 * The currency whose digits an amount among these filters has: the first that they name.
 * @returns undefined if they name none, or currencies that differ in their digits; an amount then has two
 */
export function currencyOf({ field }: Filter, filters: readonly Filter[]): string | undefined {
  const ofCurrency = filters.filter(
    (one) => one.field === field.replace(/amount$/, 'currency') && /^(equals|in)$/.test(one.operator),
  );
  const named = ofCurrency.flatMap(({ value }) => value.split(',')).filter((currency) => currency !== '');
  return new Set(named.map(currencyDigits)).size === 1 ? named[0] : undefined;
}

/** What a person types between several numbers. It differs from what stands in a number. */
export function numberSeparator(): string {
  return decimalMark() === ',' ? ';' : ',';
}

/** What a filter compares: amounts of money, integers, numbers with a fraction, or undefined if it is anything else. */
export type NumberKind = 'amount' | 'integer' | 'number' | undefined;

/** A filter with its value as a person types it: `49.90` for 4990. */
export function typedFilter(filter: Filter, filters: readonly Filter[], kind: NumberKind): Filter {
  if (kind === undefined) return filter;
  const currency = currencyOf(filter, filters) ?? '';
  const typed = (text: string) => {
    const number = readNumber(text);
    if (number === undefined) return text;
    if (kind !== 'amount') return typedText(number);
    return isPrice({ amount: number, currency }) ? amountText(number, currency) : text;
  };
  const values = filter.operator === 'in' ? filter.value.split(',') : [filter.value];
  return { ...filter, value: values.map(typed).join(`${numberSeparator()} `) };
}

/** A filter with its value as the API takes it, such as 4990 for `49.90`; or why it cannot be sent. */
export function sentFilter(filter: Filter, filters: readonly Filter[], kind: NumberKind): Filter | NumberProblem {
  if (kind === undefined) return filter;
  const currency = currencyOf(filter, filters) ?? '';
  const values = filter.operator === 'in' ? filter.value.split(numberSeparator()) : [filter.value];
  const numbers = values.map((value) =>
    kind === 'amount' ? typedAmount(value, currency) : typedNumber(value, kind === 'integer'),
  );
  return numbers.find((one) => typeof one !== 'number') ?? { ...filter, value: numbers.join(',') };
}

function filterOf(name: string, value: string, fields: readonly FilterField[]): Filter | undefined {
  for (const { name: field, operators, prefix } of fields) {
    if (prefix !== undefined) {
      const found = keyAndOperator(name, field, prefix);
      if (found && operators.some((one) => one.name === found.operator)) return { field, ...found, value };
      continue;
    }
    const operator = operators.find((one) => name === parameterOf({ field, key: '', operator: one.name }));
    if (operator) return { field, key: '', operator: operator.name, value };
  }
  return undefined;
}

/** Reads `attributes.KEY`, `attributes[KEY]` and `attributes[KEY].gte`, as the service reads them. */
function keyAndOperator(name: string, field: string, prefix: string): Pick<Filter, 'key' | 'operator'> | undefined {
  const [, bracketed, operator = 'equals'] =
    (name.startsWith(field) && /^\[(.+)\](?:[.:](\w+))?$/s.exec(name.slice(field.length))) || [];
  if (bracketed !== undefined) return { key: bracketed, operator };
  return name.startsWith(prefix) ? { key: name.slice(prefix.length), operator: 'equals' } : undefined;
}

/** Filters that also want a text among those of a field. */
export function filtersWith(filters: readonly Filter[], field: string, text: string): readonly Filter[] {
  const isThere = filters.some(
    (one) => one.field === field && one.operator === 'all' && one.value.split(',').includes(text),
  );
  return isThere ? filters : [...filters, { field, key: '', operator: 'all', value: text }];
}

/** The direction in which a list is sorted by a field first. */
export function directionOf(sort: string, field: string): 'ascending' | 'descending' | undefined {
  const [first = ''] = sort.split(',');
  if (first === field) return 'ascending';
  return first === `-${field}` ? 'descending' : undefined;
}

/** The sort after a click on the header of a field: ascending, descending, then by id again. */
export function nextSort(sort: string, field: string): string {
  const direction = directionOf(sort, field);
  if (direction === undefined) return field;
  return direction === 'ascending' ? `-${field}` : '';
}
