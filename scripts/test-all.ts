/**
 * Runs the suites of the night one after the other, all with one seed, and prints a table, the failures again, and the
 * totals. It fails on facts; times, rates and memory are figures in `build/figures.jsonl`, which begins anew.
 *
 * `npm run test:all`; `-- --only overload,disk` runs the suites of these names, `-- --list` prints what each needs, and
 * `-- --packages` the Debian packages that are missing. `TEST_SEED` repeats the choices of a run.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { FIGURES_FILE, figuresOf } from '../tests/support/figure.js';
import { parsedOptions } from './options.js';
import { print, table } from './statistics.js';
import { DEBIAN_PACKAGES, type Program, SUITES, type Suite } from './suites.js';

interface Outcome {
  readonly suite: Suite;
  readonly passed: number;
  readonly failed: number;
  readonly seconds: number;
  /** The failures that mocha prints, or the end of the output if the run broke off. */
  readonly failures: string;
}

/** So much of the output of a run that broke off is printed again, in lines. */
const LAST_LINES = 30;

const { PATH = '', TEST_SEED = `${randomInt(1, 1_000_000)}` } = process.env;
const environment = {
  ...process.env,
  PATH: `${resolve('node_modules/.bin')}${delimiter}${PATH}`,
  TEST_NIGHT: '1',
  TEST_SEED,
};

const { only, list, packages } = parsedOptions({
  only: { type: 'string', default: '' },
  list: { type: 'boolean', default: false },
  packages: { type: 'boolean', default: false },
});
const suites = named(only);
if (list)
  for (const { name, command, needs } of suites)
    print(`${name}\n    ${command}\n    needs ${needs.length === 0 ? 'Node.js alone' : needs.join(', ')}`);
else if (packages) print(packagesOf(suites.flatMap(missing)));
else await runAll();

/** @throws Error if a name is unknown */
function named(names: string): readonly Suite[] {
  if (names === '') return SUITES;
  return names.split(',').map((name) => {
    const suite = SUITES.find((one) => one.name === name);
    if (!suite) throw new Error(`--only ${name} is none of: ${SUITES.map((one) => one.name).join(', ')}`);
    return suite;
  });
}

async function runAll(): Promise<void> {
  const lacking = suites.flatMap(missing);
  if (lacking.length > 0) {
    print(`These suites need ${lacking.join(', ')}; on Debian: apt-get install ${packagesOf(lacking)}`);
    process.exitCode = 1;
    return;
  }
  rmSync(FIGURES_FILE, { force: true });
  print(`TEST_SEED=${TEST_SEED}`);
  const figure = figuresOf('test-all');
  const outcomes: Outcome[] = [];
  for (const suite of suites) {
    const outcome = await run(suite);
    figure(suite.name, Math.round(outcome.seconds), 's');
    outcomes.push(outcome);
  }
  const rows = outcomes.map(({ suite: { name }, passed, failed, seconds }) => [
    name,
    `${passed}`,
    `${failed}`,
    seconds.toFixed(0),
  ]);
  print(`\n${table(['suite', 'passed', 'failed', 'seconds'], rows)}`);
  for (const { suite, failed, failures } of outcomes)
    if (failed > 0) print(`\n== ${suite.name}\n${failures}`);
  const sum = (of: 'passed' | 'failed') => outcomes.reduce((total, outcome) => total + outcome[of], 0);
  print(`\nTEST_SEED=${TEST_SEED}\n${sum('passed')} passed, ${sum('failed')} failed`);
  process.exitCode = sum('failed') > 0 ? 1 : 0;
}

/** Runs a suite and shows its output. A run that crashes counts as a failure; one without tests, as one that passed. */
async function run(suite: Suite): Promise<Outcome> {
  const begin = performance.now();
  print(`\n== ${suite.name}: ${suite.command}`);
  const child = spawn('bash', ['-c', suite.command], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      process.stdout.write(chunk);
    });
  const code = await new Promise<number | null>((done) => child.once('close', done));
  const seconds = (performance.now() - begin) / 1_000;
  const passed = count(output, 'passing');
  const failed = count(output, 'failing');
  const isBroken = code !== 0 && failed === 0;
  return {
    suite,
    passed: passed + Number(passed === 0 && code === 0),
    failed: failed + Number(isBroken),
    seconds,
    failures: isBroken
      ? output.split('\n').slice(-LAST_LINES).join('\n')
      : output.slice(output.search(/^ +\d+ failing$/m)),
  };
}

/** The sum over all runs of mocha in an output. */
function count(output: string, word: string): number {
  const numbers = [...output.matchAll(new RegExp(`^ +(\\d+) ${word}`, 'gm'))];
  return numbers.reduce((sum, [, number]) => sum + Number(number), 0);
}

/** The programs that a suite needs and that are not on the path. */
function missing({ needs }: Suite): Program[] {
  const folders = PATH.split(delimiter);
  return needs.filter((name) => !folders.some((folder) => existsSync(join(folder, name))));
}

function packagesOf(programs: readonly Program[]): string {
  return [...new Set(programs.flatMap((program) => DEBIAN_PACKAGES[program].split(' ')))].sort().join(' ');
}
