import { join } from 'node:path';
import type { TestStoreProvider } from './provider.js';

export const SQLITE: TestStoreProvider = {
  name: 'sqlite',
  beyond: (position) => position.replace(/\d+$/, (change) => `${Number(change) + 1}`),
  isLocal: true,
  pace: 'fast',
  removesExpired: false,
  ownSteps: { 'before the insertion is committed': { reserved: true, inserted: false } },
  create: async (folder) => ({
    settings: { STORE: 'sqlite', SQLITE_FILE: join(folder, 'catalogue.sqlite') },
    remove: async () => {},
  }),
};
