import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { CatalogueError, type Page } from 'product-catalogue-client';
import { Button } from '../components/button.js';
import { ExportButton } from '../components/export-button.js';
import { Field } from '../components/field.js';
import { FilterPanel } from '../components/filter-panel.js';
import { Menu } from '../components/menu.js';
import { ErrorNotice } from '../components/notice.js';
import { RecordsTable } from '../components/records-table.js';
import { useConsole } from '../context.js';
import { labelOf, numberText } from '../formats.js';
import { type ListState, PAGE_SIZES, queryOf, selectionOf, stateOf } from '../list-query.js';
import { prefer, preferred } from '../preferences.js';
import { hashOf } from '../router.js';
import type { CatalogueRecord, DeletionQueue, Resource, Field as ResourceField } from '../seams.js';
import { TEXTS } from '../texts.js';
import { useLoad } from '../use-load.js';

const { list: texts, columns: columnTexts, filters: filterTexts } = TEXTS;

interface ListPageProps {
  readonly resource: Resource;
  readonly query: URLSearchParams;
}

/** The records of a resource. The URL holds everything that is shown, so that reloading and going back show the same. */
export function ListPage({ resource, query }: ListPageProps): JSX.Element {
  const { api, navigate, deletions } = useConsole();
  const state = useMemo(() => stateOf(query, resource.filters), [query.toString(), resource]);
  const selection = selectionOf(state);
  const [columns, chooseColumns] = useColumns(resource);
  const [areFiltersOpen, setFiltersOpen] = useState(state.filters.length > 0);
  useChanges(deletions);
  const request = requestOf(resource, state, columns);
  const { value, error, isLoading, reload } = useLoad(request, (signal) =>
    api.collection(resource).page(request, { signal }),
  );
  // Under a refusal of this query, the records of the last one would look like its result.
  const isRefused = error instanceof CatalogueError && error.status === 400;
  const page = isRefused ? undefined : value;
  const go = (part: Partial<ListState>) => {
    const next = queryOf({ ...state, cursor: undefined, ...part });
    navigate({ page: 'list', resource: resource.name, query: next });
  };
  const isSelected = Object.keys(selection).some((name) => name !== 'sort');
  const clear = () => go({ words: '', filters: [] });
  return (
    <>
      <div class="heading">
        <h1>{resource.title}</h1>
        <div class="actions">
          {resource.canImport && api.mayWrite(resource) && (
            <a class="button" href={hashOf({ page: 'import', resource: resource.name })}>
              {texts.import}
            </a>
          )}
          {resource.exportTypes.length > 0 && <ExportButton resource={resource} query={selection} />}
          {resource.canCreate && api.mayWrite(resource) && (
            <a class="button primary" href={hashOf({ page: 'new', resource: resource.name })}>
              {texts.new(resource.singular)}
            </a>
          )}
        </div>
      </div>
      <div class="toolbar">
        {resource.isSearchable && (
          <Search key={state.words} words={state.words} onSearch={(words) => go({ words })} />
        )}
        {resource.filters.length > 0 && (
          <Button aria-expanded={areFiltersOpen} onClick={() => setFiltersOpen(!areFiltersOpen)}>
            {filterTexts.button(state.filters.length)}
          </Button>
        )}
        <Columns {...{ resource, columns, chooseColumns }} />
        <SortChoice columns={columns} sort={state.sort} onSort={(sort) => go({ sort })} />
        {isSelected && (
          <Button kind="link" onClick={clear}>
            {texts.clear}
          </Button>
        )}
      </div>
      {areFiltersOpen && (
        <FilterPanel
          key={JSON.stringify(state.filters)}
          fields={resource.filters}
          applied={state.filters}
          errors={errorsOf(error)}
          onApply={(filters) => go({ filters })}
        />
      )}
      {error !== undefined && <ErrorNotice error={error} onRetry={reload} />}
      <p class="hidden" role="status">
        {isLoading ? texts.loading : page && texts.loaded(page.records.length)}
      </p>
      {!page && isLoading && <p class="note">{texts.loading}</p>}
      {page && page.records.length > 0 && (
        <RecordsTable
          {...{ resource, columns, sort: state.sort, records: page.records }}
          isBusy={isLoading}
          isWaiting={(id) => deletions.isWaiting(resource, id)}
          onSort={(sort) => go({ sort })}
        />
      )}
      {page?.records.length === 0 && !isLoading && (
        <Empty
          {...{ resource, isSelected, isFirst: state.cursor === undefined, clear, goFirst: () => go({}) }}
        />
      )}
      {page && <Pages {...{ resource, state, page, go }} />}
    </>
  );
}

/** The first request of a list, with only the fields that it shows. */
function requestOf({ path }: Resource, state: ListState, columns: readonly ResourceField[]): string {
  const parameters = queryOf(state);
  parameters.set('limit', String(state.limit));
  parameters.set('fields', [...new Set(['id', ...columns.map(({ name }) => name)])].join(','));
  return `${path}?${parameters}`;
}

/** What the service says about each parameter. */
function errorsOf(error: unknown): ReadonlyMap<string, string> {
  const details = error instanceof CatalogueError ? error.details : [];
  return new Map(
    details.flatMap((detail) => ('name' in detail && detail.name ? [[detail.name, detail.message]] : [])),
  );
}

