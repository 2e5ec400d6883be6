/**
 * Compares the service with other servers under load, and prints a report in Markdown.
 * @see docs/explanation/performance.md
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chosen, integer, parsedOptions } from '../../scripts/options.js';
import { print } from '../../scripts/statistics.js';
import { figuresOf } from '../../tests/support/figure.js';
import { ARRIVAL } from './arrival.js';
import { removeDatabases } from './databases.js';
import { GROWTH } from './growth.js';
import { bindToLoadCore, missing } from './machine.js';
import { writeSampleProducts } from './ndjson.js';
import { pocketbaseProgram } from './pocketbase.js';
import { workSection } from './rounds.js';
import type { Bench, Section } from './section.js';
import { killServers } from './server-process.js';
import { SHOP_REQUESTS, shopSection, shopServers } from './shop.js';
import { START } from './start.js';
import { EXPORT, IMPORT, UPDATE_BY_KEY } from './streams.js';
import { definitions, type Materials, type Subject, startEmpty, startSubject, stopSubject, tlsOf } from './subjects.js';
import { WORKS } from './works.js';

const figure = figuresOf('bench');
const given = parsedOptions({
  seconds: { type: 'string', default: '1' },
  rounds: { type: 'string', default: '5' },
  connections: { type: 'string', default: '64' },
  products: { type: 'string' },
  only: { type: 'string', default: '' },
  servers: { type: 'string', default: '' },
  dist: { type: 'string' },
  peers: { type: 'boolean', default: false },
  growth: { type: 'boolean', default: false },
  shop: { type: 'boolean', default: false },
  keep: { type: 'string' },
});
const extent = {
  seconds: integer('seconds', given.seconds, 1, 600),
  rounds: integer('rounds', given.rounds, 1, 1_000),
  connections: integer('connections', given.connections, 1, 1_000),
  products: integer('products', given.products ?? (given.shop ? '1000000' : '5000'), 100, 1_000_000),
};
const sections: Section[] = [...WORKS.map(workSection), IMPORT, UPDATE_BY_KEY, EXPORT, ARRIVAL, START];
const pocketbase = pocketbaseProgram(given.peers);
const peerProgram = 'program' in pocketbase ? pocketbase.program : undefined;
const known = given.shop
  ? shopServers(peerProgram)
  : definitions({
      otherDist: given.dist && resolve(given.dist),
      pocketbase: peerProgram,
      redis: process.env['REDIS_URL'],
    });
const chosenSections = given.shop
  ? [shopSection(chosen('only', given.only, SHOP_REQUESTS))]
  : given.growth
    ? [GROWTH]
    : chosen('only', given.only, sections);
const chosenServers = given.growth ? [] : chosen('servers', given.servers, known);

const problems = missing();
if (problems.length > 0) {
  for (const problem of problems) progress(problem);
  process.exit(1);
}
bindToLoadCore();
const folder = given.keep ? resolve(given.keep) : mkdtempSync(join(tmpdir(), 'catalogue-bench-'));
mkdirSync(folder, { recursive: true });
const subjects: Subject[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
process.once('exit', () => {
  killServers();
  if (!given.keep) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
try {
  const materials: Materials = {
    folder,
    tls: await tlsOf(folder),
    products: join(folder, 'products'),
    count: extent.products,
  };
  if (!existsSync(materials.products)) await writeSampleProducts(materials.products, materials.count, 1);
  for (const definition of chosenServers) {
    progress(`starts ${definition.name}`);
    subjects.push(await (given.shop ? startEmpty : startSubject)(definition, materials));
  }
  await report({ subjects, materials, extent, rates: new Map() });
} finally {
  await Promise.all(subjects.map(stopSubject));
  await removeDatabases();
}

async function report(bench: Bench): Promise<void> {
  const { seconds, rounds, connections, products } = extent;
  print(
    `Node ${process.version}, ${cpus()[0]?.model}; ${rounds} rounds of ${seconds} s; ` +
      `${connections} connections; ${products} products`,
  );
  if ('absence' in pocketbase) print(`PocketBase is not measured: ${pocketbase.absence}`);
  print('');
  for (const { name, run } of chosenSections) {
    progress(`measures ${name}`);
    const { text, problems } = await run(bench);
    print(`## ${name}\n\n${text}\n`);
    for (const problem of problems) progress(problem);
    if (problems.length > 0) process.exitCode = 1;
  }
  // A single round proves that the servers work; its figures mean nothing.
  if (rounds > 1) for (const [work, rate] of bench.rates) figure(work, rate, 'per s');
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}
