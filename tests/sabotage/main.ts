/**
 * Proves that the tests notice the loss of a protection. Each patch of `tests/sabotage` removes one from the source: for
 * each, this program applies it, compiles, runs the test that its header names, and expects an assertion to fail.
 * `npm run suite sabotage`; `-- --only NAME,NAME` runs the patches with one of these words in their name; `-- --list`
 * prints them. Prints a table. Ends with 1 if a patch does not apply or compile, if its test passes or fails for another
 * reason, or if the test fails without the patch.
 *
 * It works in a copy of the checkout in the folder for temporary files. A patch is a unified diff, for `git apply` too,
 * below a header of one line for each entry:
 *
 *     Protection: SQLite's replacement compares the version.
 *     Without it: two edits of one version are both acknowledged, and one is lost.
 *     Test: contract/stores
 *     Grep: replace
 *
 * `Test` is a file below `tests`, without `.test.ts`: one of the gate, quick, and certain to fail. `Grep` is optional, as
 * `mocha --grep` takes it: the titles of the tests that run. `tests/architecture/sabotage.test.ts` holds that each patch
 * applies, so a change of the source that moves a protection has to move its patch too.
 *
 * To add a patch, change `src`, see the test fail, write the header and `git diff src` to `tests/sabotage/NAME.patch`,
 * and undo the change.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chosen, parsedOptions } from '../../scripts/options.js';
import { print, table } from '../../scripts/statistics.js';
import { applied, readPatches, type Sabotage } from './patches.js';

/** Tests of these folders import the modules. The others start the bundled programs. */
const USES_MODULES = /^(?:unit|contract|http)\//;
/** Ends a test that a patch keeps from ending. */
const LIMIT_MS = 600_000;

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

interface Failure {
  readonly fullTitle: string;
  readonly err: {
    readonly message?: string;
    readonly stack?: string;
    /** The failure of one case, if the test has a property of many. */
    readonly cause?: { readonly name?: string };
  };
}

interface TestRun {
  readonly passes: number;
  readonly failures: readonly Failure[];
  readonly output: string;
}

/** The program that runs now. */
let running: ChildProcess | undefined;

const { only, list } = parsedOptions({
  only: { type: 'string', default: '' },
  list: { type: 'boolean', default: false },
});
const patches = chosen('only', only, readPatches());
const nameOf = ({ test, grep }: Sabotage) => (grep === undefined ? test : `${test} (${grep})`);
if (list) {
  const rows = patches.map((patch) => [patch.name, patch.protection, nameOf(patch)]);
  print(table(['patch', 'protection', 'test'], rows));
} else process.exitCode = await sabotage();

