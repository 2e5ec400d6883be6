import { openSqlite } from '../support/open-sqlite.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { archiveContract } from './archive.contract.js';
import { idempotencyStoreContract } from './idempotency-store.contract.js';
import { purgeableContract } from './purgeable.contract.js';
import { codePointOrderContract, repositoryContract, writeRacesContract } from './repository.contract.js';
import { usagePurgeContract, usageStoreContract } from './usage-store.contract.js';

describe('SQLite', () => {
  const folder = temporaryFolder();
  const open = () => openSqlite(folder);

  repositoryContract('SQLite', open);
  writeRacesContract('SQLite', open);
  codePointOrderContract('SQLite', open);
  idempotencyStoreContract('SQLite', open);
  purgeableContract('SQLite', open);
  usageStoreContract('SQLite', open);
  usagePurgeContract('SQLite', open);
  archiveContract('SQLite', open);
});
