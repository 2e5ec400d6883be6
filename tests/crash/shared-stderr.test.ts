import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';

describe('BufferedStderr', () => {
  it('mixes no lines of processes that share a pipe', async () => {
    const program = `
      import { BufferedStderr } from '${new URL(import.meta.resolve('#src/adapters/outbound/pino/logger.js'))}';
      const stderr = new BufferedStderr();
      const end = Date.now() + 500;
      for (let i = 0; Date.now() < end; i++) {
        for (let k = 0; k < 20; k++) stderr.write(process.argv[1].repeat(10 + (i * 37 + k) % 600) + '\\n');
        await new Promise((resolve) => setImmediate(resolve));
      }
      await stderr.flush();`;
    const args = ['--input-type=module', '--eval', program];
    const shell = spawn('sh', ['-c', '"$@" a & "$@" b & "$@" c & wait', 'sh', process.execPath, ...args]);
    let text = '';
    shell.stderr.on('data', (chunk) => (text += chunk));
    await once(shell, 'close');
    const lines = text.split('\n').filter(Boolean);
    expect(lines.filter((line) => !/^(a+|b+|c+)$/.test(line))).to.deep.equal([]);
    expect(new Set(lines.map(([process]) => process))).to.have.length(3);
  });
});
