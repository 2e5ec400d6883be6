/**
 * Proves that the tests notice the loss of a protection. Each patch of `tests/sabotage` removes one from the source: for
 * each, this program applies it, compiles, runs the test that its header names, and expects an assertion to fail.
 * `npm run test:sabotage`; `-- --only NAME,NAME` runs the patches with one of these words in their name; `-- --list`
 * prints them. Prints a table. Ends with 1 if a patch does not apply or compile, if its test passes, or if the same test
 * fails without it.
 *
 * It works in a copy of the checkout in the folder for temporary files. A patch is a unified diff, for `git apply` too,
 * below a header:
 *
 *     Protection: SQLite's replacement compares the version.
 *     Without it: acknowledged edits are lost.
 *     Test: contract/sqlite-repository      (below tests, without .test.ts)
 *     Grep: replace                         (optional: the titles of the tests that run, as `mocha --grep` takes it)
 *     Ring: gate                            (or night, if only a campaign notices the loss)
 *
 * To add one: change `src`, see a test fail, then
 * `(printf 'Protection: …\nWithout it: …\nTest: …\nRing: gate\n'; git diff src) > tests/sabotage/NAME.patch`, and undo
 * the change.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { applied, readPatches, type Sabotage } from '../tests/sabotage/patches.js';
import { chosen, parsedOptions } from './options.js';
import { print, table } from './statistics.js';

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
  readonly err: { readonly message?: string; readonly stack?: string };
}

interface TestRun {
  readonly passes: number;
  readonly failures: readonly Failure[];
  readonly output: string;
}

const { only, list } = parsedOptions({
  only: { type: 'string', default: '' },
  list: { type: 'boolean', default: false },
});
const patches = chosen('only', only, readPatches());
const nameOf = ({ test, grep }: Sabotage) => (grep === undefined ? test : `${test} (${grep})`);
if (list) {
  const rows = patches.map((patch) => [patch.name, patch.ring, patch.protection, nameOf(patch)]);
  print(table(['patch', 'ring', 'protection', 'test'], rows));
} else process.exitCode = await sabotage();

/** @returns the exit code */
async function sabotage(): Promise<number> {
  const copy = mkdtempSync(join(tmpdir(), 'catalogue-sabotage-'));
  try {
    await copyCheckout(copy);
    const controls = new Map<string, string>();
    for (const patch of patches) {
      const name = nameOf(patch);
      if (controls.has(name)) continue;
      const problem = problemOfControl(await runTest(copy, patch));
      controls.set(name, problem);
      print(`${problem === '' ? 'green' : 'RED  '}  without a patch: ${name}${problem}`);
    }
    const rows: string[][] = [];
    let failures = 0;
    for (const patch of patches) {
      const problem = controls.get(nameOf(patch)) || (await tryOut(copy, patch));
      if (problem) failures++;
      rows.push([patch.name, patch.protection, nameOf(patch), problem ? 'NO' : 'yes']);
      print(`${problem ? 'NOT' : 'red'}    ${patch.name}${problem}`);
    }
    print(`\n${table(['patch', 'protection', 'test', 'red'], rows)}`);
    print(`\n  ${patches.length - failures} passing\n  ${failures} failing`);
    return failures > 0 ? 1 : 0;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Copies the compiled checkout, with the times of its files, so that little is compiled again. */
async function copyCheckout(copy: string): Promise<void> {
  const links = ['node_modules'];
  for (const name of readdirSync('.'))
    if (links.includes(name)) symlinkSync(resolve(name), join(copy, name));
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
  if (failures.some(({ err }) => err.stack?.startsWith('AssertionError'))) return '';
  const [first] = failures;
  if (first) return `: no assertion failed, but ${first.fullTitle}: ${first.err.stack}`;
  return passes > 0 ? ': its test passes' : `: no test ran\n${output}`;
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

/** Runs a program of Node in the copy. */
async function run(copy: string, args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, args, {
    cwd: copy,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  const code = await new Promise<number | null>((done) => child.once('close', done));
  return { code, output };
}
