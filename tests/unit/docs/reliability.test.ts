import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { SUITES } from '../../../scripts/suites.js';

const DOCUMENT = readFileSync('docs/reliability.md', 'utf8');
const CAMPAIGNS = readdirSync('tests/faults').filter((name) => name.endsWith('.test.ts'));

describe('docs/reliability.md', () => {
  for (const name of CAMPAIGNS)
    it(`names tests/faults/${name}, which the night runs`, () => {
      expect(DOCUMENT).to.include(`\`tests/faults/${name}\``);
      expect(SUITES.map((suite) => `${suite.name}.test.ts`)).to.include(name);
    });
});
