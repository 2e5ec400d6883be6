import type { Id } from '../../domain/record.js';
import type { Filter, ListQuery } from '../ports/list-query.js';

/** Ids from `low` to `high`, both included. */
export interface IdRange {
  readonly low: Id;
  /** May be infinite. */
  readonly high: Id;
}

/** The ids that the filters on the id, and the position of a list by id, leave. */
export function idRange(query: Pick<ListQuery, 'filters' | 'order' | 'from'>): IdRange {
  const { filters, from } = query;
  let [low, high] = [0, Number.POSITIVE_INFINITY];
  const above = (id: number, inclusive: boolean) => {
    low = Math.max(low, inclusive ? Math.ceil(id) : Math.floor(id) + 1);
  };
  const below = (id: number, inclusive: boolean) => {
    high = Math.min(high, inclusive ? Math.floor(id) : Math.ceil(id) - 1);
  };
  for (const filter of filters) {
    if (filter.field !== 'id') continue;
    const values = 'values' in filter ? filter.values : 'value' in filter ? [filter.value] : [];
    const [least, greatest] = [Math.min(...values.map(Number)), Math.max(...values.map(Number))];
    const { operator } = filter;
    if (operator === 'gt' || operator === 'gte') above(least, operator === 'gte');
    if (operator === 'lt' || operator === 'lte') below(greatest, operator === 'lte');
    if (operator === 'eq' || operator === 'in') {
      above(least, true);
      below(greatest, true);
    }
  }
  const beyond = isAscendingRead(query) ? above : below;
  if (from?.values.length && query.order[0]?.field === 'id') beyond(Number(from.values[0]), from.inclusive);
  return { low, high };
}

/** Whether the words of a search and the ids decide alone, so that an index of words leads to the records. */
export function hasOnlyIdFilters(filters: readonly Filter[]): boolean {
  return filters.every(({ operator, field }) => operator === 'search' || field === 'id');
}

/** Whether a list by id is read from its lowest id on. */
export function isAscendingRead({ order, from }: Pick<ListQuery, 'order' | 'from'>): boolean {
  return (order[0]?.descending === true) === (from?.side === 'before');
}
