import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path/posix';
import { expect } from 'chai';

/** A rule of CONTRIBUTING.md for the tests of the gate, as a text that breaks it. */
interface Rule {
  readonly breach: RegExp;
  readonly example: string;
  /** How often a file may break the rule. This list only shrinks. */
  readonly allowed: Readonly<Record<string, number>>;
}

/** Most campaigns measure, and wait for as long as a fault lasts. The gate runs a small part of these. */
const FOLDERS = ['tests', 'campaigns/conformance', 'campaigns/generators'];

const RULES: Readonly<Record<string, Rule>> = {
  'asserts no upper bound on time, memory or rate': {
    breach:
      /\b(?:be\.below|be\.lessThan|at\.most|be\.lte)\([^;]*?(?:[mM]s\b|_MS\b|[sS]econds|MiB|p99)|expect\([^;]{0,40}(?:performance\.now|Date\.now)\(\) - [^;]*?\.(?:below|lessThan|most|lte)\(/,
    example: 'expect(performance.now() - begin).to.be.below(100);',
    allowed: {},
  },
  'never sleeps and then acts': {
    breach: /\bawait (?:sleep|setTimeout|delay)\(/,
    example: 'await sleep(100);',
    // They pace clients that send again, or let a time pass in which nothing must happen: a slow machine waits longer.
    allowed: {
      'contract/exactly-once.contract.ts': 2,
      'contract/killed-server.contract.ts': 1,
      'durability/mixed-use/creations.ts': 1,
      'durability/mixed-use/session.ts': 2,
      'durability/mixed-use/writer.ts': 1,
      'cases/chunked-bodies.test.ts': 1,
      'cases/revoked-access.test.ts': 1,
      'integration/redis-rate-limiter.test.ts': 1,
      'support/unprotected-service.ts': 1,
      'support/until.ts': 1,
      'support/workers.ts': 1,
      'timers/broken-import.test.ts': 1,
      'timers/certificate-files.test.ts': 2,
      'timers/per-client-limits.test.ts': 1,
      'timers/http-limits.test.ts': 2,
      'timers/pipelining.test.ts': 7,
      'timers/stalled-writes.test.ts': 1,
      'unit/adapters/outbound/mongo/index-check.test.ts': 2,
      'timers/mongo-store.test.ts': 1,
      'cases/sqlite-lost-files.test.ts': 1,
      'unit/shared/fair-semaphore.test.ts': 1,
    },
  },
  'has no second try': {
    breach: /\.retries\(|\bMAX_TRIES\b|\battempt (?:<|<=) (?:MAX|[A-Z_]*TRIES)/,
    example: 'this.retries(2);',
    allowed: {},
  },
  'takes random choices from TEST_SEED': {
    breach: /\bMath\.random\(|\brandomInt\(|\bseed: (?!TEST_SEED)\w*(?:now|random)/,
    example: 'const port = randomInt(1_000);',
    allowed: {},
  },
};

const files = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && file !== 'architecture/gate-tests.test.ts')
    .map((file) => join(folder, file))
    .map((path) => ({ file: relative('tests', path), source: readFileSync(path, 'utf8') })),
);

function breaches({ breach }: Rule, source: string): number {
  return [...source.matchAll(new RegExp(breach, 'g'))].length;
}

describe('a test of the gate', () => {
  for (const [name, rule] of Object.entries(RULES)) {
    it(name, () => {
      const found = files.map(({ file, source }) => [file, breaches(rule, source)] as const);
      expect(Object.fromEntries(found.filter(([, count]) => count > 0))).to.deep.equal(rule.allowed);
    });

    it(`${name}: a breach is found`, () => {
      expect(breaches(rule, rule.example)).to.equal(1);
    });
  }
});
