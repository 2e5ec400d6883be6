import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/sqlite-database.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/sqlite-repository.js';
import type { Product } from '#src/domain/product.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { repositoryContract } from './repository.contract.js';

describe('SQLite', () => {
  const folder = temporaryFolder();

  repositoryContract('SQLite', async () => {
    const database = new SqliteDatabase(join(folder, 'contract', 'catalogue.sqlite'));
    await database.open();
    return {
      products: new SqliteRepository<Product>(database, { name: 'products', unique: ['sku'], firstId: 1 }),
      close: async () => {
        await database.close();
        await rm(join(folder, 'contract'), { recursive: true });
      },
    };
  });
});
