import { filtersWith, type ListState, queryOf, stateOf } from '../list-query.js';
import { hashOf } from '../router.js';
import type { Resource } from '../types.js';
import type { HrefOf } from './value.js';

const ALL_RECORDS = stateOf(new URLSearchParams(), []);

/** Links from a text of a list to the records that have it too, among those that a state shows. */
export function textLinks(resource: Resource, state: ListState = ALL_RECORDS): HrefOf {
  return ({ name }, text) => {
    const operators = resource.filters.find((one) => one.name === name)?.operators ?? [];
    if (!operators.some((operator) => operator.name === 'all')) return undefined;
    const filters = filtersWith(state.filters, name, text);
    return hashOf({
      page: 'list',
      resource: resource.name,
      query: queryOf({ ...state, filters, cursor: undefined }),
    });
  };
}
