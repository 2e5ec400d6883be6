import { grouped, median, table } from '../../scripts/statistics.js';
import { type Arrivals, h2load } from './h2load.js';
import { type Bench, rateKey, type Section } from './section.js';
import { API_KEY, BASE, fileOf, type Subject } from './subjects.js';
import { itemPaths } from './works.js';

/** Item reads that arrive at half of the rate that bare Koa reaches, so that no queue hides how long each takes. */
export const ARRIVAL: Section = {
  name: 'constant arrival',
  run: async (bench) => {
    const peak = bench.rates.get(rateKey('GET item', BASE));
    if (!peak)
      throw new Error(`constant arrival needs the rate of ${BASE}: add GET to --only and ${BASE} to --servers`);
    const rows = bench.subjects.map((subject) => ({ subject, arrivals: [] as Arrivals[] }));
    for (let round = 1; round <= bench.extent.rounds; round++)
      for (const { subject, arrivals } of rows) arrivals.push(await readItems(subject, bench, peak / 2));
    const text = table(
      ARRIVAL_HEADINGS,
      rows.map(({ subject: { name }, arrivals }) => [name, ...arrivalCells(arrivals)]),
    );
    return {
      text: `${grouped(peak / 2)} requests arrive each second, half of what ${BASE} reached.\n\n${text}`,
      problems: rows.flatMap(({ subject: { name }, arrivals }) => arrivalProblems(name, arrivals)),
    };
  },
};

export const ARRIVAL_HEADINGS = ['server', 'requests/s', 'p50 ms', 'p99 ms', 'max ms', 'errors'];

export function readItems(subject: Subject, { materials, extent }: Bench, rate: number): Promise<Arrivals> {
  return h2load(subject.server.port, {
    paths: itemPaths(subject, materials, 1, subject.count),
    key: API_KEY,
    rate,
    seconds: extent.seconds,
    logFile: fileOf(subject, materials, 'arrivals'),
  });
}

export function arrivalCells(arrivals: readonly Arrivals[]): string[] {
  return [
    grouped(median(arrivals.map(({ rate }) => rate))),
    ...(['p50Ms', 'p99Ms', 'maxMs'] as const).map((figure) => median(arrivals.map((one) => one[figure])).toFixed(2)),
    grouped(errorsOf(arrivals)),
  ];
}

export function arrivalProblems(name: string, arrivals: readonly Arrivals[]): string[] {
  const errors = errorsOf(arrivals);
  return errors > 0 ? [`constant arrival, ${name}: ${errors} responses have not the status 200`] : [];
}

function errorsOf(arrivals: readonly Arrivals[]): number {
  return arrivals.reduce((sum, { errors }) => sum + errors, 0);
}
