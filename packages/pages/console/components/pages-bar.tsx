import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Page } from '#packages/client/index.js';
import { useConsole } from '../context.js';
import { type ListState, PAGE_SIZES, queryOf } from '../list-query.js';
import { hashOfList, hashOfPage } from '../router.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, Resource } from '../types.js';
import { useLoad } from '../use-load.js';
import { Button } from './button.js';
import { Select } from './field.js';
import { ErrorNotice } from './notice.js';

const { list: texts } = TEXTS;

/** Counts that took longer are made only when a person asks. */
const SLOW_MS = 1_000;
/** The paths of the lists whose last count did. */
const slow = new Set<string>();

/** Counts the records that match, again whenever a page is read; where that is slow, once. */
export function useTotal(
  { path, ...resource }: Resource,
  matching: Readonly<Record<string, string>>,
  page: Page<CatalogueRecord> | undefined,
) {
  const { api } = useConsole();
  const request = `${path}?${new URLSearchParams({ ...matching, fields: 'id', limit: '1' })}`;
  const [asked, setAsked] = useState('');
  const isAll = page && !page.prev && !page.next;
  const last = useRef({ request: '', total: undefined as number | undefined });
  const isCounted = last.current.request === request;
  const { error, isLoading, reload } = useLoad(page ?? '', async (signal) => {
    if (!page || isAll || (slow.has(path) && (asked !== request || isCounted))) return;
    const startedAt = performance.now();
    const isSlow = () => performance.now() - startedAt > SLOW_MS;
    try {
      const { total } = await api.collection({ path, ...resource }).page(request, { count: true, signal });
      last.current = { request, total };
      if (!isSlow()) slow.delete(path);
    } finally {
      if (isSlow() && !signal.aborted) slow.add(path);
    }
  });
  const count = isAll ? page.records.length : isCounted ? last.current.total : undefined;
  const ask = () => {
    setAsked(request);
    reload();
  };
  // While that is done, or if it is not needed, nobody can ask for it.
  return { count, ask: count !== undefined || !page || isLoading ? undefined : ask, error };
}

interface PagesBarProps {
  readonly resource: Resource;
  readonly state: ListState;
  readonly page: Page<CatalogueRecord>;
  readonly total: ReturnType<typeof useTotal>;
  go(part: Partial<ListState>): void;
}

/** The pages by the links of the service, which records of how many the page has, and the size of a page. */
export function PagesBar({ resource, state, page, total, go }: PagesBarProps): JSX.Element {
  const list = hashOfList(resource.name, queryOf(state));
  const { cursor, start = cursor === undefined ? 1 : undefined, limit } = state;
  const { length } = page.records;
  // By its key a link keeps its element, and so the focus, when those before it appear.
  const link = (label: string, reference: string | undefined, first?: number) =>
    reference === undefined ? (
      <span key={label} class="button off">
        {label}
      </span>
    ) : (
      <a key={label} class="button" href={hashOfPage(list, reference, first)}>
        {label}
      </a>
    );
  return (
    <div class="pages-bar">
      {(page.prev || page.next) && (
        <nav aria-label={texts.pages}>
          {link(texts.first, page.prev && page.first)}
          {link(texts.previous, page.prev, start && Math.max(start - limit, 1))}
          {link(texts.next, page.next, start && start + length)}
        </nav>
      )}
      <span role="status">{texts.shown(length, start, total.count)}</span>
      {total.ask && <Button onClick={total.ask}>{texts.count}</Button>}
      {total.error !== undefined && <ErrorNotice error={total.error} />}
      <span>
        <label for="page-size">{texts.pageSize}</label>{' '}
        <Select
          id="page-size"
          value={limit}
          options={PAGE_SIZES.map((size) => [`${size}`, `${size}`])}
          onChoose={(size) => go({ limit: Number(size) })}
        />
      </span>
    </div>
  );
}
