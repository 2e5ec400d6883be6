import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { freePort } from '../../support/free-port.js';

const PROCESSES = 3;
/** Enough that the processes meet. */
const PORTS = 1_000;
const PROGRAM = `
  import { freePort } from '${new URL(import.meta.resolve('../../support/free-port.js'))}';
  const ports = [];
  while (ports.length < ${PORTS}) ports.push(await freePort());
  console.log(ports.join(' '));
  // Ends when its input does, so that all claims hold at the same time.
  process.stdin.resume();`;

describe('a free port', () => {
  it('is given to one caller of several processes', async () => {
    const children = Array.from({ length: PROCESSES }, () =>
      spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] }),
    );
    const outputs = children.map(async ({ stdout }) => {
      for (let text = ''; ; ) {
        text += (await once(stdout, 'data'))[0];
        if (text.endsWith('\n')) return text.trim().split(' ');
      }
    });
    const ports = (await Promise.all(outputs)).flat();
    for (const { stdin } of children) stdin.end();
    expect(new Set(ports)).to.have.length(PROCESSES * PORTS);
  });

  it('is none on which something listens', async () => {
    const before = await freePort();
    const server = createServer().listen(before + 1, '127.0.0.1');
    await once(server, 'listening');
    expect(await freePort()).to.not.equal(before + 1);
    server.close();
  });
});
