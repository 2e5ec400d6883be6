import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Page } from '#packages/client/index.js';
import { keepPlace, placeIn } from '../places.js';
import { hashOf } from '../router.js';
import type { CatalogueRecord } from '../types.js';

/**
 * Remembers a list as it is shown, and after a return from one of its records shows it as it was: scrolled as far, and
 * with the focus on the record.
 * @param page the records of the list; undefined while others are shown
 * @returns what the list is drawn in
 */
export function usePlace(resource: string, hash: string, page: Page<CatalogueRecord> | undefined) {
  const root = useRef<HTMLDivElement>(null);
  const table = () => root.current?.querySelector('.table-frame');
  const shown = useRef('');
  useLayoutEffect(() => {
    if (!page || !root.current) return;
    const { id = 0, scrolled: [inTable, inPage] = [0, 0] } = placeIn(resource);
    const isReturn = shown.current === '' && page.records.some((record) => record.id === id);
    if (isReturn) scrollTo(0, inPage);
    if (shown.current !== hash) table()?.scrollTo(0, isReturn ? inTable : 0);
    const record = hashOf({ page: 'record', resource, id });
    // The heading has the focus after a change of page. A person who uses the list meanwhile keeps theirs.
    if (isReturn && !root.current.querySelector(':focus:not(h1)'))
      root.current.querySelector<HTMLElement>(`tbody a[href="${record}"]`)?.focus();
    shown.current = hash;
    const { prev, next } = page;
    keepPlace(resource, { hash, ids: page.records.map((record) => record.id), prev, next, id: undefined });
  }, [page, hash]);
  useLayoutEffect(() => () => keepPlace(resource, { scrolled: [table()?.scrollTop ?? 0, scrollY] }), []);
  return root;
}
