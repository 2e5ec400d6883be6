import { createContext, type JSX } from 'preact';
import { useContext, useId, useRef } from 'preact/hooks';
import { useConsole } from '../context.js';
import { facetRequests } from '../facets/facet-query.js';
import { stateOf } from '../list-query.js';
import type { Resource } from '../types.js';
import { useLoad } from '../use-load.js';
import { useSettled } from '../use-settled.js';

/** Of which records the values complete what a person types; undefined: of none. */
export const CompletedResource = createContext<Resource | undefined>(undefined);

export const ALL_RECORDS = stateOf(new URLSearchParams(), []);
const MOST = 10;

/**
 * Values of other records that begin as the person types. What cannot be read is not offered.
 * @param pointer the JSON Pointer of the field
 * @param typed the text; one that the person has not changed needs no completion
 * @returns the id of the list for the input, and the list itself
 */
export function useCompletions(pointer: string, typed: string): [string | undefined, JSX.Element | undefined] {
  const { api } = useConsole();
  const resource = useContext(CompletedResource);
  const id = useId();
  const first = useRef(typed);
  const settled = useSettled(typed);
  const field = pointer.slice(1).replaceAll('/', '.');
  const isCompleted = resource?.facets.includes(field) ?? false;
  // The next key ends the request for the text before it.
  const isAsked = isCompleted && typed === settled && typed !== '' && typed !== first.current;
  const [request = ''] =
    resource && isAsked
      ? facetRequests(resource, ALL_RECORDS, [{ field, key: '' }], { limit: MOST, prefix: typed })
      : [];
  const { value = [] } = useLoad(request, async (signal) => {
    if (!resource || request === '') return [];
    const { facets } = await api.collection(resource).facets(request, { signal });
    return (facets[0]?.values ?? []).map((one) => String(one.value));
  });
  if (!isCompleted) return [undefined, undefined];
  return [
    id,
    <datalist id={id}>
      {value.map((text) => (
        <option key={text} value={text} />
      ))}
    </datalist>,
  ];
}
