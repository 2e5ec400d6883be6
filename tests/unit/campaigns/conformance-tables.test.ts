import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { DEFINITIONS } from '#src/composition/resources.js';
import { uniqueFields } from '#src/domain/fields.js';

const SAMPLES = readFileSync('campaigns/conformance/state.py', 'utf8');
const BODIES = readFileSync('campaigns/conformance/bodies.py', 'utf8');

describe('the conformance suite', () => {
  for (const { path, fields, docs } of Object.values(DEFINITIONS)) {
    it(`has a sample of ${docs.singular}: SAMPLES in campaigns/conformance/state.py`, () => {
      expect(SAMPLES).to.include(`\n    "${path}": `);
    });

    it(`frees the unique fields of ${docs.plural}: _valid in campaigns/conformance/bodies.py`, () => {
      const [, freed = ''] = /for field in \(([^)]*)\)/.exec(BODIES) ?? [];
      expect(uniqueFields(fields).filter((name) => !freed.includes(`"${name}"`))).to.deep.equal([]);
    });

    if (path === 'api-keys') continue;
    it(`knows the patches of ${docs.plural}: PATCHES in campaigns/conformance/bodies.py`, () => {
      expect(BODIES).to.include(`"/v1/${path}/{id}": "${docs.name}Patch"`);
    });
  }
});
