/**
 * Changes the source in many small ways, one at a time, and counts the changes that the tests notice (mutation testing
 * by Stryker). `npm run suite mutation`; `-- --only patch,cursor` runs the parts with one of these words in their name.
 * Prints a table, and writes what survived to `build/mutation/PART.txt`. Ends with 1 if a part has a score below 85 %.
 *
 * Stryker is installed into `build/mutation/tools` at the first run, so that `npm ci` of the project stays small. It
 * runs the tests in a copy of the project, whose source it instruments once: each mutant is a branch there.
 */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { chosen, options } from '../../scripts/options.js';
import { print, table } from '../../scripts/statistics.js';
import { list } from '../../tests/support/list.js';

/** The least part of the mutants that must be noticed, in percent. */
const LEAST_SCORE = 85;

const SOURCES = 'campaigns/mutation';
const FOLDER = 'build/mutation';
const TOOLS = join(FOLDER, 'tools');

/** Source files, and the tests that must notice their changes. */
interface Part {
  readonly name: string;
  /** Below `src`, without `.ts`. */
  readonly source: readonly string[];
  /** Below `tests`, without `.test.ts`; the runner of Stryker knows no braces. */
  readonly tests: readonly string[];
}

const PARTS: readonly Part[] = [
  { name: 'patch', source: ['application/patch/*'], tests: ['unit/application/patch/*'] },
  {
    name: 'idempotency',
    source: [
      'application/records/write-conditions',
      'application/records/record-writer',
      'adapters/inbound/http/parameters/request-headers',
      'adapters/outbound/memory/idempotency-store',
      'adapters/outbound/memory/expiring-map',
      'shared/json',
    ],
    tests: [
      'unit/application/records/record-creation*',
      'unit/application/records/idempotency',
      'unit/adapters/inbound/http/parameters/request-headers',
      'unit/adapters/outbound/memory/expiring-map',
    ],
  },
  {
    name: 'cursor',
    source: ['adapters/inbound/http/lists/cursor', 'adapters/inbound/http/lists/link-header'],
    tests: ['unit/adapters/inbound/http/lists/cursor', 'unit/adapters/inbound/http/lists/link-header'],
  },
  {
    name: 'list parameters',
    source: ['adapters/inbound/http/parameters/*', 'adapters/inbound/http/lists/list-query'],
    tests: ['unit/adapters/inbound/http/lists/*', 'unit/adapters/inbound/http/parameters/*'],
  },
  {
    name: 'rate limiter',
    source: [
      'adapters/outbound/memory/rate-limiter',
      'adapters/outbound/cluster/rate-limits',
      'adapters/outbound/redis/rate-limiter',
    ],
    tests: [
      'unit/adapters/outbound/memory/rate-limiter',
      'unit/adapters/outbound/redis/fallback-rate-limiter',
      'contract/rate-limiters',
    ],
  },
  { name: 'domain', source: ['domain/*'], tests: ['unit/domain/*'] },
  {
    name: 'records',
    source: ['application/records/!(idempotency|create-records)'],
    tests: ['unit/application/records/*', 'unit/adapters/inbound/http/resources/order-references'],
  },
  { name: 'auth', source: ['application/auth/*'], tests: ['unit/application/auth/*'] },
  { name: 'maintenance', source: ['application/maintenance/*'], tests: ['unit/application/maintenance/*'] },
];

/** A report of Stryker: https://github.com/stryker-mutator/mutation-testing-elements */
interface Report {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}

interface Mutant {
  readonly mutatorName: string;
  readonly status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'RuntimeError' | 'CompileError' | 'Ignored';
  readonly replacement?: string;
  readonly location: Readonly<Record<'start' | 'end', { readonly line: number; readonly column: number }>>;
}

const { only } = options({ only: '' });
const parts = chosen('only', only, PARTS);
mkdirSync(FOLDER, { recursive: true });
await install();
const rows: string[][] = [];
for (const part of parts) rows.push(await run(part));
print(table(['part', 'mutants', 'killed', 'timed out', 'survived', 'not covered', 'score', 'seconds'], rows));

