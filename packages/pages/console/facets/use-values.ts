import { useRef, useState } from 'preact/hooks';
import type { FacetsPage, FacetValue } from '#packages/client/index.js';
import { useConsole } from '../context.js';
import type { Resource } from '../types.js';
import { useLoad } from '../use-load.js';

/** The most pages of values, so that a page of the browser stays small. */
const MOST_PAGES = 10;

interface Values {
  readonly counts: readonly FacetValue[];
  readonly hasMore: boolean;
}

/**
 * The values of one field, page after page. After news the pages that are shown are read again.
 * @param first the request for the first page; empty: nothing is read
 */
export function useValues(resource: Resource, first: string, news = 0) {
  const { api } = useConsole();
  const [wanted, setWanted] = useState({ first, pages: 1 });
  const pages = wanted.first === first ? wanted.pages : 1;
  const source = `${first} ${news}`;
  const read = useRef<{ readonly source: string; readonly pages: FacetsPage[] }>({ source, pages: [] });
  const load = useLoad<Values | undefined>(`${source} ${pages}`, async (signal) => {
    if (first === '') return undefined;
    if (read.current.source !== source) read.current = { source, pages: [] };
    const { pages: found } = read.current;
    while (found.length < pages) {
      const at = found.length === 0 ? first : found.at(-1)?.next;
      if (at === undefined) break;
      found.push(await api.collection(resource).facets(at, { signal }));
    }
    const counts = found.flatMap(({ facets: [facet] }) => facet?.values ?? []);
    return { counts, hasMore: found.at(-1)?.next !== undefined };
  });
  const hasMore = load.value?.hasMore === true && pages < MOST_PAGES;
  /** Absent if there is no other page, or if many are shown. */
  return { ...load, readMore: hasMore ? () => setWanted({ first, pages: pages + 1 }) : undefined };
}
