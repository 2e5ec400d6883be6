import { listFilterContract } from '../contract/repository.contract.js';
import { openMemory } from '../support/open-memory.js';
import { openSqlite } from '../support/open-sqlite.js';
import { temporaryFolder } from '../support/temporary-folder.js';

listFilterContract('memory', openMemory);

describe('SQLite', () => {
  const folder = temporaryFolder();
  listFilterContract('SQLite', () => openSqlite(folder));
});
