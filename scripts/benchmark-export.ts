/**
 * Measures what one running export does to clients that read single products meanwhile, and what memory it takes. See
 * docs/benchmarks.md.
 */
import { join } from 'node:path';
import type { ExportFigures } from './export-reader.js';
import { Exports } from './exports.js';
import { type Pace, readProducts } from './load-generator.js';
import { integer, options } from './options.js';
import { ResidentMemory } from './resident-memory.js';
import { SeededService, withFolder } from './seeded-service.js';
import { grouped, Latencies, milliseconds, print, ratio, table } from './statistics.js';

const WARM_UP_SECONDS = 2;
const BYTES_PER_MIB = 1_024 * 1_024;

const given = options({ products: '200000', clients: '8', pace: '20', seconds: '10', rounds: '3', data: '' });
const products = integer('products', given.products, 1, 10_000_000);
const rounds = integer('rounds', given.rounds, 1, 100);
const pace: Pace = {
  clients: integer('clients', given.clients, 1, 64),
  everyMs: integer('pace', given.pace, 0, 10_000),
  seconds: integer('seconds', given.seconds, 1, 600),
};

await withFolder(given.data, async (folder) => {
  const service = await SeededService.start(join(folder, `export-${products}`), products);
  try {
    print(
      table(
        ['export', 'RSS start', 'max', 'end, MiB', 'seconds', 'records/s', 'MiB/s'],
        [
          ['the first', ...(await exportAlone(service))],
          ['the second', ...(await exportAlone(service))],
        ],
      ),
    );
    await readProducts(service, { ...pace, seconds: WARM_UP_SECONDS });
    const manner = pace.everyMs === 0 ? 'one after the other' : `every ${pace.everyMs} ms`;
    print(`\n${pace.clients} clients, each a product ${manner}\n`);
    print(table(['clients', 'requests', 'p50', 'p99', 'max, ms'], await clientsBeside(service)));
  } finally {
    await service.stop();
  }
});

async function exportAlone(service: SeededService): Promise<string[]> {
  const memory = new ResidentMemory(service.pid);
  try {
    const figures = await new Exports(service, false).first();
    const { start, max, end } = memory.stop();
    return [...[start, max, end].map((mebibytes) => mebibytes.toFixed(0)), ...rates([figures])];
  } finally {
    memory.stop();
  }
}

/** Rounds without and with an export in turns, so that noise hits both alike. */
async function clientsBeside(service: SeededService): Promise<string[][]> {
  const rows: string[][] = [];
  const [alone, beside] = [new Latencies(), new Latencies()];
  const exported: ExportFigures[] = [];
  for (let round = 1; round <= rounds; round++) {
    const without = await readProducts(service, pace);
    const running = new Exports(service, true);
    const during = await readProducts(service, pace).finally(() => running.stop());
    rows.push(row(`${round}: alone`, without), row(`${round}: beside an export`, during));
    alone.addAll(without);
    beside.addAll(during);
    exported.push(...running.done);
  }
  const both = [0.5, 0.99, 1].map((part) => ratio(beside.quantile(part), alone.quantile(part)));
  const [, records, mebibytes] = rates(exported);
  print(`the exports beside them: ${records} records/s, ${mebibytes} MiB/s\n`);
  return [...rows, row('all: alone', alone), row('all: beside', beside), ['ratio', '', ...both]];
}

function row(name: string, latencies: Latencies): string[] {
  const figures = [0.5, 0.99, 1].map((part) => milliseconds(latencies.quantile(part)));
  return [name, grouped(latencies.count), ...figures];
}

function rates(figures: readonly ExportFigures[]): [seconds: string, records: string, mebibytes: string] {
  const sum = (of: (one: ExportFigures) => number) => figures.reduce((total, one) => total + of(one), 0);
  const seconds = sum((one) => one.seconds);
  return [
    seconds.toFixed(1),
    grouped(sum((one) => one.records) / seconds),
    (sum((one) => one.bytes) / BYTES_PER_MIB / seconds).toFixed(1),
  ];
}
