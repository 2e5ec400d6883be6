import { grouped, median, ratio, table } from '../../scripts/statistics.js';
import { type Bench, type Report, rateKey, type Section } from './section.js';
import { BASE, REPEAT, type Subject } from './subjects.js';
import { patches, type Work } from './works.js';
import { type Requests, type Slice, wrk } from './wrk.js';

/** A slice of load on one server. */
export interface Sample extends Slice {
  /** Microseconds of the server's processor time for each request. */
  readonly processorTime: number;
  /** The part of the time in which the server computed. */
  readonly busy: number;
}

export interface Outcome {
  readonly server: string;
  /** The server to which the ratios are. */
  readonly base: string;
  readonly samples: readonly Sample[];
  /** The slices before those, of which only the errors count. */
  readonly warmUps: readonly Sample[];
  readonly residentMemory: number;
}

interface Load {
  readonly subject: Subject;
  readonly requests: Requests;
  readonly writes: Requests | undefined;
  readonly samples: Sample[];
  readonly warmUps: Sample[];
}

/** A pause before the first request that the end of the slice cuts off. */
const UNREACHED_MS = 60_000;
const WRITERS = 2;
const WRITES_A_SECOND = 100;
const WRITE_PACE = { connections: WRITERS, pauseMs: (1_000 * WRITERS) / WRITES_A_SECOND };
const NOISE = 0.1;

export function workSection(work: Work): Section {
  return {
    name: work.name,
    run: async (bench) => {
      const outcomes = await measured(work, bench);
      for (const outcome of outcomes) bench.rates.set(rateKey(work.name, outcome.server), medianOf(outcome, rate));
      return workReport(work.name, outcomes);
    },
  };
}

/** How many times as long as a slice the warm-up is. V8 compiles the busy functions in the first seconds. */
export const WARM_UP = 4;

/** Gives every server its share of the load in turn, round after round, so that noise affects all alike. */
export async function measured(
  work: Work,
  { subjects, materials, extent }: Bench,
  connections = extent.connections,
): Promise<Outcome[]> {
  const loads: Load[] = [];
  for (const subject of subjects) {
    const requests = await work.requests(subject, materials);
    const writes = work.isBesideWrites ? patches(subject, materials) : undefined;
    if (requests) loads.push({ subject, requests, writes, samples: [], warmUps: [] });
  }
  // A single round proves that the servers work; its figures mean nothing.
  if (extent.rounds > 1)
    for (const load of loads) load.warmUps.push(await sample(load, WARM_UP * extent.seconds, connections));
  for (let round = 1; round <= extent.rounds; round++)
    for (const load of loads) load.samples.push(await sample(load, extent.seconds, connections));
  return loads.map(({ subject: { name, base, server }, samples, warmUps }) => {
    return { server: name, base, samples, warmUps, residentMemory: server.residentMemory };
  });
}

async function sample(
  { subject: { server }, requests, writes }: Load,
  seconds: number,
  connections: number,
): Promise<Sample> {
  const opening = await openingTime(server, requests, connections);
  const before = server.processorTime;
  const [slice, written] = await Promise.all([
    wrk(server.port, requests, { seconds, connections }),
    writes && wrk(server.port, writes, { seconds, ...WRITE_PACE }),
  ]);
  const spent = server.processorTime - before;
  return {
    ...slice,
    errors: slice.errors + (written?.errors ?? 0),
    firstError: slice.firstError || (written?.firstError ?? ''),
    busy: spent / (slice.seconds * 1e6),
    processorTime: (spent - opening) / (slice.requests + (written?.requests ?? 0)),
  };
}

/**
 * The server's processor time of opening the connections, with which each slice begins. It is measured just before
 * each, because another moment of a busy machine has another time.
 */
async function openingTime(server: Subject['server'], requests: Requests, connections: number): Promise<number> {
  const before = server.processorTime;
  await wrk(server.port, requests, { seconds: 1, connections, pauseMs: UNREACHED_MS });
  return server.processorTime - before;
}

/** The table of one kind of request. The ratios say how many times better than its base a server is. */
export function workReport(work: string, outcomes: readonly Outcome[]): Report {
  const rows = outcomes.map((outcome) => {
    const base = outcomes.find(({ server }) => server === outcome.base);
    return [
      outcome.server,
      medianOf(outcome, processorTime).toFixed(1),
      Math.min(...outcome.samples.map(processorTime)).toFixed(1),
      grouped(medianOf(outcome, rate)),
      `${(100 * medianOf(outcome, ({ busy }) => busy)).toFixed(0)} %`,
      base ? ratio(medianOf(base, processorTime), medianOf(outcome, processorTime)) : '–',
      base ? ratio(medianOf(outcome, rate), medianOf(base, rate)) : '–',
      medianOf(outcome, ({ p50Ms }) => p50Ms).toFixed(2),
      medianOf(outcome, ({ p99Ms }) => p99Ms).toFixed(2),
      grouped(outcome.residentMemory),
      grouped(errorsOf(outcome)),
    ];
  });
  const headings = ['CPU µs', 'lowest', 'requests/s', 'busy', 'CPU ratio', 'rate ratio', 'p50 ms', 'p99 ms'];
  const text = [table(['server', ...headings, 'MiB', 'errors'], rows), repeatability(outcomes)];
  const problems = outcomes.filter((outcome) => errorsOf(outcome) > 0);
  return {
    text: text.filter((part) => part !== '').join('\n\n'),
    problems: problems.map((outcome) => {
      const { firstError } = slicesOf(outcome).find(({ errors }) => errors > 0) ?? {};
      return `${work}, ${outcome.server}: ${errorsOf(outcome)} errors; the first one: ${firstError}`;
    }),
  };
}

/** Says how well the machine repeats itself: two processes of the same server should give the same figures. */
export function repeatability(outcomes: readonly Outcome[]): string {
  const [first, again] = [BASE, REPEAT].map((name) => outcomes.find(({ server }) => server === name));
  if (!first || !again) return '';
  const change = medianOf(again, processorTime) / medianOf(first, processorTime) - 1;
  const percent = `${(100 * Math.abs(change)).toFixed(1)} %`;
  if (Math.abs(change) <= NOISE) return `Two processes of the same server, ${BASE}, differ by ${percent}.`;
  return `**Do not trust these figures: two processes of the same server, ${BASE}, differ by ${percent}.**`;
}

const medianOf = ({ samples }: Outcome, figure: (sample: Sample) => number) => median(samples.map(figure));
const processorTime = (sample: Sample) => sample.processorTime;
const rate = ({ requests, seconds }: Slice) => requests / seconds;
const slicesOf = ({ samples, warmUps }: Outcome) => [...warmUps, ...samples];
const errorsOf = (outcome: Outcome) => slicesOf(outcome).reduce((sum, { errors }) => sum + errors, 0);
