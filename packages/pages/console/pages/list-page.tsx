import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { CatalogueError } from '#packages/client/index.js';
import { BulkBar } from '../bulk/bulk-bar.js';
import { Button } from '../components/button.js';
import { ChoiceFilters, choiceFields } from '../components/choice-filters.js';
import { useColumns, ViewMenu } from '../components/column-menu.js';
import { TextField } from '../components/field.js';
import { FilterPanel, isKeyed } from '../components/filter-panel.js';
import { NewsLine } from '../components/news-line.js';
import { ErrorNotice } from '../components/notice.js';
import { PagesBar, useTotal } from '../components/pages-bar.js';
import { RecordsTable } from '../components/records-table.js';
import { usePlace } from '../components/use-place.js';
import { textLinks } from '../components/value.js';
import { useConsole } from '../context.js';
import { Panel } from '../facets/facet-panel.js';
import { Facets } from '../facets/facets.js';
import { type Filter, type ListState, queryOf, selectionOf, stateOf } from '../list-query.js';
import { useLiveList } from '../live/use-live-list.js';
import { prefer, preferred } from '../preferences.js';
import { hashOf, hashOfList } from '../router.js';
import { useSelection } from '../selection.js';
import { TEXTS } from '../texts.js';
import { ExportButton } from '../transfer/export-button.js';
import type { Resource, Field as ResourceField } from '../types.js';
import { useLoad } from '../use-load.js';
import { FirstVisit } from './first-visit.js';

const { list: texts, filters: filterTexts } = TEXTS;

/** The preference whether lists have filters beside them. */
const SIDE = 'filters';
/** Filters have a place beside a list. In a narrower window they are there when the person wants them. */
const HAS_PLACE = '(min-width: 70rem)';

interface ListPageProps {
  readonly resource: Resource;
  readonly query: URLSearchParams;
}

/** The records of a resource. The URL holds all that is shown, so that reloading and going back show the same. */
export function ListPage({ resource, query }: ListPageProps): JSX.Element {
  const { api, navigate, follower } = useConsole();
  const state = useMemo(() => stateOf(query, resource.filters), [query.toString(), resource]);
  const matching = selectionOf(state);
  const { sort: _, ...where } = matching;
  const selection = useSelection(JSON.stringify([resource.path, where]));
  const mayWrite = api.mayWrite(resource);
  const isSelectable = resource.importMatches.includes('id') && mayWrite;
  const [columns, chooseColumns] = useColumns(resource);
  const hasFacets = resource.facets.length > 0;
  const [isSideOpen, setSideOpen] = useState(() => {
    if (!hasFacets) return state.filters.length > 0;
    return (preferred(SIDE) ?? (matchMedia(HAS_PLACE).matches ? 'on' : 'off')) === 'on';
  });
  const [areMoreOpen, setMoreOpen] = useState(() => !hasFacets || state.filters.some((one) => !isFacet(resource, one)));
  const toggleSide = () => {
    if (hasFacets) prefer(SIDE, isSideOpen ? 'off' : 'on');
    setSideOpen(!isSideOpen);
  };
  const { distinct } = resource;
  const shown = distinct && state.distinct !== undefined ? [...columns, distinct.variants] : columns;
  const request = requestOf(resource, state, shown);
  const {
    value,
    error,
    isLoading,
    reload: readAgain,
  } = useLoad(request, (signal) =>
    follower.begin(resource, signal).then(() => api.collection(resource).page(request, { signal })),
  );
  /** How often the person's own changes, which are no news, made the list be read again. */
  const [reloads, setReloads] = useState(0);
  const reload = () => {
    setReloads((count) => count + 1);
    readAgain();
  };
  useEffect(() => {
    // A list that failed for its key goes on with the new one.
    if (error !== undefined) reload();
  }, [api]);
  // Under a refusal of this query, the records of the last one would look like its result.
  const isRefused = error instanceof CatalogueError && error.status === 400;
  const page = isRefused ? undefined : value;
  const total = useTotal(resource, matching, isLoading || error !== undefined ? undefined : page);
  const go = (part: Partial<ListState>) => {
    const next = queryOf({ ...state, cursor: undefined, ...part });
    navigate({ page: 'list', resource: resource.name, query: next });
  };
  const filter = (filters: readonly Filter[]) => go({ filters });
  const hash = hashOfList(resource.name, queryOf(state));
  const root = usePlace(resource.name, hash, isLoading ? undefined : page);
  const isWhole = Object.keys(matching).every((name) => name === 'sort');
  const [live, markNew, news] = useLiveList({ resource, page, isLoading, request, isWhole });
  const isEmpty = page?.records.length === 0 && isWhole && state.cursor === undefined;
  const hasSide = isSideOpen && !isEmpty;
  // One click on a choice removes it again.
  const isChoice = ({ field }: Filter) => choiceFields(resource).some(({ name }) => name === field);
  const isPlain = state.words === '' && state.distinct === undefined && state.filters.every(isChoice);
  const clear = () => go({ words: '', filters: [], distinct: undefined });
  return (
    <div class="list" ref={root}>
      <div class="heading">
        <h1>{resource.title}</h1>
        {page && resource.hasChanges && (
          <NewsLine
            list={live}
            onShow={() => {
              markNew();
              reload();
            }}
            onShowNewest={() => {
              markNew();
              go({ sort: '-id' });
            }}
          />
        )}
        {!isEmpty && (
          <div class="actions">
            {resource.canImport && mayWrite && (
              <a class="button" href={hashOf({ page: 'import', resource: resource.name })}>
                {texts.import}
              </a>
            )}
            {resource.exportTypes.length > 0 && !isRefused && <ExportButton resource={resource} query={matching} />}
            {resource.canCreate && mayWrite && <NewLink resource={resource} />}
          </div>
        )}
      </div>
      <div class="toolbar" hidden={isEmpty}>
        {resource.isSearchable && (
          <Search
            key={state.words}
            hint={texts.searchHints[resource.name]}
            words={state.words}
            onSearch={(words) => go({ words })}
          />
        )}
        {resource.filters.length > 0 && (
          <Button aria-expanded={isSideOpen} onClick={toggleSide}>
            {filterTexts.button(state.filters.length)}
          </Button>
        )}
        <ViewMenu {...{ resource, state, columns, chooseColumns, go }} />
        {!isPlain && (
          <Button kind="link" onClick={clear}>
            {texts.clear}
          </Button>
        )}
        <ChoiceFilters resource={resource} filters={state.filters} onChoose={filter} />
      </div>
      {error !== undefined && <ErrorNotice error={error} onRetry={reload} />}
      <p class="hidden" role="status">
        {isLoading ? texts.loading : page && texts.loaded(page.records.length)}
      </p>
      {!page && isLoading && <p class="note">{texts.loading}</p>}
      <div class={`results ${hasSide ? 'with-side' : ''}`}>
        {hasSide && (
          <section class="side-bar" aria-label={filterTexts.title}>
            {hasFacets && page && (
              <Facets
                {...{ resource, state }}
                news={news + reloads}
                records={page.records}
                isFailureSaid={error !== undefined}
                onChoose={filter}
              />
            )}
            <Panel label={filterTexts.more} isOpen={areMoreOpen} onOpen={setMoreOpen}>
              <FilterPanel
                key={JSON.stringify(state.filters)}
                fields={resource.filters}
                applied={state.filters}
                errors={errorsOf(error)}
                onApply={filter}
              />
            </Panel>
          </section>
        )}
        <div>
          {page && page.records.length > 0 && (
            <RecordsTable
              {...{ resource, columns: shown, sort: state.sort, records: live.records, marks: live.marks }}
              isBusy={isLoading}
              onSort={(sort) => go({ sort })}
              hrefOf={textLinks(resource, state)}
              selection={isSelectable ? selection : undefined}
            />
          )}
          {page?.records.length === 0 && !isLoading && (
            <Empty
              {...{ resource, isSelected: !isWhole, isFirst: state.cursor === undefined, clear, reload }}
              goFirst={() => go({})}
            />
          )}
          {page && page.records.length > 0 && <PagesBar {...{ resource, state, page, total, go }} />}
          {page && isSelectable && (
            <BulkBar
              key={JSON.stringify(where)}
              {...{ resource, selection, page, reload }}
              query={matching}
              total={total.count}
            />
          )}
        </div>
      </div>
    </div>
  );
}