/** Installs Stryker if the locked versions are not there. */
async function install(): Promise<void> {
  const isInstalled =
    existsSync(join(TOOLS, 'node_modules')) &&
    readFileSync(join(TOOLS, 'package-lock.json')).equals(readFileSync(join(SOURCES, 'package-lock.json')));
  if (isInstalled) return;
  mkdirSync(TOOLS, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) cpSync(join(SOURCES, name), join(TOOLS, name));
  await succeed('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], TOOLS);
}

/** Tests the mutants of a part. @returns its row of the table */
async function run({ name, source, tests }: Part): Promise<string[]> {
  const begin = performance.now();
  const file = join(FOLDER, name.replaceAll(' ', '-'));
  const configuration = {
    mutate: source.map((path) => `src/${path}.ts`),
    ignorers: ['messages'],
    plugins: ['@stryker-mutator/mocha-runner', resolve('build/campaigns/mutation/messages.js')],
    testRunner: 'mocha',
    mochaOptions: { spec: tests.map((path) => `build/tests/${path}.test.js`) },
    coverageAnalysis: 'perTest',
    concurrency: 1,
    // A busy computer must not make a slow test a killed mutant.
    timeoutMS: 8_000,
    timeoutFactor: 3,
    tempDirName: `${file}-sandbox`,
    ignorePatterns: [
      '**',
      ...[
        ...list`package.json  .mocharc.json  tsconfig.json  packages/pages/**  config/**  src/**  dist/**  build`,
        ...list`build/tests/**`,
      ].map(keep),
      ...['campaigns', SOURCES, `${SOURCES}/tsconfig.sandbox.json`].map(keep),
    ],
    // The sandbox is below the project, which has the packages.
    symlinkNodeModules: false,
    // Stryker edits this file by an interface that TypeScript 7 lacks. A name that does not exist prevents it.
    tsconfigFile: 'none.json',
    disableTypeChecks: false,
    buildCommand: `node ${resolve('node_modules/typescript/bin/tsc')} --project ${SOURCES}/tsconfig.sandbox.json`,
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: `${file}.json` },
    allowConsoleColors: false,
    packageManager: 'npm',
  };
  writeFileSync(`${file}.config.json`, JSON.stringify(configuration));
  await succeed(process.execPath, [
    join(TOOLS, 'node_modules/@stryker-mutator/core/bin/stryker.js'),
    'run',
    `${file}.config.json`,
  ]);
  const { files } = JSON.parse(readFileSync(`${file}.json`, 'utf8')) as Report;
  const mutants = Object.values(files).flatMap((one) => one.mutants);
  const count = (status: Mutant['status']) => mutants.filter((mutant) => mutant.status === status).length;
  const noticed = count('Killed') + count('Timeout');
  const unnoticed = count('Survived') + count('NoCoverage');
  const score = (100 * noticed) / (noticed + unnoticed);
  // A part without mutants has no score (NaN).
  if (!(score >= LEAST_SCORE)) process.exitCode = 1;
  writeFileSync(`${file}.txt`, survivorsOf(files));
  return [
    name,
    `${noticed + unnoticed}`,
    ...(['Killed', 'Timeout', 'Survived', 'NoCoverage'] as const).map((status) => `${count(status)}`),
    `${score.toFixed(1)} %`,
    ((performance.now() - begin) / 1_000).toFixed(0),
  ];
}

function keep(pattern: string): string {
  return `!${pattern}`;
}

/** A text that shows each mutant that survived: its position, the line of the source, and its replacement. */
function survivorsOf(files: Report['files']): string {
  const texts = Object.entries(files).flatMap(([file, { source, mutants }]) =>
    mutants
      .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
      .map(({ status, mutatorName, replacement, location: { start, end } }) => {
        const lines = source.split('\n').slice(start.line - 1, end.line);
        const position = `${file}:${start.line}:${start.column} to ${end.line}:${end.column}`;
        return `${position} ${status} ${mutatorName}\n${lines.slice(0, 6).join('\n')}\n=> ${replacement}\n`;
      }),
  );
  return texts.join('\n');
}

/** @throws Error if the program fails */
async function succeed(program: string, args: readonly string[], cwd = '.'): Promise<void> {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  const code = await new Promise<number | null>((done, reject) => child.once('error', reject).once('close', done));
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}`);
}
