import type { Filter } from '../ports/list-query.js';

/**
 * Whether the words of all records of a table are known to be current. A table's search index and its repository share
 * one. The index learns it at least every minute; until then a search reads the records themselves.
 */
export interface WordsState {
  areCurrent: boolean;
}

/**
 * The filters that the server checks, and those that are compared with the records it returns: searches, as long as
 * records may lack current words.
 */
export function splitFilters(
  filters: readonly Filter[],
  { areCurrent }: WordsState,
): { readonly served: readonly Filter[]; readonly compared: readonly Filter[] } {
  const isCompared = ({ operator }: Filter) => operator === 'search' && !areCurrent;
  return {
    served: filters.filter((filter) => !isCompared(filter)),
    compared: filters.filter(isCompared),
  };
}
