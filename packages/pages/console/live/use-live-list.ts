import { useRef, useState } from 'preact/hooks';
import type { Page } from '#packages/client/index.js';
import { useConsole } from '../context.js';
import { recordsWith } from '../records-with.js';
import type { CatalogueRecord, Resource } from '../types.js';
import { areNews, type LiveList, liveList, missingIds, updated } from './list-news.js';
import { useNews } from './use-news.js';

interface LiveListOptions {
  readonly resource: Resource;
  /** The page as it was read; undefined while there is none. */
  readonly page: Page<CatalogueRecord> | undefined;
  /** Whether another page is read. */
  readonly isLoading: boolean;
  /** The request of the page. */
  readonly request: string;
  /** Whether no search and no filter leaves records out. */
  readonly isWhole: boolean;
}

/**
 * The records of a page, updated in place when others change them.
 * @returns the list, a function that marks the new records as such when the page is read again, and how often others
 *   changed something
 */
export function useLiveList(options: LiveListOptions): [LiveList, () => void, number] {
  const { resource, page, isLoading, request, isWhole } = options;
  const { api } = useConsole();
  const [added, setAdded] = useState<ReadonlySet<number>>(new Set());
  const [since, setSince] = useState<{ readonly page: typeof page; readonly list: LiveList }>();
  const [reports, setReports] = useState(0);
  const list = since && since.page === page ? since.list : liveList(page?.records ?? [], added);
  const current = useRef(list);
  current.current = list;
  useNews(resource, isLoading ? undefined : page, async (news, signal) => {
    if (!areNews(current.current, news)) return;
    const collection = api.collection(resource);
    const found = await collection.page(request, { signal });
    const missing = missingIds(current.current, found.records, news);
    const shown = new URL(request, location.href).searchParams.get('fields')?.split(',') ?? [];
    // Records by their ids stand for no others.
    const fields = shown.filter((name) => name !== 'variants');
    const others: CatalogueRecord[] = [];
    for await (const record of recordsWith(collection, 'id', missing, { fields, signal })) others.push(record);
    if (signal.aborted) return;
    const next = updated(current.current, { page: found.records, others, news, isWhole });
    current.current = next;
    setSince({ page, list: next });
    setReports((count) => count + 1);
  });
  return [list, () => setAdded(new Set([...list.here, ...list.elsewhere])), reports];
}
