import type { Document } from 'mongodb';
import type { Comparison, ListPlace, Order, RecordTable } from '../../../application/list-query.js';
import { fieldPath, specOf } from './paths.js';
import { comparison } from './predicate.js';

/** The order in which a page is read: against that of the list where it lies before its place. */
export function sortOf(order: Order, side: ListPlace['side']): Record<string, 1 | -1> {
  return Object.fromEntries(
    order.map(({ field, descending }) => [fieldPath(field), ascends(descending, side) ? 1 : -1]),
  );
}

/**
 * What holds of the documents on one side of a place: further by one key of the order, and alike by all before it. That
 * none lies before the place by the first key follows from it, and has an index on that key read from there on. Among
 * those that tie with the place in the first key, only the `$or` bounds the reading: each way of it is a range of the
 * index, but whether the server takes them as such is its own choice.
 */
export function keysetConditions(
  table: RecordTable,
  order: Order,
  { side, inclusive, values }: ListPlace,
): Document[] {
  const keys = order.map(({ field, descending }, at) => {
    const { type } = specOf(table, field);
    const value = values[at];
    if (value === undefined) throw new Error(`The place has no value of ${field}.`);
    const is = (operator: Comparison['operator']) => ({
      [fieldPath(field)]: comparison(type, operator, value),
    });
    const [further, notBefore] = ascends(descending, side) ? [is('gt'), is('gte')] : [is('lt'), is('lte')];
    return { tied: is('eq'), further, notBefore };
  });
  const ways = keys.map(({ further, notBefore }, at) => {
    const step = inclusive && at === keys.length - 1 ? notBefore : further;
    return { $and: [...keys.slice(0, at).map(({ tied }) => tied), step] };
  });
  return [...keys.slice(0, 1).map(({ notBefore }) => notBefore), { $or: ways }];
}

function ascends(descending: boolean, side: ListPlace['side']): boolean {
  return descending === (side === 'before');
}
