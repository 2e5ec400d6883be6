/**
 * Measures how the time of lists depends on the size of the store: the same requests, one after the other, to services
 * that hold so many sample products each, in turns. See docs/benchmarks.md.
 */
import { join } from 'node:path';
import { grouped, Latencies, milliseconds, ratio, say, table } from './figures.js';
import { type ListCase, listCases } from './list-queries.js';
import { integer, options } from './options.js';
import { SeededService, withFolder } from './seeded-service.js';

const WARM_UP = 50;

interface Subject {
  readonly service: SeededService;
  readonly cases: readonly ListCase[];
}

interface Outcome {
  readonly latencies: Latencies;
  records: number;
  /** Of the first answer that was not what it should be; nothing is asked after it. */
  fault?: string;
}

const given = options({ products: '1000,1000000', requests: '300', data: '' });
const sizes = given.products.split(',').map((text) => integer('products', text, 1_000, 10_000_000));
const requests = integer('requests', given.requests, 1, 100_000);
const faults: string[] = [];

await withFolder(given.data, async (folder) => {
  const services: SeededService[] = [];
  try {
    for (const size of sizes) services.push(await SeededService.start(join(folder, `lists-${size}`), size));
    const subjects: Subject[] = [];
    for (const service of services)
      subjects.push({ service, cases: await listCases(service.client, service.products) });
    say(`${requests} requests each, in milliseconds; ratios to ${grouped(sizes[0] ?? 0)} products\n`);
    say(table(headings(), await measured(subjects)));
  } finally {
    for (const service of services) await service.stop();
  }
});
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;

async function measured(subjects: readonly Subject[]): Promise<string[][]> {
  const rows: string[][] = [];
  for (const [at, { name }] of (subjects[0]?.cases ?? []).entries()) {
    const outcomes = subjects.map((): Outcome => ({ latencies: new Latencies(), records: 0 }));
    for (let round = -WARM_UP; round < requests; round++)
      for (const [which, { service, cases }] of subjects.entries()) {
        const [asked, outcome] = [cases[at], outcomes[which]];
        if (asked && outcome) await ask(service, asked, round, outcome);
      }
    rows.push([name, ...figures(outcomes)]);
  }
  return rows;
}

async function ask(service: SeededService, asked: ListCase, round: number, outcome: Outcome): Promise<void> {
  if (outcome.fault) return;
  const path = asked.paths[(round + WARM_UP) % asked.paths.length] ?? '';
  const headers = asked.prefer === undefined ? {} : { Prefer: asked.prefer };
  const started = performance.now();
  const answer = await service.client.get(path, { headers });
  const taken = performance.now() - started;
  if (answer.status !== 200) {
    outcome.fault = `${answer.status} ${answer.json.code}`;
    faults.push(`${grouped(service.products)} products, ${asked.name}, ${path}: ${answer.text}`);
  } else if (asked.prefer && answer.headers['x-total-count'] !== `${service.products}`) {
    outcome.fault = 'not counted';
    faults.push(`${asked.name}: X-Total-Count is ${answer.headers['x-total-count']}`);
  } else if (round < 0) outcome.records = Math.max(outcome.records, answer.json.length);
  else outcome.latencies.add(taken);
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
    ...outcomes.flatMap(({ latencies, records, fault }) =>
      fault
        ? [fault, '–', '–']
        : [`${records}`, ...both.map((part) => milliseconds(latencies.quantile(part)))],
    ),
    ...others.flatMap(({ latencies, fault }) =>
      fault || !base || base.fault
        ? ['–', '–']
        : both.map((part) => ratio(latencies.quantile(part), base.latencies.quantile(part))),
    ),
  ];
}