/** Renders again after each change. */
function useChanges(queue: DeletionQueue): void {
  const [, setCount] = useState(0);
  useEffect(() => queue.subscribe(() => setCount((count) => count + 1)), [queue]);
}

/** Long texts and metadata are hidden until the person chooses them. */
const LONG = 1_000;

function useColumns(
  resource: Resource,
): [readonly ResourceField[], (names: readonly string[] | undefined) => void] {
  const name = `columns.${resource.name}`;
  const [chosen, setChosen] = useState(() => preferred(name)?.split(','));
  const isShown = (field: ResourceField) =>
    chosen ? chosen.includes(field.name) : !field.isMetadata && (field.schema.maxLength ?? 0) < LONG;
  const choose = (names: readonly string[] | undefined) => {
    prefer(name, names?.join(','));
    setChosen(names && [...names]);
  };
  return [resource.fields.filter(isShown), choose];
}

interface SearchProps {
  readonly words: string;
  onSearch(words: string): void;
}

function Search({ words, onSearch }: SearchProps): JSX.Element {
  const [text, setText] = useState(words);
  const submit = (event: Event) => {
    event.preventDefault();
    onSearch(text);
  };
  return (
    <search>
      <form onSubmit={submit}>
        <Field label={texts.search} isLabelHidden>
          {(control) => (
            <input
              {...control}
              type="search"
              placeholder={texts.searchHint}
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          )}
        </Field>
        <Button submit>{texts.search}</Button>
      </form>
    </search>
  );
}

interface ColumnsProps {
  readonly resource: Resource;
  readonly columns: readonly ResourceField[];
  chooseColumns(names: readonly string[] | undefined): void;
}

function Columns({ resource, columns, chooseColumns }: ColumnsProps): JSX.Element {
  const toggle = (name: string) => {
    const shown = columns.map((field) => field.name);
    const next = shown.includes(name) ? shown.filter((one) => one !== name) : [...shown, name];
    if (next.length > 0) chooseColumns(next);
  };
  return (
    <Menu label={columnTexts.button}>
      <fieldset class="checks">
        <legend>{columnTexts.title}</legend>
        {resource.fields.map((field) => (
          <label key={field.name}>
            <input type="checkbox" checked={columns.includes(field)} onChange={() => toggle(field.name)} />{' '}
            {labelOf(field.name)}
          </label>
        ))}
      </fieldset>
      <Button kind="link" onClick={() => chooseColumns(undefined)}>
        {columnTexts.reset}
      </Button>
    </Menu>
  );
}

interface SortChoiceProps {
  readonly columns: readonly ResourceField[];
  readonly sort: string;
  onSort(sort: string): void;
}

/** The order of the cards on a phone, where no headers can be clicked. */
function SortChoice({ columns, sort, onSort }: SortChoiceProps): JSX.Element {
  const names = columns.filter(({ isSortable }) => isSortable).map(({ name }) => name);
  return (
    <select
      class="sort-choice"
      aria-label={texts.sort}
      value={sort}
      onChange={({ currentTarget }) => onSort(currentTarget.value)}
    >
      <option value="">{texts.unsorted}</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {texts.sortBy(labelOf(name), false)}
        </option>
      ))}
      {names.map((name) => (
        <option key={name} value={`-${name}`}>
          {texts.sortBy(labelOf(name), true)}
        </option>
      ))}
    </select>
  );
}

interface EmptyProps {
  readonly resource: Resource;
  readonly isSelected: boolean;
  readonly isFirst: boolean;
  clear(): void;
  goFirst(): void;
}

function Empty({ resource, isSelected, isFirst, clear, goFirst }: EmptyProps): JSX.Element {
  const { api } = useConsole();
  if (!isFirst)
    return (
      <div class="empty">
        <p>{texts.noMatchPage}</p>
        <Button onClick={goFirst}>{texts.goFirst}</Button>
      </div>
    );
  return (
    <div class="empty">
      <h2>{isSelected ? texts.noMatchTitle : texts.emptyTitle}</h2>
      <p>{isSelected ? texts.noMatch : api.mayWrite(resource) ? texts.empty : texts.emptyReadOnly}</p>
      {isSelected && <Button onClick={clear}>{texts.clear}</Button>}
    </div>
  );
}

interface PagesProps {
  readonly resource: Resource;
  readonly state: ListState;
  readonly page: Page<CatalogueRecord>;
  go(part: Partial<ListState>): void;
}

/** The pages by the links of the service, the size of a page, and the number of all records, counted when asked. */
function Pages({ resource, state, page, go }: PagesProps): JSX.Element {
  const link = (label: string, reference: string | undefined) =>
    reference === undefined ? (
      <span class="button off">{label}</span>
    ) : (
      <a class="button" href={pageHash(resource, state, reference)}>
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
        <select
          value={state.limit}
          onChange={({ currentTarget }) => go({ limit: Number(currentTarget.value) })}
        >
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

/** The page of the console for a link of the service. */
function pageHash({ name }: Resource, state: ListState, reference: string): string {
  const cursor = new URL(reference, location.href).searchParams.get('cursor') ?? undefined;
  return hashOf({ page: 'list', resource: name, query: queryOf({ ...state, cursor }) });
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
    const query = new URLSearchParams({ ...selectionOf(state), limit: '1' });
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
