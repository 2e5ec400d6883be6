import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { checkDatabase } from '#src/adapters/outbound/sqlite/diagnostics.js';
import { RecordingLogger } from '../../../../../support/fakes.js';
import { PRODUCTS } from '../../../../../support/tables.js';
import { temporaryFolder } from '../../../../../support/temporary-folder.js';

const LOCAL = 0xef53;

describe('a database on a network file system', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'catalogue.sqlite');
  const warnings = async (type: number) => {
    const logger = new RecordingLogger();
    const database = new SqliteDatabase(file, logger, () => type);
    await database.open();
    await database.close();
    const options = { tables: [PRODUCTS], deep: false, now: Date.now(), typeOf: () => type };
    const found = checkDatabase(file, options).diagnoses.filter(({ verdict }) => verdict !== 'ok');
    return { logged: logger.events, found };
  };

  for (const [type, name] of [
    [0x6969, 'NFS'],
    [0xff534d42, 'CIFS'],
    [0xff534d42 | 0, 'CIFS'],
    [0xfe534d42, 'SMB2'],
    [0x65735546, 'FUSE'],
  ] as const)
    it(`is what the start and a check warn of: ${name}, ${type}`, async () => {
      const message = `${file} is on ${name}, where the locks of SQLite may fail and its database be damaged`;
      const remedy = 'move the database to a disk of this machine';
      expect(await warnings(type)).to.deep.equal({
        logged: [`${message}; ${remedy}`],
        found: [{ subject: 'store', verdict: 'warning', message, remedy }],
      });
    });

  it('is not on a local one', async () => {
    expect(await warnings(LOCAL)).to.deep.equal({ logged: [], found: [] });
  });
});
