import type { JSX, TargetedPointerEvent } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../components/button.js';
import { Choice } from '../components/field.js';
import { ErrorNotice } from '../components/notice.js';
import { useConsole } from '../context.js';
import { isPrice, labelOf, numberText, priceText } from '../formats.js';
import { type Filter, type ListState, selectionOf } from '../list-query.js';
import { TEXTS } from '../texts.js';
import type { Api, Resource } from '../types.js';
import { useLoad } from '../use-load.js';
import { Panel } from './facet-panel.js';
import { chosenValues, facetRequests } from './facet-query.js';
import {
  type ChosenRange,
  type CountedRange,
  chartState,
  chosenRange,
  filtersOfRange,
  firstRequest,
  type PriceFields,
  type PriceRange,
  priceRanges,
} from './price-ranges.js';
import { useValues } from './use-values.js';

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
  const currencies = useValues(resource, request);
  const found = currencies.value?.counts.map(({ value }) => String(value)) ?? [];
  const [named, another] = chosenValues(state.filters, ofCurrency);
  const currency = (another === undefined ? named : undefined) ?? picked ?? found[0];
  const shown = chartState(state, prices, currency ?? '');
  const chart = useLoad(JSON.stringify([currency, selectionOf(shown)]), async (signal) => ({
    news,
    ranges: currency === undefined ? [] : await countedRanges(api, resource, shown, prices, currency, signal),
  }));
  const failed = [currencies, chart].find(({ error }) => error !== undefined);
  if (failed) return <ErrorNotice error={failed.error} title={texts.failed} onRetry={failed.reload} />;
  const isLoading = currencies.isLoading || chart.isLoading;
  const { ranges, news: readAt } = chart.value ?? { ranges: [], news };
  const choices = [...new Set([...(currency === undefined ? [] : [currency]), ...found])];
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

const NO_LIMITS: ChosenRange = { from: undefined, below: undefined };

/** In units of the picture, which grows with the panel. */
const [WIDTH, HEIGHT, GAP] = [240, 80, 2];

interface PriceBarsProps {
  readonly title: string;
  readonly ranges: readonly CountedRange[];
  readonly currency: string;
  readonly chosen: ChosenRange;
  onChoose(range: ChosenRange): void;
}

/** The picture for pointers, two lists of limits for the keyboard, and a table for those who do not see it. */
function PriceBars({ title, ranges, currency, chosen, onChoose }: PriceBarsProps): JSX.Element {
  /** The bar on which the pointer went down, and the one on which it is. */
  const [drag, setDrag] = useState<readonly [number, number]>();
  const most = scaleEnd(Math.max(...ranges.map(({ count }) => count)));
  const money = (amount: number) => priceText({ amount, currency });
  const width = WIDTH / ranges.length;
  const barAt = ({ clientX, currentTarget }: TargetedPointerEvent<SVGSVGElement>) => {
    const { left, width: size } = currentTarget.getBoundingClientRect();
    const at = Math.floor(((clientX - left) / size) * ranges.length);
    return Math.min(Math.max(at, 0), ranges.length - 1);
  };
  const rangeOf = ([one, other]: readonly [number, number]): PriceRange => ({
    from: ranges[Math.min(one, other)]?.from ?? 0,
    below: ranges[Math.max(one, other)]?.below ?? 0,
  });
  const shown = drag ? rangeOf(drag) : chosen;
  const isShown = ({ from, below }: PriceRange) =>
    from < (shown.below ?? Number.POSITIVE_INFINITY) && below > (shown.from ?? 0);
  const choose = (range: PriceRange) => {
    const isChosen = range.from === chosen.from && range.below === chosen.below;
    onChoose(isChosen ? NO_LIMITS : range);
  };
  const optionOf = (amount: number): [string, string] => [String(amount), money(amount)];
  const [first, last] = [ranges[0], ranges.at(-1)];
  const limit = (end: 'from' | 'below') => {
    const limits = new Set([...ranges.map((range) => range[end]), chosen[end] ?? []].flat());
    return (
      <Choice
        label={texts.limits[end]}
        value={String(chosen[end] ?? '')}
        options={[['', texts.any], ...[...limits].sort((one, other) => one - other).map(optionOf)]}
        onChoose={(value) => {
          const next = { ...chosen, [end]: value === '' ? undefined : Number(value) };
          const isEmpty = Number(next.from ?? 0) >= (next.below ?? Number.POSITIVE_INFINITY);
          onChoose(isEmpty ? { ...NO_LIMITS, [end]: next[end] } : next);
        }}
      />
    );
  };
  return (
    <>
      <div class="chart-scale">
        <svg
          class="chart"
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            setDrag([barAt(event), barAt(event)]);
          }}
          onPointerMove={(event) => drag && setDrag([drag[0], barAt(event)])}
          onPointerCancel={() => setDrag(undefined)}
          onPointerUp={() => {
            setDrag(undefined);
            if (drag) choose(rangeOf(drag));
          }}
        >
          {[0.5, HEIGHT / 2].map((y) => (
            <line key={y} class="line" x1={0} x2={WIDTH} y1={y} y2={y} />
          ))}
          {ranges.map((range, at) => {
            const height = range.count === 0 ? 0 : Math.max((range.count / most) * HEIGHT, 2);
            const x = at * width;
            return (
              <g key={range.from} class={isShown(range) ? 'shown' : ''}>
                <title>{`${texts.range(money(range.from), money(range.below))}: ${numberText(range.count)}`}</title>
                <rect class="ground" x={x} y={0} width={width} height={HEIGHT} />
                <rect class="bar" x={x + GAP / 2} y={HEIGHT - height} width={width - GAP} height={height} />
              </g>
            );
          })}
        </svg>
        <p class="chart-counts" aria-hidden="true">
          <span>{numberText(most)}</span>
          <span>{numberText(most / 2)}</span>
          <span>0</span>
        </p>
        <p class="chart-ends" aria-hidden="true">
          <span>{money(first?.from ?? 0)}</span>
          {ranges.length % 2 === 0 && <span>{money(ranges[ranges.length / 2]?.from ?? 0)}</span>}
          <span>{money(last?.below ?? 0)}</span>
        </p>
      </div>
      <div class="chart-limits">
        {limit('from')}
        {limit('below')}
      </div>
      <table class="hidden">
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">{texts.rangeTitle}</th>
            <th scope="col">{texts.countTitle}</th>
          </tr>
        </thead>
        <tbody>
          {ranges.map(({ from, below, count }) => (
            <tr key={from}>
              <th scope="row">{texts.range(money(from), money(below))}</th>
              <td>{numberText(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** The end of the scale of the counts: an even number that people count by, such as 2, 4, 10, 20, 40 or 100. */
function scaleEnd(count: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(count, 1)));
  return [2, 4, 6, 8, 10].map((one) => one * power).find((one) => one >= count) ?? 10 * power;
}
