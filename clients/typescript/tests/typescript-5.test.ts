import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

/** The strictest options, without the types of Node. */
const OPTIONS = [
  ...['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'],
  ...['--module', 'nodenext', '--lib', 'es2022,dom', '--typeRoots', 'none', '--skipLibCheck', 'false'],
];

describe('the types of the client', () => {
  it('compile with TypeScript 5, in a project for browsers', async () => {
    const { resolve: find } = createRequire(resolve('clients/typescript/package.json'));
    const compiler = find('typescript/bin/tsc');
    const { stdout } = await promisify(execFile)(process.execPath, [compiler, '--version']);
    expect(stdout).to.match(/^Version 5\./);
    const file = 'clients/typescript/tests/types.ts';
    const { code, out } = await promisify(execFile)(process.execPath, [compiler, ...OPTIONS, file]).then(
      () => ({ code: 0, out: '' }),
      (error: { code: number; stdout: string }) => ({ code: error.code, out: error.stdout }),
    );
    expect([code, out]).to.deep.equal([0, '']);
  }).timeout(60_000);
});
