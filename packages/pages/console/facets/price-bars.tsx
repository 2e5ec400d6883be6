import type { JSX, TargetedPointerEvent } from 'preact';
import { useState } from 'preact/hooks';
import { Choice } from '../components/choice.js';
import { numberText, priceText } from '../formats.js';
import { TEXTS } from '../texts.js';
import type { ChosenRange, CountedRange, PriceRange } from './price-ranges.js';

const { facets: texts } = TEXTS;

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
export function PriceBars({ title, ranges, currency, chosen, onChoose }: PriceBarsProps): JSX.Element {
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
