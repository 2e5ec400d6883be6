/**
 * Runs suites of `suites.ts`, in a compiled checkout. It fails on facts; times, rates and memory are figures in
 * `build/figures.jsonl`.
 *
 *   npm run suite                                   prints all suites, by the run that has them, with what each needs
 *   npm run suite crash                             runs one; arguments after `--` are its own
 *   npm run test:all                                runs the night, one suite after the other, all with one new seed
 *   npm run test:all -- --only overload,disk        runs these of the night; TEST_SEED=N repeats a run
 *   npm run test:all -- --list                      prints their commands
 *   npm run test:all -- --packages                  prints the Debian packages that are missing
 *   node build/scripts/run-suites.js --gate         runs those of the gate, four at a time, as `.ci/run` does; with
 *                                                   --await-tools those that need more than Node.js start when standard
 *                                                   input ends: its text is the folder of the image's Node.js
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { FIGURES_FILE, figuresOf } from '../tests/support/figure.js';
import { MongoProcess } from '../tests/support/mongo-process.js';
import { RedisServer } from '../tests/support/redis-server.js';
import { createTemporaryFolder } from '../tests/support/temporary-folder.js';
import { parsedOptions } from './options.js';
import { print, table } from './statistics.js';
import { DEBIAN_PACKAGES, OLDEST_POSTGRESQL, type Program, type Run, SUITES, type Suite, suitesOf } from './suites.js';

interface Outcome {
  readonly suite: Suite;
  readonly passed: number;
  readonly failed: number;
  /** Seconds after the start of the run. */
  readonly began: number;
  readonly ended: number;
  /** Of processors, by the processes of the suite and the servers that are started for it. PostgreSQL outlives them. */
  readonly cpuSeconds: number;
  /** The failures that mocha prints, or the end of the output if the run broke off. */
  readonly failures: string;
}

/** So much of the output of a run that broke off is printed again, in lines. */
const LAST_LINES = 30;
/** Ends a suite that hangs; 0: never. */
const LIMIT_S: Readonly<Record<Run, number>> = { gate: 1_800, night: 0 };
/** In the gate two more than the cores that it has, because many tests wait for timers, servers or the disk. */
const AT_A_TIME: Readonly<Record<Run, number>> = { gate: 4, night: 1 };
/** The most that a suite yields to those before it in the table. More could make a wait end at its limit. */
const MOST_NICE = 5;

const START = performance.now();
const { PATH = '' } = process.env;
const running = new Set<ChildProcess>();
let isStopping = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    isStopping = true;
    for (const child of running) child.kill('SIGTERM');
  });

const [name] = process.argv.slice(2);
if (name === undefined) listAll();
else if (name.startsWith('--')) await runMany();
else process.exitCode = await runOne(named(name, SUITES), process.argv.slice(3));

/** @throws Error if no suite has the name */
function named(name: string, among: readonly Suite[]): Suite {
  const suite = among.find((one) => one.name === name);
  if (!suite) throw new Error(`${name} is none of: ${among.map((one) => one.name).join(', ')}`);
  return suite;
}

function listAll(): void {
  const isAlone = ({ needs }: Suite) => needs.length === 0;
  const gate = suitesOf('gate');
  const lists: Readonly<Record<string, readonly Suite[]>> = {
    'Node.js alone': gate.filter(isAlone),
    'The gate, .ci/run, has them and': gate.filter((suite) => !isAlone(suite)),
    'The night, npm run test:all, has these at full size and': suitesOf('night').filter(
      ({ runs }) => !runs.includes('gate'),
    ),
    'By hand': SUITES.filter(({ runs }) => runs.length === 0),
  };
  for (const [title, suites] of Object.entries(lists)) {
    print(`\n${title}:`);
    for (const suite of suites) {
      print(`  ${suite.name.padEnd(20)} ${suite.tests}`);
      if (!isAlone(suite)) print(`${' '.repeat(23)}${needsOf(suite)}`);
    }
  }
  print('\nnpm run suite NAME runs one. Arguments after -- are its own.');
}

function needsOf({ needs, needsAtNight = [] }: Suite): string {
  const atNight = needsAtNight.length === 0 ? '' : `; at night ${needsAtNight.join(', ')}`;
  return `needs ${needs.length === 0 ? 'Node.js alone' : needs.join(', ')}${atNight}`;
}

/** Runs a suite in this terminal. @returns its exit code */
async function runOne(suite: Suite, args: readonly string[]): Promise<number> {
  const isNight = process.env['TEST_NIGHT'] === '1';
  if (refuses([suite], isNight)) return 1;
  const env = { ...environment(), ...(!suite.runs.includes('gate') && { TEST_NIGHT: '1' }) };
  return withServers(suite, env, (all) =>
    ended(
      spawn('bash', ['-c', `${commandOf(suite, isNight)} "$@"`, suite.name, ...args], {
        env: all,
        stdio: 'inherit',
      }),
    ),
  );
}