/** Whether the values of a field that a filter is about are shown with their counts, so that it is seen there. */
function isFacet({ facets }: Resource, { field, operator }: Filter): boolean {
  return facets.includes(field) && /^(equals|in)$/.test(operator);
}

/** The first request of a list, with only the fields that it shows, and those whose keys the side bar shows. */
function requestOf(
  { path, hasChanges, facets, filters }: Resource,
  state: ListState,
  columns: readonly ResourceField[],
): string {
  const parameters = queryOf(state);
  parameters.delete('start');
  parameters.set('limit', String(state.limit));
  const keyed = facets.filter((name) => isKeyed(filters, name));
  const names = ['id', ...columns.map(({ name }) => name), ...keyed, ...(hasChanges ? ['version'] : [])];
  parameters.set('fields', [...new Set(names)].join(','));
  return `${path}?${parameters}`;
}

/** What the service says about each parameter. */
function errorsOf(error: unknown): ReadonlyMap<string, string> {
  const details = error instanceof CatalogueError ? error.details : [];
  return new Map(details.flatMap((detail) => ('name' in detail && detail.name ? [[detail.name, detail.message]] : [])));
}

interface SearchProps {
  /** What is searched. */
  readonly hint: string | undefined;
  readonly words: string;
  onSearch(words: string): void;
}

function Search({ hint, words, onSearch }: SearchProps): JSX.Element {
  const [text, setText] = useState(words);
  const submit = (event: Event) => {
    event.preventDefault();
    onSearch(text);
  };
  return (
    <search>
      <form onSubmit={submit}>
        <TextField label={texts.search} isLabelHidden type="search" placeholder={hint} value={text} onType={setText} />
      </form>
    </search>
  );
}

/** On a phone only its first word is seen. */
function NewLink({ resource: { name, singular } }: Pick<ListPageProps, 'resource'>): JSX.Element {
  return (
    <a class="button primary" href={hashOf({ page: 'new', resource: name })}>
      {texts.new} <span class="on-wide">{singular}</span>
    </a>
  );
}

interface EmptyProps {
  readonly resource: Resource;
  readonly isSelected: boolean;
  readonly isFirst: boolean;
  clear(): void;
  reload(): void;
  goFirst(): void;
}

function Empty({ resource, isSelected, isFirst, clear, reload, goFirst }: EmptyProps): JSX.Element {
  const { api } = useConsole();
  if (!isFirst)
    return (
      <div class="empty">
        <p>{texts.noMatchPage}</p>
        <Button onClick={goFirst}>{texts.goFirst}</Button>
      </div>
    );
  if (!isSelected && resource.canImport && api.mayWrite(resource))
    return <FirstVisit resource={resource} onFilled={reload} />;
  return (
    <div class="empty">
      <h2>{isSelected ? texts.noMatchTitle : TEXTS.firstVisit.title(resource.title)}</h2>
      {isSelected && <p>{texts.noMatch}</p>}
      {!isSelected && resource.canCreate && api.mayWrite(resource) && <NewLink resource={resource} />}
      {isSelected && <Button onClick={clear}>{texts.clear}</Button>}
    </div>
  );
}
