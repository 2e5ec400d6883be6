import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Page } from '#packages/client/index.js';
import { useConsole } from '../context.js';
import { numberText } from '../formats.js';
import { type ListState, PAGE_SIZES, queryOf, selectionOf } from '../list-query.js';
import { hashOfList, hashOfPage } from '../router.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, Resource } from '../types.js';
import { useAction } from '../use-load.js';
import { Button } from './button.js';
import { Select } from './field.js';
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
  const list = hashOfList(resource.name, queryOf(state));
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
      <span>
        <label for="page-size">{texts.pageSize}</label>{' '}
        <Select
          id="page-size"
          value={state.limit}
          options={PAGE_SIZES.map((size) => [`${size}`, `${size}`])}
          onChoose={(size) => go({ limit: Number(size) })}
        />
      </span>
    </div>
  );
}

/** Counting reads all records that match, so it waits for a click. */
function Count({ resource, state }: { readonly resource: Resource; readonly state: ListState }): JSX.Element {
  const { api } = useConsole();
  const [total, setTotal] = useState<number>();
  const { run, isBusy, problem } = useAction(async () => {
    const query = queryOf({ ...state, cursor: undefined });
    query.set('limit', '1');
    const found = await api.collection(resource).page(`${resource.path}?${query}`, { count: true });
    setTotal(found.total);
  });
  if (total !== undefined) return <span role="status">{texts.total(numberText(total), total === 1)}</span>;
  return (
    <>
      <Button busy={isBusy} onClick={run}>
        {isBusy ? texts.counting : texts.count}
      </Button>
      {problem !== undefined && <ErrorNotice error={problem} />}
    </>
  );
}
