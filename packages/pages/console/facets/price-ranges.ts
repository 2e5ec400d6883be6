import { readInteger } from '#src/shared/json.js';
import { type Filter, type ListState, queryOf } from '../list-query.js';
import type { Resource } from '../types.js';

/** Amounts in the smallest unit, from one to below another. */
interface PriceRange {
  readonly from: number;
  readonly below: number;
}

/** The limits that a person has chosen. */
type ChosenRange = { readonly [Limit in keyof PriceRange]: number | undefined };

/** The fields of a price. */
export interface PriceFields {
  /** Such as `price`. */
  readonly name: string;
  readonly amount: string;
  readonly currency: string;
}

/** About so many ranges. */
const RANGES = 8;
/** If the highest price is so many times the lowest one, equal ranges would put nearly all records into the first. */
const WIDE = 40;

/**
 * Ranges with round limits that hold all amounts from the lowest to the highest. They are equally wide; if the amounts
 * differ much, each is about twice as wide as the one before, and the first one reaches down to the lowest amount.
 */
export function priceRanges(lowest: number, highest: number): readonly PriceRange[] {
  const limits = highest > WIDE * Math.max(lowest, 1) ? growingLimits(lowest, highest) : equalLimits(lowest, highest);
  return limits.slice(1).map((below, at) => ({ from: limits[at] ?? 0, below }));
}

function equalLimits(lowest: number, highest: number): number[] {
  const least = (highest - lowest + 1) / RANGES;
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least) ?? 10 * power;
  const first = Math.floor(lowest / step) * step;
  const count = Math.floor((highest - first) / step) + 1;
  return Array.from({ length: count + 1 }, (_, at) => first + at * step);
}

/** The last of the series 1, 2, 5, 10, 20 … around the amounts, and one limit below all amounts. */
function growingLimits(lowest: number, highest: number): number[] {
  const series = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((one) => one * 10 ** power)).flat();
  const below = series.filter((one) => one <= lowest).at(-1) ?? 0;
  const above = series.find((one) => one > highest) ?? Number.MAX_SAFE_INTEGER;
  return [below, ...series.filter((one) => one > below && one < above).slice(1 - RANGES), above];
}

/** A state with one currency, whatever the amounts. */
export function ofCurrency(state: ListState, { amount, currency }: PriceFields, of: string): ListState {
  const others = state.filters.filter(({ field }) => field !== amount && field !== currency);
  return { ...state, sort: '', cursor: undefined, filters: [...others, filterOf(currency, 'equals', of)] };
}

/** The request for the first record of a state, of which one field counts. */
export function firstRequest({ path }: Pick<Resource, 'path'>, state: ListState, field: string): string {
  return `${path}?${queryOf({ ...state, limit: 1 })}&fields=${field}`;
}

/** The filters of a state that shows only a range of prices; without limits, all prices of any currency. */
export function filtersOfRange(
  { filters }: ListState,
  { amount, currency }: PriceFields,
  of: string,
  { from, below }: ChosenRange,
): readonly Filter[] {
  const others = filters.filter(({ field }) => field !== amount);
  const limits = [
    ...(from === undefined ? [] : [filterOf(amount, 'gte', String(from))]),
    ...(below === undefined ? [] : [filterOf(amount, 'lt', String(below))]),
  ];
  if (limits.length === 0) return others;
  return [...others.filter(({ field }) => field !== currency), filterOf(currency, 'equals', of), ...limits];
}

/** The limits that filters set. */
export function chosenRange(filters: readonly Filter[], { amount }: PriceFields): ChosenRange {
  const limit = (operator: string) =>
    readInteger(filters.find((one) => one.field === amount && one.operator === operator)?.value ?? '');
  return { from: limit('gte'), below: limit('lt') };
}

export function isOpenRange({ from, below }: ChosenRange): boolean {
  return from === undefined && below === undefined;
}

/** Whether chosen limits reach into a range. */
export function isChosen(chosen: ChosenRange, range: PriceRange): boolean {
  const { from = 0, below = Number.POSITIVE_INFINITY } = chosen;
  return !isOpenRange(chosen) && range.from < below && range.below > from;
}

/** The limits after a range was ticked, to which they then reach, or unticked, before or behind which they then end. */
export function toggledRange(chosen: ChosenRange, range: PriceRange): ChosenRange {
  const { from, below } = chosen;
  if (isOpenRange(chosen)) return range;
  if (!isChosen(chosen, range))
    return { from: from && Math.min(from, range.from), below: below && Math.max(below, range.below) };
  const isFirst = range.from <= (from ?? 0);
  const rest = isFirst ? { from: range.below, below } : { from, below: range.from };
  const isEmpty = (rest.from ?? 0) >= (rest.below ?? Number.POSITIVE_INFINITY);
  return isEmpty ? { from: undefined, below: undefined } : rest;
}

function filterOf(field: string, operator: string, value: string): Filter {
  return { field, key: '', operator, value };
}

/** The price by whose ranges a resource is counted: an object of an amount that lists can sort and compare, and its currency. */
export function pricesOf({ fields, filters, facets }: Resource): PriceFields[] {
  return fields.flatMap(({ name, sort }) => {
    const [amount, currency] = [`${name}.amount`, `${name}.currency`];
    const operators = filters.find((one) => one.name === amount)?.operators.map((one) => one.name) ?? [];
    const isCounted =
      sort === amount && facets.includes(currency) && ['gte', 'lt'].every((one) => operators.includes(one));
    return isCounted ? [{ name, amount, currency }] : [];
  });
}
