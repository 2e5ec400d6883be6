import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { runCommand, testExample } from './example-suite.js';

const run = promisify(execFile);

describe('the example in Go', () => {
  testExample((settings) => runCommand('## Go', settings));

  it('is formatted and without suspicious constructs', async () => {
    expect((await run('gofmt', ['-l', 'examples'])).stdout).to.equal('');
    await run('go', ['vet', 'examples/example.go']);
  });
});
