import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SqliteArchive } from '#src/adapters/outbound/sqlite/sqlite-archive.js';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/sqlite-database.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/sqlite-repository.js';
import type { Product } from '#src/domain/product.js';
import type { User } from '#src/domain/user.js';
import { ENDLESS, PRODUCTS, USERS } from '../support/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { archiveContract, type OpenArchive } from './archive.contract.js';
import { codePointOrderContract, repositoryContract } from './repository.contract.js';

describe('SQLite', () => {
  const folder = temporaryFolder();

  const open = async (): Promise<OpenArchive> => {
    const database = new SqliteDatabase(join(folder, 'contract', 'catalogue.sqlite'));
    await database.open();
    return {
      products: new SqliteRepository<Product>(database, PRODUCTS, ENDLESS),
      users: new SqliteRepository<User>(database, USERS, ENDLESS),
      archive: new SqliteArchive(database, PRODUCTS),
      close: async () => {
        await database.close();
        await rm(join(folder, 'contract'), { recursive: true });
      },
    };
  };

  repositoryContract('SQLite', open);
  codePointOrderContract('SQLite', open);
  archiveContract('SQLite', open);
});
