import { dirname, join, resolve } from 'node:path';
import Joi from 'joi';
import type { StoreRegistration } from './registration.js';

export const SQLITE: StoreRegistration<'SQLITE_FILE'> = {
  processes: 'many',
  settings: {
    SQLITE_FILE: Joi.string()
      .default((parent: { readonly DATA_DIR: string }) => join(parent.DATA_DIR, 'catalogue.sqlite'))
      .meta({ default: 'DATA_DIR/catalogue.sqlite' })
      .description('The database file of `STORE=sqlite`.'),
  },
  load: async ({ SQLITE_FILE: file }) => {
    const { sqliteStorage } = await import('../../adapters/outbound/sqlite/storage.js');
    return (options) => sqliteStorage({ file, ...options });
  },
  kept: {
    urlForm: 'sqlite:FILE',
    settingsOf: (url) => {
      const file = /^sqlite:(?:\/\/)?(.+)$/.exec(url)?.[1];
      return file === undefined ? undefined : { SQLITE_FILE: file };
    },
    check: async ({ SQLITE_FILE }, { tables, deep, now }) => {
      const file = resolve(SQLITE_FILE);
      const { checkDatabase } = await import('../../adapters/outbound/sqlite/diagnostics.js');
      const { checkFolder } = await import('../../adapters/outbound/system/check.js');
      const keyed = tables.filter(({ creation }) => creation === 'keyed');
      const folder = checkFolder('SQLITE_FILE', dirname(file));
      const report = checkDatabase(file, { tables: keyed, deep, now: now() });
      return {
        ...report,
        diagnoses: [...report.diagnoses, ...(folder.verdict === 'ok' ? [] : [folder])],
      };
    },
    files: ({ SQLITE_FILE }) => {
      const database = resolve(SQLITE_FILE);
      return { database, secret: [database, `${database}-wal`] };
    },
    requireUnused: async ({ SQLITE_FILE }) => {
      const { requireUnused } = await import('../../adapters/outbound/sqlite/backup/backup.js');
      requireUnused(resolve(SQLITE_FILE));
    },
    backup: {
      create: async ({ SQLITE_FILE }, file, progress) => {
        const { backUpDatabase } = await import('../../adapters/outbound/sqlite/backup/backup.js');
        return backUpDatabase(SQLITE_FILE, file, progress);
      },
      restore: async ({ SQLITE_FILE }, file, at, progress) => {
        const { restoreDatabase } = await import('../../adapters/outbound/sqlite/backup/backup.js');
        return restoreDatabase(file, SQLITE_FILE, new Date(at), progress);
      },
    },
  },
};
