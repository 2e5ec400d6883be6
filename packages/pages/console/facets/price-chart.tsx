import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Choice } from '../components/choice.js';
import { ErrorNotice } from '../components/notice.js';
import { useConsole } from '../context.js';
import { isPrice, labelOf } from '../formats.js';
import { type Filter, type ListState, selectionOf } from '../list-query.js';
import { TEXTS } from '../texts.js';
import type { Api, Resource } from '../types.js';
import { useLoad } from '../use-load.js';
import { Panel } from './facet-panel.js';
import { chosenValues, facetRequests } from './facet-query.js';
import { PriceBars } from './price-bars.js';
import {
  type CountedRange,
  chartState,
  chosenRange,
  filtersOfRange,
  firstRequest,
  type PriceFields,
  priceRanges,
} from './price-ranges.js';

const { facets: texts } = TEXTS;

/** The most currencies to choose from. */
const MOST_CURRENCIES = 20;

interface PriceChartProps {
  readonly resource: Resource;
  readonly state: ListState;
  readonly prices: PriceFields;
  /** How often others changed something. */
  readonly news: number;
  onChoose(filters: readonly Filter[]): void;
}

/** The numbers of records by ranges of their prices. Each range costs a request, so they are counted when it is open. */
export function PriceChart(props: PriceChartProps): JSX.Element {
  const { state, prices } = props;
  const [isOpen, setOpen] = useState(false);
  const { from, below } = chosenRange(state.filters, prices);
  const note = from === undefined && below === undefined ? 0 : 1;
  return (
    <Panel label={texts.chart(labelOf(prices.name))} note={note} isOpen={isOpen} onOpen={setOpen}>
      <OpenChart {...props} />
    </Panel>
  );
}

function OpenChart({ resource, state, prices, news, onChoose }: PriceChartProps): JSX.Element {
  const { api } = useConsole();
  const [picked, setPicked] = useState<string>();
  const ofCurrency = { field: prices.currency, key: '' };
  const anyAmount = { ...state, filters: state.filters.filter(({ field }) => field !== prices.amount) };
  const [request = ''] = facetRequests(resource, anyAmount, [ofCurrency], { limit: MOST_CURRENCIES });
  const currencies = useLoad(request, async (signal) => {
    const { facets } = await api.collection(resource).facets(request, { signal });
    return (facets[0]?.values ?? []).map(({ value }) => String(value));
  });
  const [named, another] = chosenValues(state.filters, ofCurrency);
  const [most] = currencies.value ?? [];
  const currency = (another === undefined ? named : undefined) ?? picked ?? most;
  const shown = chartState(state, prices, currency ?? '');
  const chart = useLoad(JSON.stringify([currency, selectionOf(shown)]), async (signal) => ({
    news,
    ranges: currency === undefined ? [] : await countedRanges(api, resource, shown, prices, currency, signal),
  }));
  const failed = [currencies, chart].find(({ error }) => error !== undefined);
  if (failed) return <ErrorNotice error={failed.error} title={texts.failed} onRetry={failed.reload} />;
  const isLoading = currencies.isLoading || chart.isLoading;
  const { ranges, news: readAt } = chart.value ?? { ranges: [], news };
  const choices = [...new Set([...(currency === undefined ? [] : [currency]), ...(currencies.value ?? [])])];
  return (
    <div aria-busy={isLoading}>
      {choices.length > 1 && (
        <Choice
          label={texts.currency}
          isLabelHidden
          value={currency ?? ''}
          options={choices.map((one) => [one, one])}
          onChoose={(one) => {
            setPicked(one);
            const others = state.filters.filter(({ field }) => !field.startsWith(`${prices.name}.`));
            if (others.length < state.filters.length) onChoose(others);
          }}
        />
      )}
      {ranges.length === 0 && <p class="note">{isLoading ? TEXTS.list.loading : texts.none}</p>}
      {ranges.length > 0 && currency !== undefined && (
        <PriceBars
          {...{ ranges, currency }}
          title={texts.chartTitle(resource.title, currency)}
          chosen={chosenRange(state.filters, prices)}
          onChoose={(range) => onChoose(filtersOfRange(state, prices, currency, range))}
        />
      )}
      {readAt !== news && !isLoading && (
        <Button kind="link" onClick={chart.reload}>
          {texts.countAgain}
        </Button>
      )}
    </div>
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
): Promise<readonly CountedRange[]> {
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