/** Runs the suites of the gate or of the night. */
async function runMany(): Promise<void> {
  const {
    gate,
    only,
    list,
    packages,
    totals,
    'await-tools': awaitsTools,
  } = parsedOptions({
    gate: { type: 'boolean', default: false },
    night: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
    packages: { type: 'boolean', default: false },
    totals: { type: 'string', default: '' },
    'await-tools': { type: 'boolean', default: false },
  });
  const run: Run = gate ? 'gate' : 'night';
  const isNight = !gate;
  const all = suitesOf(run);
  const suites = only === '' ? all : only.split(',').map((one) => named(one, all));
  if (list) for (const suite of suites) print(`${suite.name}\n    ${commandOf(suite, isNight)}\n    ${needsOf(suite)}`);
  else if (packages) print(packagesOf(suites.flatMap((suite) => missing(suite, isNight))));
  else if (!awaitsTools && refuses(suites, isNight)) process.exitCode = 1;
  else {
    const { passed, failed } = await runAll(run, suites, awaitsTools ? text(process.stdin) : '');
    if (totals !== '') writeFileSync(totals, `${passed} ${failed}\n`);
    process.exitCode = failed > 0 ? 1 : 0;
  }
}

/** @param tools the folder of the image's Node.js or nothing, once the programs are installed that suites need */
async function runAll(
  run: Run,
  suites: readonly Suite[],
  tools: Promise<string> | string,
): Promise<Pick<Outcome, 'passed' | 'failed'>> {
  const { TEST_SEED = run === 'gate' ? '1' : `${randomInt(1, 1_000_000)}` } = process.env;
  const env = { ...environment(), TEST_SEED, ...(run === 'night' && { TEST_NIGHT: '1' }) };
  rmSync(FIGURES_FILE, { force: true });
  const idleBefore = idleMs();
  print(`TEST_SEED=${TEST_SEED}`);
  const figure = figuresOf('test-all');
  const outcomes: Outcome[] = [];
  const rest = [...suites];
  let imageNode = typeof tools === 'string' ? tools : undefined;
  const runRest = async () => {
    while (rest.length > 0 && !isStopping) {
      const next = imageNode === undefined ? rest.findIndex((suite) => !usesTools(suite)) : 0;
      const [suite] = next < 0 ? [] : rest.splice(next, 1);
      if (!suite) {
        imageNode = (await tools).trim();
        continue;
      }
      const niceness = Math.min(suites.indexOf(suite), MOST_NICE);
      const outcome = await outcomeOf(run, suite, environmentOf(suite, run, env, imageNode), niceness);
      if (run === 'night') figure(suite.name, Math.round(outcome.ended - outcome.began), 's');
      outcomes.push(outcome);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME[run] }, runRest));
  const sum = (of: 'passed' | 'failed' | 'cpuSeconds') => outcomes.reduce((total, outcome) => total + outcome[of], 0);
  const [passed, failed] = [sum('passed'), sum('failed')];
  const rows = outcomes.map(({ suite, passed, failed, began, ended, cpuSeconds }) => [
    suite.name,
    ...[passed, failed, began, ended, cpuSeconds].map((number) => number.toFixed(0)),
  ]);
  print(`\n${table(['suite', 'passed', 'failed', 'from s', 'to s', 'CPU s'], rows)}`);
  const idle = ((idleMs() - idleBefore) / 1_000).toFixed(0);
  print(`${sum('cpuSeconds').toFixed(0)} CPU s; the ${cpus().length} processors were idle for ${idle} s`);
  for (const { suite, failed, failures } of outcomes) if (failed > 0) print(`\n== FAILED: ${suite.name}\n${failures}`);
  print(`\nTEST_SEED=${TEST_SEED}\n${passed} passed, ${failed} failed`);
  return { passed, failed };
}

/**
 * Runs a suite and shows its output: as it comes, or in one piece at the end if others run at the same time. A run that
 * breaks off counts as a failure, and so does one without tests, unless it passes as a whole.
 */
