import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { applied, parsePatch, readPatches } from '../sabotage/patches.js';

describe('a patch that removes a protection', () => {
  for (const { name, test, hunks } of readPatches())
    it(`applies to the source, and has a test: ${name}`, () => {
      expect(hunks).not.to.deep.equal([]);
      expect(hunks.map(({ file }) => file).filter((file) => !file.startsWith('src/'))).to.deep.equal([]);
      const sources = new Map(hunks.map(({ file }) => [file, readFileSync(file, 'utf8')]));
      for (const hunk of hunks) sources.set(hunk.file, applied(hunk, sources.get(hunk.file) ?? ''));
      expect(existsSync(`tests/${test}.test.ts`)).to.equal(true);
    });

  it('applies only where its lines stand exactly once', () => {
    const header = 'Protection: a\nWithout it: b\nTest: c\n';
    const diff = 'diff --git a/src/x.ts b/src/x.ts\n--- a/src/x.ts\n+++ b/src/x.ts\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n';
    const [hunk] = parsePatch('x', header + diff).hunks;
    if (!hunk) throw new Error('The patch has no hunk.');
    expect(applied(hunk, 'zero\none\ntwo\n')).to.equal('zero\none\n2\n');
    expect(() => applied(hunk, 'two\none\n')).to.throw('src/x.ts has the lines of the patch 0 times');
    expect(() => applied(hunk, 'one\ntwo\none\ntwo\n')).to.throw('2 times');
  });
});
