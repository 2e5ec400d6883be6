/**
 * Runs schemathesis, which tests the service against its OpenAPI document: as an administrator, and at night also as a
 * reader and without a credential, all at once, each against its own service. The Python files here are its hooks.
 *
 *   npm run suite conformance                      one example per operation, without a time limit; ten minutes at night
 *   npm run suite conformance -- --examples 8      another number of examples
 *   npm run suite conformance -- --seconds 600     examples for another time
 *
 * `--seed 7` takes other choices than those of TEST_SEED.
 *
 * With a number of examples, only the administrator sends requests, and not every boundary value of every parameter: what
 * the others may not do is refused before the values are read, as `tests/cases/authorization-matrix.test.ts` holds for
 * every operation, and what they may do is the same.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { integer, options } from '../../scripts/options.js';
import { grouped, print } from '../../scripts/statistics.js';
import { AT_NIGHT, TEST_SEED } from '../../tests/support/run-settings.js';
import { type Extent, type Outcome, Schemathesis } from './schemathesis.js';
import { ADMINISTRATOR, CALLERS, type Caller, ConformanceService } from './stateful-service.js';

const args = options({ seed: `${TEST_SEED}`, seconds: '', examples: '' });
const seed = integer('seed', args.seed, 1, 2 ** 31);
const extent: Extent =
  args.examples !== '' || (args.seconds === '' && !AT_NIGHT)
    ? { examples: integer('examples', args.examples || '1', 1, 1_000_000) }
    : { seconds: integer('seconds', args.seconds || '600', 60, 86_400) };

const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
try {
  const schemathesis = await Schemathesis.install('build/conformance');
  print(`seed ${seed}`);
  // If one run fails, the others still end, so that their services stop too.
  const callers = 'seconds' in extent ? CALLERS : CALLERS.filter(({ name }) => name === ADMINISTRATOR);
  const settled = await Promise.allSettled(callers.map((caller) => runAs(caller, schemathesis)));
  report(
    await Promise.all(settled.map((one) => (one.status === 'fulfilled' ? one.value : Promise.reject(one.reason)))),
  );
} finally {
  rmSync(folder, { recursive: true });
}

async function runAs(caller: Caller, schemathesis: Schemathesis): Promise<Outcome> {
  const callerFolder = join(folder, caller.name);
  mkdirSync(callerFolder);
  const service = await ConformanceService.start(callerFolder, caller);
  try {
    return await schemathesis.run(callerFolder, {
      name: caller.name,
      seed,
      extent,
      ...service.access,
    });
  } finally {
    await service.stop();
  }
}

/** Ends with the last lines of a mocha suite, which count each operation once for each caller, and each failure. */
function report(outcomes: readonly Outcome[]): void {
  for (const { output, failures } of outcomes) if (failures > 0) print(output);
  for (const { name, cases, operations, seconds } of outcomes)
    print(`${name}: ${grouped(cases)} cases of ${operations} operations in ${Math.round(seconds)} s`);
  const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((all, outcome) => all + of(outcome), 0);
  print(`${grouped(sum(({ cases }) => cases))} cases in all, seed ${seed}\n`);
  const failing = sum(({ failures }) => failures);
  print(`  ${sum(({ passing }) => passing)} passing\n  ${failing} failing`);
  if (failing > 0) process.exitCode = 1;
}
