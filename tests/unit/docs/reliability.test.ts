import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { SUITES } from '../../../scripts/suites.js';

const DOCUMENT = readFileSync('docs/reliability.md', 'utf8');
const testsIn = (folder: string) =>
  readdirSync(`tests/${folder}`).filter((name) => name.endsWith('.test.ts'));

describe('docs/reliability.md', () => {
  for (const folder of ['durability', 'faults'])
    for (const name of testsIn(folder))
      it(`names tests/${folder}/${name}`, () => {
        expect(DOCUMENT).to.include(`\`tests/${folder}/${name}\``);
      });

  it('has no campaign that the night leaves out', () => {
    const run = SUITES.map(({ name }) => `${name}.test.ts`);
    expect(testsIn('faults').filter((name) => !run.includes(name))).to.deep.equal([]);
  });
});
