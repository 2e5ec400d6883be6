import { createContext, type JSX } from 'preact';
import { useContext, useId, useRef } from 'preact/hooks';
import { useConsole } from '../context.js';
import { facetRequests } from '../facets/facet-query.js';
import { ALL_RECORDS } from '../list-query.js';
import type { Resource } from '../types.js';
import { useLoad } from '../use-load.js';
import { useSettled } from '../use-settled.js';

/** Of which records the values complete what a person types; undefined: of none. */
export const CompletedResource = createContext<Resource | undefined>(undefined);

const MOST = 10;

/**
 * The most frequent values of a field among all records; none if it has none or they are not counted.
 * @param field undefined: nothing is read
 */
export function useFrequentValues(field: string | undefined, limit: number, prefix = ''): readonly string[] {
  const { api } = useConsole();
  const resource = useContext(CompletedResource);
  const [request = ''] =
    resource && field !== undefined && resource.facets.includes(field)
      ? facetRequests(resource, ALL_RECORDS, [{ field, key: '' }], { limit, prefix })
      : [];
  const { value = [] } = useLoad(request, async (signal) => {
    if (!resource || request === '') return [];
    const { facets } = await api.collection(resource).facets(request, { signal });
    return (facets[0]?.values ?? []).map((one) => String(one.value));
  });
  return value;
}

/**
 * Values of other records that begin as the person types. What cannot be read is not offered.
 * @param pointer the JSON Pointer of the field
 * @param typed the text; one that the person has not changed needs no completion
 * @returns the id of the list for the input, and the list itself
 */
export function useCompletions(pointer: string, typed: string): [string | undefined, JSX.Element | undefined] {
  const resource = useContext(CompletedResource);
  const id = useId();
  const first = useRef(typed);
  const settled = useSettled(typed);
  const field = pointer.slice(1).replaceAll('/', '.');
  // The next key ends the request for the text before it.
  const isAsked = typed === settled && typed !== '' && typed !== first.current;
  const values = useFrequentValues(isAsked ? field : undefined, MOST, typed);
  if (!resource?.facets.includes(field)) return [undefined, undefined];
  return [
    id,
    <datalist id={id}>
      {values.map((text) => (
        <option key={text} value={text} />
      ))}
    </datalist>,
  ];
}
