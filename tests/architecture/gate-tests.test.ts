import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { expect } from 'chai';

/** A rule of CONTRIBUTING.md for the tests of the gate, as a text that breaks it. */
interface Rule {
  readonly breach: RegExp;
  readonly example: string;
  /** How often a file may break the rule. This list only shrinks. */
  readonly allowed: Readonly<Record<string, number>>;
}

/** Campaigns of the night and programs that take real time: they measure, and wait for as long as a fault lasts. */
const NIGHT = /^(faults|alerts|deployment|examples|image)\//;

const RULES: Readonly<Record<string, Rule>> = {
  'asserts no upper bound on time, memory or rate': {
    breach:
      /\.(?:below|lessThan|most|lte)\([^;]*?(?:[mM]s\b|_MS\b|seconds|MiB|p99)|expect\([^;]{0,40}(?:performance\.now\(\)|Date\.now\(\)) - [^;]*?\.(?:below|lessThan|most|lte)\(/,
    example: 'expect(performance.now() - begin).to.be.below(100);',
    allowed: {},
  },
  'never sleeps and then acts': {
    breach: /\bawait (?:sleep|setTimeout|delay)\(/,
    example: 'await sleep(100);',
    allowed: {},
  },
  'has no second try': {
    breach: /\.retries\(|\bMAX_TRIES\b|\battempts? <=? /,
    example: 'this.retries(2);',
    allowed: {},
  },
  'takes random choices from TEST_SEED': {
    breach: /\bMath\.random\(|\brandomInt\(|\bseed: (?!TEST_SEED)\w*(?:now|random)/,
    example: 'const port = randomInt(1_000);',
    allowed: {},
  },
};

const files = readdirSync('tests', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !NIGHT.test(file) && file !== 'architecture/gate-tests.test.ts')
  .map((file) => ({ file, source: readFileSync(join('tests', file), 'utf8') }));

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
