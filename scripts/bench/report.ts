import { grouped, ratio, table } from '../statistics.js';
import type { Outcome, Sample } from './rounds.js';
import { BASE, REPEAT } from './subjects.js';

const NOISE = 0.1;

export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
}

const medianOf = ({ samples }: Outcome, figure: (sample: Sample) => number) => median(samples.map(figure));
const processorTime = (sample: Sample) => sample.processorTime;
const rate = ({ requests, seconds }: Sample) => requests / seconds;

/** The table of one kind of requests. The ratios say how many times better than bare Koa a server is. */
export function workTable(outcomes: readonly Outcome[]): string {
  const base = outcomes.find(({ server }) => server === BASE);
  return table(
    [
      'server',
      'CPU µs',
      'lowest',
      'requests/s',
      'CPU ratio',
      'rate ratio',
      'p50 ms',
      'p99 ms',
      'MiB',
      'errors',
    ],
    outcomes.map((outcome) => [
      outcome.server,
      medianOf(outcome, processorTime).toFixed(1),
      Math.min(...outcome.samples.map(processorTime)).toFixed(1),
      grouped(medianOf(outcome, rate)),
      base ? ratio(medianOf(base, processorTime), medianOf(outcome, processorTime)) : '–',
      base ? ratio(medianOf(outcome, rate), medianOf(base, rate)) : '–',
      medianOf(outcome, ({ p50Ms }) => p50Ms).toFixed(2),
      medianOf(outcome, ({ p99Ms }) => p99Ms).toFixed(2),
      grouped(outcome.residentMemory),
      grouped(errorsOf(outcome)),
    ]),
  );
}

/** Says how well the machine repeats itself: two processes of the same server should give the same figures. */
export function repeatability(outcomes: readonly Outcome[]): string {
  const [first, again] = [BASE, REPEAT].map((name) => outcomes.find(({ server }) => server === name));
  if (!first || !again) return '';
  const change = medianOf(again, processorTime) / medianOf(first, processorTime) - 1;
  const percent = `${(100 * change).toFixed(1)} %`;
  if (Math.abs(change) <= NOISE)
    return `The second process of ${BASE} differs by ${percent} from the first one.`;
  return `**Do not trust these figures: two processes of the same server, ${BASE}, differ by ${percent}.**`;
}

export function errorsOf({ samples }: Outcome): number {
  return samples.reduce((sum, { errors }) => sum + errors, 0);
}
