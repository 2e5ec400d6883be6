import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { MIGRATIONS } from '#src/adapters/outbound/sqlite/connection/migrations.js';
import { jsonLines } from '../../../../support/line-stream.js';
import { list } from '../../../../support/list.js';
import { temporaryFolder } from '../../../../support/temporary-folder.js';
import { runInProcess } from './run-command.js';

const KNOWN = MIGRATIONS.length;

describe('a database with one step of the schema more than this version knows', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'catalogue.sqlite');
  const older = join(folder, 'older.sqlite');
  const settings = { SQLITE_FILE: file, DATA_DIR: folder };
  const reason = (path: string) =>
    `${path} was made by a newer version of this service: its schema is ${KNOWN + 1}, and this version knows up to ${KNOWN}`;
  const remedy = 'install the newer version, or restore a backup of this one';
  let bytes: Buffer;

  before(async () => {
    const seeded = { SQLITE_FILE: join(folder, 'seeded.sqlite') };
    expect((await runInProcess(['seed', '--products', '3'], seeded)).code).to.equal(0);
    expect((await runInProcess(['backup', older], seeded)).code).to.equal(0);
    copyFileSync(older, file);
    const database = new Database(file);
    database.exec(`PRAGMA user_version = ${KNOWN + 1}`);
    database.close();
    bytes = readFileSync(file);
  });

  for (const command of [
    ...list`keys list  keys create --name x --scopes all  keys revoke 1  signing-keys list  signing-keys rotate`,
    ...['seed --products 5', `backup ${folder}/b.sqlite`],
    ...[
      `copy --from sqlite:${file} --to sqlite:${folder}/copy.sqlite`,
      `copy --from sqlite:${older} --to sqlite:${file}`,
    ],
  ])
    it(`is refused in one line, unchanged: ${command.replaceAll(`${folder}/`, '')}`, async () => {
      const { code, out, err } = await runInProcess(command.split(' '), settings);
      expect([code, out, err]).to.deep.equal([78, '', `${reason(file)}; ${remedy}.\n`]);
      expect(readFileSync(file).equals(bytes)).to.equal(true);
    });

  it('is found by `check`, which says what to do', async () => {
    const { code, out } = await runInProcess(['check', '--json'], settings);
    expect(code).to.equal(1);
    expect(jsonLines(out).filter(({ subject }) => subject === 'store')).to.deep.equal([
      { subject: 'store', verdict: 'wrong', message: reason(file), remedy },
    ]);
    expect(readFileSync(file).equals(bytes)).to.equal(true);
  });

  it('is refused as a backup', async () => {
    const { code, out, err } = await runInProcess(['restore', file], { SQLITE_FILE: join(folder, 'new.sqlite') });
    expect([code, out, err]).to.deep.equal([65, '', `${reason(file)}; ${remedy}.\n`]);
  });

  it('is replaced by a backup of this version', async () => {
    expect(await runInProcess(['restore', older], settings)).to.include({ code: 0, err: '' });
    expect(await runInProcess(['check'], settings)).to.include({ code: 0 });
  });
});