async function outcomeOf(run: Run, suite: Suite, env: NodeJS.ProcessEnv, niceness: number): Promise<Outcome> {
  const began = performance.now();
  const isLive = AT_A_TIME[run] === 1;
  const title = `\n== ${suite.name}: ${commandOf(suite, run === 'night')}`;
  if (isLive) print(title);
  let output = '';
  const folder = mkdtempSync(join(tmpdir(), 'suite-'));
  const times = join(folder, 'times');
  const timed = `node build/scripts/run-suites.js ${suite.name}\nstatus=$?; times >'${times}'; exit $status`;
  const limited = ['timeout', '--kill-after=10', `${LIMIT_S[run]}`, 'bash', '-c', timed];
  const child = spawn('nice', ['-n', `${niceness}`, ...limited], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      if (isLive) process.stdout.write(chunk);
    });
  const code = await ended(child);
  if (!isLive) print(`${title}\n${output}`);
  const cpuSeconds = existsSync(times) ? secondsIn(readFileSync(times, 'utf8')) : 0;
  rmSync(folder, { recursive: true });
  const counted = { passed: count(output, 'passing'), failed: count(output, 'failing') };
  const hasRun = suite.isWhole === true || counted.passed + counted.failed > 0;
  const isBroken = (code !== 0 || !hasRun) && counted.failed === 0;
  return {
    suite,
    passed: suite.isWhole && !isBroken ? Math.max(counted.passed, 1) : counted.passed,
    failed: counted.failed + Number(isBroken),
    began: (began - START) / 1_000,
    ended: (performance.now() - START) / 1_000,
    cpuSeconds,
    failures: isBroken
      ? `It ended with ${code}.\n${output.split('\n').slice(-LAST_LINES).join('\n')}`
      : output.slice(output.search(/^ +\d+ failing$/m)),
  };
}

/** Starts the servers that a suite uses and that no variable names, and stops them after it. */
async function withServers(
  { usesServers }: Suite,
  env: NodeJS.ProcessEnv,
  run: (env: NodeJS.ProcessEnv) => Promise<number>,
): Promise<number> {
  if (!usesServers) return run(env);
  const folder = createTemporaryFolder();
  const redis = env['REDIS_URL'] ? undefined : await RedisServer.onFreePort();
  const mongo = env['MONGODB_URL'] ? undefined : await MongoProcess.onFreePort(folder);
  try {
    await Promise.all([redis?.run(), mongo?.run()]);
    return await run({
      ...env,
      ...(redis && { REDIS_URL: redis.url }),
      ...(mongo && { MONGODB_URL: mongo.url('') }),
    });
  } finally {
    await Promise.all([redis?.kill(), mongo?.kill()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns the exit code; 1 if a signal ended the process */
async function ended(child: ChildProcess): Promise<number> {
  running.add(child);
  try {
    return await new Promise((done, reject) => child.once('error', reject).once('close', (code) => done(code ?? 1)));
  } finally {
    running.delete(child);
  }
}

function environment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${resolve('node_modules/.bin')}${delimiter}${PATH}` };
}

/** Whether a suite needs more in the gate than the compiled checkout and Node.js. */
function usesTools({ needs, usesImageNode, usesOldestPostgresql }: Suite): boolean {
  return needs.length > 0 || usesImageNode === true || usesOldestPostgresql === true;
}

/** @param imageNode the folder of the image's Node.js; empty: there is none */
function environmentOf(suite: Suite, run: Run, env: NodeJS.ProcessEnv, imageNode = ''): NodeJS.ProcessEnv {
  if (run === 'night') return env;
  return {
    ...(suite.usesOldestPostgresql && { POSTGRES_BIN: OLDEST_POSTGRESQL }),
    ...env,
    ...(suite.usesImageNode && imageNode !== '' && { PATH: `${imageNode}${delimiter}${env['PATH']}` }),
  };
}

/** The time that all processors together were idle since the computer started, in milliseconds. */
function idleMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.idle, 0);
}

function commandOf({ command, atNight = command }: Suite, isNight: boolean): string {
  return isNight ? atNight : command;
}

/** The sum of the times that `times` of the shell prints, such as `1m2.500s`. */
function secondsIn(text: string): number {
  const all = [...text.matchAll(/(\d+)m([\d.]+)s/g)];
  return all.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}

/** The sum over all runs of mocha in an output. */
function count(output: string, word: string): number {
  const numbers = [...output.matchAll(new RegExp(`^ +(\\d+) ${word}`, 'gm'))];
  return numbers.reduce((sum, [, number]) => sum + Number(number), 0);
}

/** Says which programs are missing, if there are some. */
function refuses(suites: readonly Suite[], isNight: boolean): boolean {
  const lacking = [...new Set(suites.flatMap((suite) => missing(suite, isNight)))];
  if (lacking.length === 0) return false;
  print(`Missing: ${lacking.join(', ')}. On Debian: apt-get install ${packagesOf(lacking)}`);
  return true;
}

/** The programs that a suite needs and that are not on the path. `CHROMIUM` names a browser elsewhere. */
function missing({ needs, needsAtNight = [] }: Suite, isNight: boolean): Program[] {
  const folders = PATH.split(delimiter);
  const { CHROMIUM } = process.env;
  return [...needs, ...(isNight ? needsAtNight : [])].filter((program) =>
    program === 'chromium' && CHROMIUM
      ? !existsSync(CHROMIUM)
      : !folders.some((folder) => existsSync(join(folder, program))),
  );
}

function packagesOf(programs: readonly Program[]): string {
  return [...new Set(programs.flatMap((program) => DEBIAN_PACKAGES[program].split(' ')))].sort().join(' ');
}
