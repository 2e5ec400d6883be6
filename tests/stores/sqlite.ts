import { join } from 'node:path';
import type { TestStoreProvider } from './provider.js';

export const SQLITE: TestStoreProvider = {
  name: 'sqlite',
  isLocal: true,
  pace: 'fast',
  removesExpired: false,
  ownSteps: { 'before the insertion is committed': { reserved: true, inserted: false } },
  create: async (folder) => ({
    settings: { STORE: 'sqlite', SQLITE_FILE: join(folder, 'catalogue.sqlite') },
    remove: async () => {},
  }),
};
