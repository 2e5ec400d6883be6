import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { CAMPAIGNS } from '../../faults/campaigns.js';

const SECTIONS = new Map(
  readFileSync('docs/reliability.md', 'utf8')
    .split('\n## ')
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section] as const),
);

describe('docs/reliability.md', () => {
  for (const { name, files } of CAMPAIGNS)
    it(`has a section "${name}" that names its tests`, () => {
      const paths = files.map((file) => `tests/${file}.test.ts`);
      expect(paths.filter((path) => !existsSync(path))).to.deep.equal([]);
      expect(paths.filter((path) => !SECTIONS.get(name)?.includes(`\`${path}\``))).to.deep.equal([]);
    });

  for (const folder of ['durability', 'faults'])
    it(`has a campaign that runs each test of ${folder}`, () => {
      const run = CAMPAIGNS.flatMap(({ files }) => files.map((file) => `${file}.test.ts`));
      const files = readdirSync(`tests/${folder}`).filter((name) => name.endsWith('.test.ts'));
      expect(files.filter((name) => !run.includes(`${folder}/${name}`))).to.deep.equal([]);
    });
});