/** @returns the exit code */
async function sabotage(): Promise<number> {
  const copy = mkdtempSync(join(tmpdir(), 'catalogue-sabotage-'));
  process.once('exit', () => {
    if (running) endGroup(running);
    rmSync(copy, { recursive: true, force: true });
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  await copyCheckout(copy);
  const controls = await runControls(copy);
  const rows: string[][] = [];
  for (const patch of patches) {
    const problem = controls.get(nameOf(patch)) || (await tryOut(copy, patch));
    rows.push([patch.name, patch.protection, nameOf(patch), problem ? 'NO' : 'yes']);
    print(`${problem ? 'NOT' : 'red'}    ${patch.name}${problem}`);
  }
  const failures = rows.filter((row) => row.at(-1) === 'NO').length;
  print(`\n${table(['patch', 'protection', 'test', 'red'], rows)}`);
  print(`\n  ${rows.length - failures} passing\n  ${failures} failing`);
  return failures > 0 ? 1 : 0;
}

/** Runs each test once without a patch. @returns what is wrong with it; an empty text if it passes */
async function runControls(copy: string): Promise<ReadonlyMap<string, string>> {
  const controls = new Map<string, string>();
  for (const patch of patches) {
    const name = nameOf(patch);
    if (controls.has(name)) continue;
    const problem = problemOfControl(await runTest(copy, patch));
    controls.set(name, problem);
    print(`${problem ? 'RED  ' : 'green'}  without a patch: ${name}${problem}`);
  }
  return controls;
}

/** Copies the compiled checkout, with the times of its files, so that little is compiled again. */
async function copyCheckout(copy: string): Promise<void> {
  for (const name of readdirSync('.'))
    if (name === 'node_modules') symlinkSync(resolve(name), join(copy, name));
    else if (name !== '.git' && name !== 'data')
      cpSync(name, join(copy, name), { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  // A patch may leave something without a use. Its types are checked.
  const configuration = join(copy, 'tsconfig.json');
  const text = readFileSync(configuration, 'utf8');
  writeFileSync(configuration, text.replace(/("noUnused\w+"): true/g, '$1: false'));
  const { code, output } = await compile(copy, true);
  if (code !== 0) throw new Error(`The copy does not compile.\n${output}`);
}

function problemOfControl({ passes, failures, output }: TestRun): string {
  const [first] = failures;
  if (first) return `: it fails without a patch: ${first.fullTitle}: ${first.err.message}`;
  return passes > 0 ? '' : `: no test runs\n${output}`;
}

/** @returns what is wrong; an empty text if an assertion of the test failed */
async function tryOut(copy: string, patch: Sabotage): Promise<string> {
  const originals = new Map<string, string>();
  try {
    for (const hunk of patch.hunks) {
      const path = join(copy, hunk.file);
      const source = readFileSync(path, 'utf8');
      if (!originals.has(path)) originals.set(path, source);
      writeFileSync(path, applied(hunk, source));
    }
    const { code, output } = await compile(copy, !USES_MODULES.test(patch.test));
    return code === 0 ? problemOf(await runTest(copy, patch)) : `: it does not compile\n${output}`;
  } catch (error) {
    return `: ${error instanceof Error ? error.message : error}`;
  } finally {
    for (const [path, source] of originals) writeFileSync(path, source);
  }
}

function problemOf({ passes, failures, output }: TestRun): string {
  if (failures.some(isOfAssertion)) return '';
  const [first] = failures;
  if (first) return `: no assertion failed, but ${first.fullTitle}: ${first.err.stack}`;
  return passes > 0 ? ': its test passes' : `: no test ran\n${output}`;
}

function isOfAssertion({ err: { stack, cause } }: Failure): boolean {
  return stack?.startsWith('AssertionError') === true || cause?.name === 'AssertionError';
}

async function compile(copy: string, bundles: boolean): Promise<Ended> {
  const compiled = await run(copy, ['node_modules/typescript/bin/tsc', '--build']);
  return compiled.code === 0 && bundles ? run(copy, ['scripts/bundle.js']) : compiled;
}

async function runTest(copy: string, { test, grep }: Sabotage): Promise<TestRun> {
  const report = join(copy, 'sabotage.json');
  rmSync(report, { force: true });
  const reporter = ['--reporter', 'json', '--reporter-option', `output=${report}`];
  const chosenTests = grep === undefined ? [] : ['--grep', grep];
  const file = `build/tests/${test}.test.js`;
  const mocha = ['node_modules/mocha/bin/mocha.js', '--exit', ...reporter, ...chosenTests, file];
  const { output } = await run(copy, mocha);
  try {
    const { stats, failures } = JSON.parse(readFileSync(report, 'utf8'));
    return { passes: stats.passes, failures, output };
  } catch {
    return { passes: 0, failures: [], output };
  }
}

/** Runs a program of Node in the copy. What it leaves behind, such as a service, ends with it. */
async function run(copy: string, args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, args, {
    cwd: copy,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  running = child;
  const limit = setTimeout(() => endGroup(child), LIMIT_MS);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  child.once('exit', () => endGroup(child));
  const code = await new Promise<number | null>((done) => child.once('close', done));
  clearTimeout(limit);
  return { code, output };
}

/** Ends a program and all that it has started. */
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // All have ended.
  }
}
