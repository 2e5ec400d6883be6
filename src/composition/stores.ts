import type { Settings } from '../config/settings.js';
import type { Storage, StorageOptions } from './storage.js';

/** @throws StoreConfigError */
export type MakeStorage = (settings: Settings, options: StorageOptions) => Storage;

/** For each value of the setting STORE: loads its driver, and returns a function that makes its storage, unopened. */
export const STORES: Readonly<Record<Settings['STORE'], () => Promise<MakeStorage>>> = {
  memory: async () => {
    const { memoryStorage } = await import('./memory-storage.js');
    return (_settings, options) => memoryStorage(options);
  },
  sqlite: async () => {
    const { sqliteStorage } = await import('./sqlite-storage.js');
    return ({ SQLITE_FILE: file }, options) => sqliteStorage({ file, ...options });
  },
  mongodb: async () => {
    const { mongoStorage } = await import('./mongo-storage.js');
    return ({ MONGODB_URL: url }, options) => mongoStorage({ url, ...options });
  },
};
