import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Page } from '#packages/client/index.js';
import { useConsole } from '../context.js';
import { numberText } from '../formats.js';
import { type ListState, PAGE_SIZES, queryOf, selectionOf } from '../list-query.js';
import { hashOf, hashOfPage } from '../router.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, Resource } from '../types.js';
import { Button } from './button.js';
import { ErrorNotice } from './notice.js';

const { list: texts } = TEXTS;

interface PagesBarProps {
  readonly resource: Resource;
  readonly state: ListState;
  readonly page: Page<CatalogueRecord>;
  go(part: Partial<ListState>): void;
}

/** The pages by the links of the service, the size of a page, and the number of all records, counted when asked. */
export function PagesBar({ resource, state, page, go }: PagesBarProps): JSX.Element {
  const list = hashOf({ page: 'list', resource: resource.name, query: queryOf(state) });
  const link = (label: string, reference: string | undefined) =>
    reference === undefined ? (
      <span class="button off">{label}</span>
    ) : (
      <a class="button" href={hashOfPage(list, reference)}>
        {label}
      </a>
    );
  return (
    <div class="pages-bar">
      <nav aria-label={texts.pages}>
        {link(texts.first, page.prev && page.first)}
        {link(texts.previous, page.prev)}
        {link(texts.next, page.next)}
      </nav>
      <span>{texts.shown(page.records.length)}</span>
      <Count key={JSON.stringify(selectionOf(state))} resource={resource} state={state} />
      <label>
        {texts.pageSize}{' '}
        <select value={state.limit} onChange={({ currentTarget }) => go({ limit: Number(currentTarget.value) })}>
          {PAGE_SIZES.map((size) => (
            <option key={size} value={size}>
              {size}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

/** Counting reads all records that match, so it waits for a click. */
function Count({ resource, state }: { readonly resource: Resource; readonly state: ListState }): JSX.Element {
  const { api } = useConsole();
  const [total, setTotal] = useState<number>();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const count = async () => {
    setBusy(true);
    setProblem(undefined);
    const query = queryOf({ ...state, cursor: undefined });
    query.set('limit', '1');
    await api
      .collection(resource)
      .page(`${resource.path}?${query}`, { count: true })
      .then((found) => setTotal(found.total), setProblem);
    setBusy(false);
  };
  if (total !== undefined) return <span role="status">{texts.total(numberText(total), total === 1)}</span>;
  return (
    <>
      <Button busy={isBusy} onClick={() => void count()}>
        {isBusy ? texts.counting : texts.count}
      </Button>
      {problem !== undefined && <ErrorNotice error={problem} />}
    </>
  );
}
