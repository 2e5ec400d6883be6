/**
 * Has schemathesis try the service against its own OpenAPI document: as an administrator, as a reader and as nobody, each of
 * them against a service of its own, all at once. What it is told of the service is in tests/conformance/.
 *
 *   npm run test:conformance                                   ten minutes, by a random seed
 *   npm run test:conformance -- --seed 7 --seconds 600         the same again
 *   npm run test:conformance -- --seed 1 --examples 8          that many for each operation, however long it takes
 */
import { randomInt } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { integer, options } from './options.js';
import { type Outcome, type Pace, Schemathesis } from './schemathesis.js';
import { CALLERS, type Caller, ConformanceService } from './stateful-service.js';
import { grouped, print } from './statistics.js';

const given = options({ seed: '', seconds: '600', examples: '' });
const seed = given.seed === '' ? randomInt(1, 2 ** 31) : integer('seed', given.seed, 1, 2 ** 31);
const pace: Pace =
  given.examples === ''
    ? { seconds: integer('seconds', given.seconds, 60, 86_400) }
    : { examples: integer('examples', given.examples, 1, 1_000_000) };

const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
try {
  const schemathesis = await Schemathesis.install(join(folder, 'python'));
  print(`seed ${seed}`);
  // Of one that breaks the others are still waited for: their services are to end, too.
  const settled = await Promise.allSettled(CALLERS.map((caller) => tried(caller, schemathesis)));
  report(
    await Promise.all(
      settled.map((one) => (one.status === 'fulfilled' ? one.value : Promise.reject(one.reason))),
    ),
  );
} finally {
  rmSync(folder, { recursive: true });
}

async function tried(caller: Caller, schemathesis: Schemathesis): Promise<Outcome> {
  const own = join(folder, caller.name);
  mkdirSync(own);
  const service = await ConformanceService.start(own, caller);
  try {
    return await schemathesis.run(own, { name: caller.name, seed, pace, ...service.reported });
  } finally {
    await service.stop();
  }
}

/** The last lines are those of a mocha suite: each operation counts once for each caller, and each failure. */
function report(outcomes: readonly Outcome[]): void {
  for (const { output, failures } of outcomes) if (failures > 0) print(output);
  for (const { name, cases, operations, seconds } of outcomes)
    print(`${name}: ${grouped(cases)} cases of ${operations} operations in ${Math.round(seconds)} s`);
  const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((all, outcome) => all + of(outcome), 0);
  print(`${grouped(sum(({ cases }) => cases))} cases in all, seed ${seed}\n`);
  const failing = sum(({ failures }) => failures);
  print(`  ${sum(({ faultless }) => faultless)} passing\n  ${failing} failing`);
  if (failing > 0) process.exitCode = 1;
}
