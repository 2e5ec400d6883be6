import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { FIRST_KEY, inProcessService } from '../../../tests/support/in-process-service.js';

describe('the example of the client', () => {
  const service = inProcessService();

  it('is in both READMEs', () => {
    const example = readFileSync('clients/typescript/example.ts', 'utf8');
    for (const readme of ['README.md', 'clients/typescript/README.md'])
      expect(readFileSync(readme, 'utf8'), readme).to.include(`\`\`\`ts\n${example}\`\`\``);
    expect(example.trimEnd().split('\n')).to.have.length.at.most(10);
  });

  it('runs over HTTPS', async () => {
    const example = readFileSync('build/clients/typescript/example.js', 'utf8');
    const program = example.replace('localhost:8443', `localhost:${service.port}`);
    const env = { API_KEY: FIRST_KEY, NODE_EXTRA_CA_CERTS: join(service.folder, 'tls/ca.pem') };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', program],
      { env },
    );
    expect(stdout).to.equal('1 Bright Lamp\n');
  });
});
