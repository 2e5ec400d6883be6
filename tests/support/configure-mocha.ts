/**
 * Mocha loads this file before the tests of each process: every property has the seed of the run, and the stack of a
 * failure names lines of TypeScript. Maps are read for failures only: read for every module, as `--enable-source-maps`
 * does, they take a tenth of `npm test`.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { config } from 'chai';
import fc from 'fast-check';
import type { Context } from 'mocha';
import { AT_NIGHT, TEST_SEED } from './run-settings.js';

// Tests run most code a few times. Optimized as early as in a service, it costs more than it saves: a tenth of `npm test`.
// Later versions of Node.js have no such flag.
if (process.versions.node.startsWith('20.')) setFlagsFromString('--interrupt-budget=400000');
// At night one run takes up to seconds: a smaller counterexample would come after the limit of the test.
fc.configureGlobal({ seed: TEST_SEED, endOnFailure: AT_NIGHT });
// The compiler finds a property that chai lacks. The proxies that find it too take half the time of an assertion.
config.useProxy = false;

export const mochaHooks = {
  afterEach(this: Context) {
    const error = this.currentTest?.err;
    if (error?.stack) error.stack = withSources(error.stack);
  },
};

/** A stack whose positions in compiled files are those of their sources; those without a map stay. */
export function withSources(stack: string): string {
  return stack.replace(
    /(file:\/\/[^\s():]+\.js):(\d+):(\d+)/g,
    (position, url: string, line: string, column: string) => {
      const file = fileURLToPath(url);
      let map: SourceMap;
      try {
        map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
      } catch {
        return position;
      }
      const entry = map.findEntry(Number(line) - 1, Number(column) - 1);
      if (!('originalSource' in entry)) return position;
      const source = relative('.', resolve(file, '..', entry.originalSource));
      return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
    },
  );
}
