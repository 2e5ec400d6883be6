import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../components/button.js';
import { TextField } from '../components/field.js';
import { isKeyed } from '../components/filter-panel.js';
import { ErrorNotice } from '../components/notice.js';
import { useConsole } from '../context.js';
import type { Filter, ListState } from '../list-query.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, Resource } from '../types.js';
import { useLoad } from '../use-load.js';
import { FacetPanel, isAlone, type PanelView } from './facet-panel.js';
import { attributeKeys, type FacetField, facetName, facetRequests } from './facet-query.js';
import { PricePanel } from './price-panel.js';
import { pricesOf } from './price-ranges.js';

const { facets: texts } = TEXTS;

/** The values of a panel at first. */
const FIRST = 10;
/** Counts that took longer, or failed, are not made anew after every change of others. */
const SLOW_MS = 1_000;
const CLOSED: PanelView = { isOpen: false, isLong: false, prefix: '' };

interface FacetsProps {
  readonly resource: Resource;
  readonly state: ListState;
  readonly records: readonly CatalogueRecord[];
  /** How often something changed since the list was opened. */
  readonly news: number;
  /** Whether the list says already that its filters or the service fail. */
  readonly isFailureSaid: boolean;
  onChoose(filters: readonly Filter[]): void;
}

/** The values of the fields beside a list, with counts: one request for all panels but those of closed attributes. */
export function Facets({ resource, state, records, news, isFailureSaid, onChoose }: FacetsProps): JSX.Element {
  const { api } = useConsole();
  const shownKeys = useRef<readonly string[]>([]);
  const [views, setViews] = useState<Readonly<Record<string, PanelView>>>(() => firstViews(resource));
  const keyed = resource.facets.find((name) => isKeyed(resource.filters, name));
  const plain = resource.facets.filter((name) => name !== keyed).map((field) => ({ field, key: '' }));
  if (keyed !== undefined) shownKeys.current = attributeKeys(keyed, records, state.filters, shownKeys.current);
  const attributes = shownKeys.current.map((key) => ({ field: keyed ?? '', key }));
  const viewOf = (of: FacetField) => views[facetName(of)] ?? CLOSED;
  const change = (of: FacetField, part: Partial<PanelView>) =>
    setViews((all) => ({ ...all, [facetName(of)]: { ...(all[facetName(of)] ?? CLOSED), ...part } }));
  // Closed panels of fields are read too, because those without values are not shown.
  const together = [...plain, ...attributes].filter(
    (of) => (of.key === '' || viewOf(of).isOpen) && !isAlone(viewOf(of)),
  );
  const lastTookMs = useRef(0);
  /** The news that the counts take in. */
  const counted = useRef(news);
  if (lastTookMs.current < SLOW_MS) counted.current = news;
  const requests = facetRequests(resource, state, together, { limit: FIRST });
  const { value, error, isLoading, reload } = useLoad(JSON.stringify([requests, counted.current]), async (signal) => {
    const startedAt = performance.now();
    lastTookMs.current = Number.POSITIVE_INFINITY;
    const facets = [];
    for (const one of requests) facets.push(...(await api.collection(resource).facets(one, { signal })).facets);
    lastTookMs.current = performance.now() - startedAt;
    return new Map(facets.map((facet) => [facet.field, facet]));
  });
  const countAgain = () => {
    counted.current = news;
    reload();
  };
  useEffect(() => {
    // What failed for its key goes on with the new one.
    if (error !== undefined) countAgain();
  }, [api]);
  // Under an error, counts of another query would look like those of this one.
  const found = error === undefined ? value : undefined;
  const panel = (of: FacetField) => (
    <FacetPanel
      key={facetName(of)}
      {...{ resource, state, of, onChoose }}
      news={counted.current}
      view={viewOf(of)}
      found={found?.get(facetName(of))}
      isLoading={isLoading}
      onView={(part) => change(of, part)}
    />
  );
  return (
    <>
      {error !== undefined && !isFailureSaid && <ErrorNotice error={error} title={texts.failed} onRetry={countAgain} />}
      {counted.current !== news && !isLoading && (
        <Button kind="link" onClick={countAgain}>
          {texts.countAgain}
        </Button>
      )}
      {inOrder(resource, plain).map(panel)}
      {pricesOf(resource)
        .filter(({ currency }) => found?.get(currency)?.values.length !== 0)
        .map((prices) => (
          <PricePanel key={prices.name} {...{ resource, state, prices, news, onChoose }} />
        ))}
      {attributes.map(panel)}
      {keyed !== undefined && (
        <NewKey
          onAdd={(key) => {
            shownKeys.current = [key, ...shownKeys.current.filter((one) => one !== key)];
            change({ field: keyed, key }, { isOpen: true });
          }}
        />
      )}
    </>
  );
}

/** Fields with many values first, then those of a few fixed values, then parts of fields. */
function inOrder(resource: Resource, fields: readonly FacetField[]): readonly FacetField[] {
  const rank = ({ field }: FacetField) => {
    const found = resource.fields.find(({ name }) => name === field);
    return found ? Number(found.schema.enum !== undefined) : 2;
  };
  return [...fields].sort((one, other) => rank(one) - rank(other));
}

/** At first those panels are open whose values most people look for, where there is room. */
function firstViews({ facets, fields }: Resource): Readonly<Record<string, PanelView>> {
  const isOpen = (name: string) => fields.some((one) => one.name === name && one.meaning !== 'variants');
  const names = matchMedia('(min-width: 40rem)').matches ? facets.filter(isOpen) : [];
  return Object.fromEntries(names.map((name) => [name, { ...CLOSED, isOpen: true }]));
}

/** Adds a panel for an attribute that the records of the page do not have. */
function NewKey({ onAdd }: { onAdd(key: string): void }): JSX.Element {
  const [key, setKey] = useState('');
  const isWrong = key.includes(',');
  const submit = (event: Event) => {
    event.preventDefault();
    if (key === '' || isWrong) return;
    onAdd(key);
    setKey('');
  };
  return (
    <form class="with-button" onSubmit={submit}>
      <TextField
        label={texts.key}
        isLabelHidden
        error={isWrong ? texts.noComma : undefined}
        placeholder={texts.key}
        spellcheck={false}
        value={key}
        onType={setKey}
      />
      <Button submit>{texts.addKey}</Button>
    </form>
  );
}
