/**
 * Measures how the time of lists depends on the size of the store. It sends the same requests, one after the other, to
 * services that hold different numbers of sample products. See docs/benchmarks.md.
 */
import { join } from 'node:path';
import { type ListCase, listCases } from './benchmark-queries.js';
import { integer, options } from './options.js';
import { SeededService, withFolder } from './seeded-service.js';
import { grouped, Latencies, milliseconds, print, ratio, table } from './statistics.js';

const WARM_UP = 50;

interface Subject {
  readonly service: SeededService;
  readonly cases: readonly ListCase[];
}

interface Outcome {
  readonly latencies: Latencies;
  records: number;
  /** The problem of the first wrong response. No further request is sent after it. */
  problem?: string;
}

const args = options({ products: '1000,1000000', requests: '300', data: '' });
const sizes = args.products.split(',').map((text) => integer('products', text, 1_000, 10_000_000));
const requests = integer('requests', args.requests, 1, 100_000);
const problems: string[] = [];

await withFolder(args.data, async (folder) => {
  const services: SeededService[] = [];
  try {
    for (const size of sizes) services.push(await SeededService.start(join(folder, `lists-${size}`), size));
    const subjects: Subject[] = [];
    for (const service of services)
      subjects.push({ service, cases: await listCases(service.client, service.products) });
    print(`${requests} requests each, in milliseconds; ratios to ${grouped(sizes[0] ?? 0)} products\n`);
    print(table(headings(), await measured(subjects)));
  } finally {
    for (const service of services) await service.stop();
  }
});
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;

async function measured(subjects: readonly Subject[]): Promise<string[][]> {
  const rows: string[][] = [];
  for (const [at, { name }] of (subjects[0]?.cases ?? []).entries()) {
    const outcomes = subjects.map((): Outcome => ({ latencies: new Latencies(), records: 0 }));
    for (let round = -WARM_UP; round < requests; round++)
      for (const [which, { service, cases }] of subjects.entries()) {
        const [listCase, outcome] = [cases[at], outcomes[which]];
        if (listCase && outcome) await sendRequest(service, listCase, round, outcome);
      }
    rows.push([name, ...figures(outcomes)]);
  }
  return rows;
}

async function sendRequest(
  service: SeededService,
  { name, paths, prefer }: ListCase,
  round: number,
  outcome: Outcome,
): Promise<void> {
  if (outcome.problem) return;
  const path = paths[(round + WARM_UP) % paths.length] ?? '';
  const headers = prefer === undefined ? {} : { Prefer: prefer };
  const started = performance.now();
  const response = await service.client.get(path, { headers });
  const elapsedMs = performance.now() - started;
  if (response.status !== 200) {
    outcome.problem = `${response.status} ${response.json.code}`;
    problems.push(`${grouped(service.products)} products, ${name}, ${path}: ${response.text}`);
  } else if (prefer && response.headers['x-total-count'] !== `${service.products}`) {
    outcome.problem = 'not counted';
    problems.push(`${name}: X-Total-Count is ${response.headers['x-total-count']}`);
  } else if (round < 0) outcome.records = Math.max(outcome.records, response.json.length);
  else outcome.latencies.add(elapsedMs);
}

function headings(): string[] {
  return [
    'list',
    ...sizes.flatMap((size) => [`${grouped(size)}: records`, 'p50', 'p99']),
    ...sizes.slice(1).flatMap(() => ['p50 ratio', 'p99 ratio']),
  ];
}

function figures(outcomes: readonly Outcome[]): string[] {
  const [base, ...others] = outcomes;
  const both = [0.5, 0.99];
  return [
    ...outcomes.flatMap(({ latencies, records, problem }) =>
      problem
        ? [problem, '–', '–']
        : [`${records}`, ...both.map((part) => milliseconds(latencies.quantile(part)))],
    ),
    ...others.flatMap(({ latencies, problem }) =>
      problem || !base || base.problem
        ? ['–', '–']
        : both.map((part) => ratio(latencies.quantile(part), base.latencies.quantile(part))),
    ),
  ];
}
