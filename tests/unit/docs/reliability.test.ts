import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { RecordedFigures } from '../../../scripts/compared-figures.js';
import { suitesOf } from '../../../scripts/suites.js';

const DOCUMENT = readFileSync('docs/explanation/reliability.md', 'utf8');
const { figures }: RecordedFigures = JSON.parse(readFileSync('docs/figures.json', 'utf8'));
/** A figure with its unit, in a cell of the table of promises. */
const FIGURE = /([\d,.]*\d) (ms|s|%|MiB|times)(?!\w)/g;
const testsIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.test.ts'));

describe('docs/explanation/reliability.md', () => {
  for (const folder of ['tests/durability', 'campaigns/faults'])
    for (const name of testsIn(folder))
      it(`names ${folder}/${name}`, () => {
        expect(DOCUMENT).to.include(`\`${folder}/${name}\``);
      });

  it('has the figures of the last release in the table of promises', () => {
    const wrong: string[] = [];
    let checked = 0;
    for (const row of DOCUMENT.split('\n').filter((line) => line.startsWith('| **'))) {
      const [, , cell = '', tests = ''] = row.split('|');
      const names = [...tests.matchAll(/\/([\w-]+)\.test\.ts/g)].map(([, name = '']) => name);
      const recorded = names.flatMap((name) => Object.entries(figures[name] ?? {}));
      for (const [text, number = '', unit] of cell.matchAll(FIGURE)) {
        checked++;
        const value = Number(number.replaceAll(',', ''));
        if (!recorded.some(([name, known]) => known === value && name.endsWith(`, ${unit}`))) wrong.push(text);
      }
    }
    expect(checked).to.be.greaterThan(15);
    expect(wrong).to.deep.equal([]);
  });

  it('has no campaign that the night leaves out', () => {
    const run = suitesOf('night').map(({ name }) => `${name}.test.ts`);
    expect(testsIn('campaigns/faults').filter((name) => !run.includes(name))).to.deep.equal([]);
  });
});
