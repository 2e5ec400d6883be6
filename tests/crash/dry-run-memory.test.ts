import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const PROGRAM = fileURLToPath(new URL('../support/fill-dry-runs.js', import.meta.url));
const MIB = 1_048_576;

describe('a process whose dry runs keep all that they may', () => {
  // A tenth of the bounds of the service, and of the memory that it has in a container.
  for (const kind of ['names of their own', 'cells of long rows'])
    it(`lives, and refuses more by the client and by all: ${kind}`, () => {
      const bounds = [3 * MIB, 9 * MIB].map(String);
      const { stdout, stderr, status } = spawnSync(
        process.execPath,
        ['--max-old-space-size=24', '--max-semi-space-size=2', PROGRAM, ...bounds, kind],
        { encoding: 'utf8' },
      );
      const [client, all] = ['payload_too_large', 'unavailable'];
      expect([stdout.trim(), status], stderr).to.deep.equal([
        `5 runs ended: ${[client, client, client, client, all].join(' ')}`,
        0,
      ]);
    });
});
