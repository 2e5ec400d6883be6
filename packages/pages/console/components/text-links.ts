import { ALL_RECORDS, filtersWith, type ListState, queryOf } from '../list-query.js';
import { hashOfList } from '../router.js';
import type { Resource } from '../types.js';
import type { HrefOf } from './value.js';

/** Links from a text of a list to the records that have it too, among those that a state shows. */
export function textLinks(resource: Resource, state: ListState = ALL_RECORDS): HrefOf {
  return ({ name }, text) => {
    const operators = resource.filters.find((one) => one.name === name)?.operators ?? [];
    if (!operators.some((operator) => operator.name === 'all')) return undefined;
    const filters = filtersWith(state.filters, name, text);
    return hashOfList(resource.name, queryOf({ ...state, filters, cursor: undefined }));
  };
}
