import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { applyJsonPatch } from '#src/application/patch/json-patch.js';
import { AppError } from '#src/domain/errors.js';

/** See the README of https://github.com/json-patch/json-patch-tests. */
interface SuiteCase {
  readonly comment?: string;
  readonly doc: unknown;
  readonly patch: unknown;
  /** Absent if the case requires only success. */
  readonly expected?: unknown;
  readonly error?: string;
  readonly disabled?: boolean;
}

const FILES = ['tests.json', 'spec_tests.json'];
const { resolve } = createRequire(import.meta.url);

function casesIn(file: string): SuiteCase[] {
  const cases: SuiteCase[] = JSON.parse(readFileSync(resolve(`json-patch-test-suite/${file}`), 'utf8'));
  return cases.filter(({ doc, patch, disabled }) => doc !== undefined && patch !== undefined && !disabled);
}

describe('the public suite of JSON Patch', () => {
  for (const file of FILES)
    for (const [index, { comment, doc, patch, expected, error }] of casesIn(file).entries())
      it(`${file}, ${index}: ${comment ?? error ?? JSON.stringify(patch)}`, () => {
        const before = structuredClone(doc);
        const apply = () => applyJsonPatch(doc, patch);
        if (error !== undefined) expect(apply).to.throw(AppError);
        else {
          const after = apply();
          if (expected !== undefined) expect(after).to.deep.equal(expected);
        }
        expect(doc, 'the original document').to.deep.equal(before);
      });
});
