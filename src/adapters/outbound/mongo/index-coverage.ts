import type { Filter, ListQuery, RecordTable } from '../../../application/list-query.js';
import { isFolded } from '../../../application/record-order.js';
import { specOf } from './paths.js';

/**
 * Whether an index leads to the records of a list in their order, past none that is not in it, or to so few that their
 * order costs nothing. How long such a query takes does not grow with the collection, nor with the depth of the page;
 * but from a place among records that tie in the first key of the order the server may read all of these.
 */
export function isIndexed(
  table: RecordTable,
  { filters, order }: Pick<ListQuery, 'filters' | 'order'>,
): boolean {
  if (filters.some((filter) => namesItsRecords(table, filter))) return true;
  const [first] = order;
  if (!first || order.length > 2) return false;
  const others = filters.filter((filter) => filter.field !== first.field || isFolded(table, filter));
  const isFixed = others.every(
    (filter) => filter.operator === 'eq' && filter.field === others[0]?.field && !isFolded(table, filter),
  );
  if (others.length === 0 || (first.field === 'id' && isFixed)) return true;
  return isFixed && isReference(table, others) && isByCreation(order);
}

function isReference(table: RecordTable, [filter]: readonly Filter[]): boolean {
  return filter !== undefined && specOf(table, filter.field).reference === true;
}

/** Newest first, ids ascending among equals; or the other way round altogether. */
function isByCreation([first, second]: ListQuery['order']): boolean {
  return first?.field === 'createdAt' && second?.field === 'id' && first.descending !== second.descending;
}

function namesItsRecords(table: RecordTable, { field, operator }: Filter): boolean {
  return (operator === 'eq' || operator === 'in') && specOf(table, field).unique === true;
}
