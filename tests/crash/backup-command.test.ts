import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { catalogue } from '../support/child-process-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('catalogue backup', () => {
  const root = temporaryFolder();
  const folder = () => mkdtempSync(join(root, 'run-'));

  it('prints the size of the backup, and never replaces a file', async () => {
    const where = folder();
    await catalogue(where, ['seed', '--products', '1']);
    const made = await catalogue(where, ['backup', 'b.sqlite']);
    expect([made.code, made.err]).to.deep.equal([0, '']);
    expect(made.out).to.match(/^b\.sqlite: \d+ bytes, checked\n$/);
    const { code, out, err } = await catalogue(where, ['backup', 'b.sqlite']);
    expect([code, out]).to.deep.equal([73, '']);
    expect(err).to.match(/b\.sqlite exists\. A backup replaces no file\.\n$/);
  });

  const REFUSED: readonly [args: string[], environment: Record<string, string>, code: number, prints: RegExp][] = [
    [['none/b.sqlite'], {}, 73, /none\/b\.sqlite cannot be written: no such file or directory \(ENOENT\)\.\n$/],
    [['b.sqlite'], {}, 78, /^There is no database .*\n$/],
    [['b.sqlite'], { SQLITE_FILE: 'notes.txt' }, 78, /not a SQLite database\.\n$/],
    [['b.sqlite'], { STORE: 'memory' }, 78, /^catalogue backup is for STORE=sqlite.*\n$/],
  ];

  it('prints the reason in one line if it makes no backup', async () => {
    await Promise.all(
      REFUSED.map(async ([args, environment, code, prints]) => {
        const where = folder();
        writeFileSync(join(where, 'notes.txt'), 'notes, '.repeat(1_000));
        const { err, out, ...end } = await catalogue(where, ['backup', ...args], environment);
        expect([end.code, out], err).to.deep.equal([code, '']);
        expect(err).to.match(prints);
        expect(readdirSync(where)).to.deep.equal(['notes.txt']);
      }),
    );
  });
});
