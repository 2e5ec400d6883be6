import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/sqlite-database.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('the file of SQLite', () => {
  const folder = temporaryFolder();

  it('and its log are the owner’s alone, also in a folder that others may look into', async () => {
    const shared = join(folder, 'shared');
    mkdirSync(shared);
    chmodSync(shared, 0o755);
    const database = new SqliteDatabase(join(shared, 'catalogue.sqlite'));
    await database.open();
    const files = readdirSync(shared);
    expect(files).to.include.members(['catalogue.sqlite', 'catalogue.sqlite-wal']);
    for (const file of files) expect(statSync(join(shared, file)).mode & 0o077, file).to.equal(0);
    await database.close();
  });

  it('that stands keeps the mode that its owner gave it', async () => {
    const file = join(folder, 'shared', 'catalogue.sqlite');
    chmodSync(file, 0o640);
    const database = new SqliteDatabase(file);
    await database.open();
    expect(statSync(file).mode & 0o777).to.equal(0o640);
    await database.close();
  });
});
