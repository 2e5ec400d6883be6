/**
 * Measures how one running export slows down clients that read single products, and how much memory it needs. See
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

const args = options({ products: '200000', clients: '8', pace: '20', seconds: '10', rounds: '3', data: '' });
const products = integer('products', args.products, 1, 10_000_000);
const rounds = integer('rounds', args.rounds, 1, 100);
const pace: Pace = {
  clients: integer('clients', args.clients, 1, 64),
  everyMs: integer('pace', args.pace, 0, 10_000),
  seconds: integer('seconds', args.seconds, 1, 600),
};

await withFolder(args.data, async (folder) => {
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
    const interval = pace.everyMs === 0 ? 'one after the other' : `every ${pace.everyMs} ms`;
    print(`\n${pace.clients} clients, each reads a product ${interval}\n`);
    print(table(['clients', 'requests', 'p50', 'p99', 'max, ms'], await clientsDuringExports(service)));
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

/** Alternates rounds without and with an export, so that noise affects both equally. */
async function clientsDuringExports(service: SeededService): Promise<string[][]> {
  const rows: string[][] = [];
  const [alone, during] = [new Latencies(), new Latencies()];
  const exported: ExportFigures[] = [];
  for (let round = 1; round <= rounds; round++) {
    const roundAlone = await readProducts(service, pace);
    const exports = new Exports(service, true);
    const roundDuring = await readProducts(service, pace).finally(() => exports.stop());
    rows.push(row(`${round}: alone`, roundAlone), row(`${round}: during an export`, roundDuring));
    alone.addAll(roundAlone);
    during.addAll(roundDuring);
    exported.push(...exports.done);
  }
  const ratios = [0.5, 0.99, 1].map((part) => ratio(during.quantile(part), alone.quantile(part)));
  const [, records, mebibytes] = rates(exported);
  print(`the exports meanwhile: ${records} records/s, ${mebibytes} MiB/s\n`);
  return [...rows, row('all: alone', alone), row('all: during', during), ['ratio', '', ...ratios]];
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
