import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Choice } from '../components/field.js';
import { ErrorNotice } from '../components/notice.js';
import { useConsole } from '../context.js';
import { isPrice, labelOf, priceText } from '../formats.js';
import { type Filter, type ListState, selectionOf } from '../list-query.js';
import { TEXTS } from '../texts.js';
import type { Api, Resource } from '../types.js';
import { useLoad } from '../use-load.js';
import { Panel, ValueList } from './facet-panel.js';
import { chosenValues, facetRequests } from './facet-query.js';
import {
  chosenRange,
  filtersOfRange,
  firstRequest,
  isChosen,
  isOpenRange,
  ofCurrency,
  type PriceFields,
  priceRanges,
  toggledRange,
} from './price-ranges.js';
import { useValues } from './use-values.js';

const { facets: texts } = TEXTS;

/** The most currencies to choose from. */
const MOST_CURRENCIES = 20;

interface PricePanelProps {
  readonly resource: Resource;
  readonly state: ListState;
  readonly prices: PriceFields;
  /** How often others changed something. */
  readonly news: number;
  onChoose(filters: readonly Filter[]): void;
}

/** The numbers of records by ranges of their prices. Each range costs a request, so they are counted when it is open. */
export function PricePanel(props: PricePanelProps): JSX.Element {
  const { state, prices } = props;
  const [isOpen, setOpen] = useState(false);
  const note = isOpenRange(chosenRange(state.filters, prices)) ? 0 : 1;
  return (
    <Panel label={texts.ranges(labelOf(prices.name))} note={note} isOpen={isOpen} onOpen={setOpen}>
      <Ranges {...props} />
    </Panel>
  );
}

function Ranges({ resource, state, prices, news, onChoose }: PricePanelProps): JSX.Element {
  const { api } = useConsole();
  const [picked, setPicked] = useState<string>();
  const counted = { field: prices.currency, key: '' };
  const anyAmount = { ...state, filters: state.filters.filter(({ field }) => field !== prices.amount) };
  const [request = ''] = facetRequests(resource, anyAmount, [counted], { limit: MOST_CURRENCIES });
  const currencies = useValues(resource, request);
  const found = currencies.value?.counts.map(({ value }) => String(value)) ?? [];
  const [named, another] = chosenValues(state.filters, counted);
  const currency = (another === undefined ? named : undefined) ?? picked ?? found[0] ?? '';
  const shown = ofCurrency(state, prices, currency);
  const ranges = useLoad(JSON.stringify([currency, selectionOf(shown)]), async (signal) => ({
    news,
    counts: currency === '' ? undefined : await countedRanges(api, resource, shown, prices, currency, signal),
  }));
  const failed = [currencies, ranges].find(({ error }) => error !== undefined);
  if (failed) return <ErrorNotice error={failed.error} title={texts.failed} onRetry={failed.reload} />;
  const isLoading = currencies.isLoading || ranges.isLoading;
  const { counts, news: readAt } = ranges.value ?? { counts: undefined, news };
  const choices = [...new Set([currency, ...found])].filter(Boolean);
  const chosen = chosenRange(state.filters, prices);
  const most = Math.max(1, ...(counts ?? []).map(({ count }) => count));
  const money = (amount: number) => priceText({ amount, currency });
  return (
    <>
      {choices.length > 1 && (
        <Choice
          label={texts.currency}
          isLabelHidden
          value={currency}
          options={choices.map((one) => [one, one])}
          onChoose={(one) => {
            setPicked(one);
            const others = state.filters.filter(({ field }) => !field.startsWith(`${prices.name}.`));
            if (others.length < state.filters.length) onChoose(others);
          }}
        />
      )}
      <ValueList
        label={texts.rangesTitle(resource.title, currency)}
        none={texts.none}
        isLoading={isLoading}
        rows={counts?.map(({ count, ...range }) => ({
          text: String(range.from),
          label: texts.range(money(range.from), money(range.below)),
          count,
          share: count / most,
          isChosen: isChosen(chosen, range),
        }))}
        onToggle={(from) => {
          const range = counts?.find((one) => String(one.from) === from);
          if (range) onChoose(filtersOfRange(state, prices, currency, toggledRange(chosen, range)));
        }}
      />
      {readAt !== news && !isLoading && (
        <Button kind="link" onClick={ranges.reload}>
          {texts.countAgain}
        </Button>
      )}
    </>
  );
}

/** Counts two ranges at a time: a service bounds what one client asks for at once. */
async function countedRanges(
  api: Api,
  resource: Resource,
  state: ListState,
  prices: PriceFields,
  currency: string,
  signal: AbortSignal,
) {
  const collection = api.collection(resource);
  const endOf = async (sort: string) => {
    const { records } = await collection.page(firstRequest(resource, { ...state, sort }, prices.name), { signal });
    const price = records[0]?.[prices.name];
    return isPrice(price) ? price.amount : undefined;
  };
  const [lowest, highest] = await Promise.all([endOf(prices.amount), endOf(`-${prices.amount}`)]);
  if (lowest === undefined || highest === undefined) return [];
  const ranges = priceRanges(lowest, highest);
  const counts: number[] = [];
  const waiting = ranges.entries();
  const count = async () => {
    for (const [at, range] of waiting) {
      const filters = filtersOfRange(state, prices, currency, range);
      const request = firstRequest(resource, { ...state, filters }, 'id');
      counts[at] = (await collection.page(request, { count: true, signal })).total ?? 0;
    }
  };
  await Promise.all([count(), count()]);
  return ranges.map((range, at) => ({ ...range, count: counts[at] ?? 0 }));
}
