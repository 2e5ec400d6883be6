/** Compares the service with bare servers under load. See docs/performance.md. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { integer } from '../options.js';
import { print } from '../statistics.js';
import { bindToLoadCore } from './cores.js';
import { writeSampleProducts } from './ndjson.js';
import { errorsOf, repeatability, workTable } from './report.js';
import { type Extent, measured } from './rounds.js';
import { ServerProcess } from './server-process.js';
import { BASE, type Materials, REPEAT, type Subject, serviceProgram, startSubject } from './subjects.js';
import { requireTools } from './tools.js';
import { WORKS } from './works.js';

const SERVERS = [BASE, REPEAT, 'memory', 'sqlite'];
const OTHERS = ['memory (other)', 'sqlite (other)'];

const { values: given } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '7' },
    products: { type: 'string', default: '5000' },
    only: { type: 'string', default: '' },
    servers: { type: 'string', default: '' },
    dist: { type: 'string' },
  },
});
const extent: Extent = {
  seconds: integer('seconds', given.seconds, 1, 600),
  rounds: integer('rounds', given.rounds, 1, 1_000),
  products: integer('products', given.products, 100, 1_000_000),
};
const works = chosen('only', given.only, WORKS);
const names = chosen(
  'servers',
  given.servers,
  (given.dist ? [...SERVERS, ...OTHERS] : SERVERS).map((name) => ({ name })),
);

requireTools();
bindToLoadCore();
const folder = mkdtempSync(join(tmpdir(), 'bench-'));
const subjects: Subject[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void end().then(() => process.exit(1)));
try {
  const materials = await prepared();
  for (const { name } of names) {
    progress(`starting ${name}`);
    subjects.push(await startSubject(name, materials, given.dist));
  }
  for (const work of works) {
    progress(work.name);
    const outcomes = await measured(work, subjects, materials, extent);
    print(`\n### ${work.name}\n\n${workTable(outcomes)}\n\n${repeatability(outcomes)}`);
    for (const outcome of outcomes.filter((one) => errorsOf(one) > 0)) {
      const { firstError } = outcome.samples.find(({ errors }) => errors > 0) ?? {};
      progress(
        `${outcome.work}, ${outcome.server}: ${errorsOf(outcome)} errors; the first one: ${firstError}`,
      );
      process.exitCode = 1;
    }
  }
} finally {
  await end();
}

/** Makes what all servers share. The first start of the service makes the certificate. */
async function prepared(): Promise<Materials> {
  const products = join(folder, 'products');
  await writeSampleProducts(products, extent.products, 1);
  const first = join(folder, 'first');
  mkdirSync(first);
  const service = await ServerProcess.start(first, serviceProgram(resolve('dist'), { STORE: 'memory' }));
  await service.stop();
  return { folder, products, tls: join(first, 'data/tls') };
}

async function end(): Promise<void> {
  for (const { client } of subjects) client.close();
  await Promise.all(subjects.map(({ server }) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
}

/** Chooses the things whose names begin with one of the given words. */
function chosen<Named extends { readonly name: string }>(
  option: string,
  text: string,
  all: readonly Named[],
): Named[] {
  if (text === '') return [...all];
  const words = text.toLowerCase().split(',');
  const matches = (word: string) => all.filter(({ name }) => name.toLowerCase().includes(word));
  const unknown = words.find((word) => matches(word).length === 0);
  if (unknown !== undefined)
    throw new Error(`--${option} takes names of: ${all.map(({ name }) => name).join(', ')}`);
  return all.filter((one) => words.some((word) => matches(word).includes(one)));
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}
