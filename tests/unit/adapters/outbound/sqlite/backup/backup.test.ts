import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { backUpDatabase } from '#src/adapters/outbound/sqlite/backup/backup.js';
import { BackupTargetError, StoreConfigError } from '#src/application/ports/store.js';
import { idsOf, product, query } from '../../../../../contract/repository/records.js';
import { inSqlite } from '../../../../../stores/sqlite.js';
import { expectError } from '../../../../../support/expect-refusal.js';
import { temporaryFolder } from '../../../../../support/temporary-folder.js';

describe('backUpDatabase', () => {
  const root = temporaryFolder();
  let folder: string;
  let file: string;
  let target: string;

  beforeEach(() => {
    folder = mkdtempSync(join(root, 'run-'));
    mkdirSync(join(folder, 'backups'));
    file = join(folder, 'catalogue.sqlite');
    target = join(folder, 'backups/b.sqlite');
  });

  const idsIn = (path: string) =>
    inSqlite(path, async ({ products }) => idsOf((await products.list(query({ limit: 10_000 }))).records));
  const fill = (count: number) =>
    inSqlite(file, async ({ products }) => {
      await products.insertAll(Array.from({ length: count }, (_, i) => product(i + 1)));
    });
  const backUp = (progress = (_copied: number, _total: number) => {}) => backUpDatabase(file, target, progress);
  const expectNoBackup = () => expect(readdirSync(join(folder, 'backups'))).to.deep.equal([]);

  it('writes one file that only its owner can read, with all records, of the log too', async () => {
    const bytes = await inSqlite(file, async ({ products }) => {
      await products.insertAll([product(1), product(2)]);
      return backUp();
    });
    expect(readdirSync(join(folder, 'backups'))).to.deep.equal(['b.sqlite']);
    expect(statSync(target).mode & 0o777).to.equal(0o600);
    expect(statSync(target).size).to.equal(bytes);
    expect(await idsIn(target)).to.deep.equal([1, 2]);
  });

  it('backs up one moment, despite concurrent writes', async () => {
    await fill(5_000);
    await inSqlite(file, async ({ products }) => {
      let steps = 0;
      const written: Promise<unknown>[] = [];
      const outcome = await backUp(() => {
        const id = 6_000 + ++steps;
        written.push(products.insertAll([product(id)]), products.removeAll([{ id: steps, expected: 1, at: 0 }]));
      }).catch((error: unknown) => error);
      expect(outcome).to.be.a('number');
      await Promise.all(written);
      expect(steps).to.be.greaterThan(4);
    });
    expect(await idsIn(target)).to.deep.equal(Array.from({ length: 5_000 }, (_, i) => i + 1));
  });

  it('reports its progress', async () => {
    await fill(5_000);
    const steps: [number, number][] = [];
    const bytes = await backUp((copied, total) => steps.push([copied, total]));
    expect(steps.length).to.be.greaterThan(3);
    expect(steps[0]).to.deep.equal([0, bytes]);
    expect(steps.at(-1)).to.deep.equal([bytes, bytes]);
    expect(steps.map(([copied]) => copied)).to.deep.equal(steps.map(([copied]) => copied).sort((a, b) => a - b));
  });

  it('leaves no file if the progress callback throws, at any step', async () => {
    await fill(2_000);
    let steps: number;
    // A backup may take more or fewer steps than the one before: the last one has fewer than would fail.
    for (let last = 1; ; last++) {
      steps = 0;
      const outcome = await backUp(() => {
        if (++steps === last) throw new Error('enough');
      }).catch((error: unknown) => error);
      if (steps < last) break;
      expect(outcome).to.have.property('message', 'enough');
      expectNoBackup();
    }
    expect(steps).to.be.greaterThan(3);
  });

  it('replaces no file that appears during the backup', async () => {
    await fill(1);
    const intrude = (copied: number, total: number) => {
      if (copied === total) writeFileSync(target, 'mine');
    };
    await expectError(backUp(intrude), BackupTargetError);
    expect(readFileSync(target, 'utf8')).to.equal('mine');
    expect(readdirSync(join(folder, 'backups'))).to.deep.equal(['b.sqlite']);
  });

  it('rejects a source that is empty, of another application, or not a SQLite database', async () => {
    writeFileSync(file, '');
    await expectError(backUp(), StoreConfigError, /is empty/);
    rmSync(file);
    const other = new Database(file);
    other.exec('CREATE TABLE theirs (n INTEGER)');
    other.close();
    await expectError(backUp(), StoreConfigError, /of another application/);
    writeFileSync(file, 'notes, '.repeat(1_000));
    await expectError(backUp(), StoreConfigError, /not a SQLite database/);
    expectNoBackup();
  });

  it('rejects a damaged database', async () => {
    await fill(2_000);
    await backUp();
    const bytes = readFileSync(target);
    expect(bytes.length).to.be.greaterThan(100_000);
    writeFileSync(target, bytes.fill(0xff, 40_000, 60_000));
    const again = backUpDatabase(target, `${target}.2`, () => {});
    await expectError(again, StoreConfigError, /^The database is damaged: /);
    expect(readdirSync(join(folder, 'backups'))).to.deep.equal(['b.sqlite']);
  });
});
