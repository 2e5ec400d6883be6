import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'chai';
import { MAIN, SERVICE } from '../../support/child-process-service.js';

/** Files that start the service, each with how it writes a command. */
const FILES: Readonly<Record<string, (argv: readonly string[]) => string>> = {
  'package.json': (argv) => `exec ${argv.join(' ')} || ${argv.join(' ')}`,
  Dockerfile: (argv) => `CMD [${argv.map((arg) => `"${arg}"`).join(', ')}]`,
  'deploy/systemd/product-catalogue.service': (argv) => `ExecStart=/usr/bin/${argv.join(' ')}`,
  'docs/how-to/operations.md': (argv) => argv.join(' '),
};

describe('the commands that start the service', () => {
  const argv = ['node', ...SERVICE.filter((argument) => argument !== MAIN), 'dist/bundle/main.js'];

  for (const [file, written] of Object.entries(FILES))
    it(`have the same options of Node.js in ${basename(file)}`, () => {
      expect(
        readFileSync(file, 'utf8')
          .split('\n')
          .some((line) => line.includes(written(argv))),
      ).to.equal(true);
    });
});
