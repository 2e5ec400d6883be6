import { openSqlite } from '../support/open-sqlite.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { archiveContract } from './archive.contract.js';
import { idempotencyStoreContract } from './idempotency-store.contract.js';
import { expiringContract } from './purgeable.contract.js';
import { codePointOrderContract, repositoryContract } from './repository.contract.js';

describe('SQLite', () => {
  const folder = temporaryFolder();
  const open = () => openSqlite(folder);

  repositoryContract('SQLite', open);
  codePointOrderContract('SQLite', open);
  idempotencyStoreContract('SQLite', open);
  expiringContract('SQLite', open);
  archiveContract('SQLite', open);
});
