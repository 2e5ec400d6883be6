/**
 * Runs schemathesis, which tests the service against its OpenAPI document: as an administrator, as a reader and without
 * a credential, all at once, each against its own service. Its hooks are in tests/conformance/.
 *
 *   npm run test:conformance                                   ten minutes, by a random seed
 *   npm run test:conformance -- --seed 7 --seconds 600         repeats a run
 *   npm run test:conformance -- --seed 1 --examples 8          a number of examples per operation, without a time limit
 *
 * The seed of the variable TEST_SEED applies if no seed is given.
 *
 * With a number of examples, only the administrator sends every boundary value of every parameter and follows the links
 * of responses: what the others may not do is refused before the values are read, and what they may do is the same.
 */
import { randomInt } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { integer, options } from './options.js';
import { type Extent, type Outcome, Schemathesis } from './schemathesis.js';
import { ADMINISTRATOR, CALLERS, type Caller, ConformanceService } from './stateful-service.js';
import { grouped, print } from './statistics.js';

const { TEST_SEED = '' } = process.env;
const args = options({ seed: TEST_SEED, seconds: '600', examples: '' });
const seed = args.seed === '' ? randomInt(1, 2 ** 31) : integer('seed', args.seed, 1, 2 ** 31);
const extent: Extent =
  args.examples === ''
    ? { seconds: integer('seconds', args.seconds, 60, 86_400) }
    : { examples: integer('examples', args.examples, 1, 1_000_000) };

const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
try {
  const schemathesis = await Schemathesis.install('build/conformance');
  print(`seed ${seed}`);
  // If one run fails, the others still end, so that their services stop too.
  const settled = await Promise.allSettled(CALLERS.map((caller) => runAs(caller, schemathesis)));
  report(
    await Promise.all(
      settled.map((one) => (one.status === 'fulfilled' ? one.value : Promise.reject(one.reason))),
    ),
  );
} finally {
  rmSync(folder, { recursive: true });
}

async function runAs(caller: Caller, schemathesis: Schemathesis): Promise<Outcome> {
  const callerFolder = join(folder, caller.name);
  mkdirSync(callerFolder);
  const service = await ConformanceService.start(callerFolder, caller);
  try {
    const isBrief = 'examples' in extent && caller.name !== ADMINISTRATOR;
    return await schemathesis.run(callerFolder, {
      name: caller.name,
      seed,
      extent,
      isBrief,
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
