import { writeFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { backUpDatabase } from '#src/adapters/outbound/sqlite/backup/backup.js';
import { createTemporaryFolder } from '../support/temporary-folder.js';
import { type OpenStore, openStore, type TestStoreProvider } from './provider.js';

export const SQLITE: TestStoreProvider = {
  name: 'sqlite',
  beyond: (position) => position.replace(/\d+$/, (change) => `${Number(change) + 1}`),
  isLocal: true,
  pace: 'fast',
  removesExpired: false,
  ownSteps: { 'before the insertion is committed': { reserved: true, inserted: false } },
  create: async (folder) => {
    const file = join(folder, 'catalogue.sqlite');
    empty ??= newFile();
    writeFileSync(file, await empty, { mode: 0o600 });
    return { settings: settingsOf(file), remove: async () => {} };
  },
};

/** The file of an empty store. To make its schema takes five times as long as to open a copy. */
let empty: Promise<Buffer> | undefined;

async function newFile(): Promise<Buffer> {
  const folder = createTemporaryFolder();
  const [file, copy] = [join(folder, 'empty.sqlite'), join(folder, 'copy.sqlite')];
  // The schema may still be in the log, even after `close`.
  await inSqlite(file, () => backUpDatabase(file, copy, () => {}));
  const bytes = await readFile(copy);
  await rm(folder, { recursive: true });
  return bytes;
}

/** Runs `use` with the store in a file, which is open meanwhile. */
export async function inSqlite<Result>(file: string, use: (store: OpenStore) => Promise<Result>): Promise<Result> {
  const store = await openStore(settingsOf(file));
  return use(store).finally(() => store.close());
}

function settingsOf(file: string): Record<string, string> {
  return { STORE: 'sqlite', SQLITE_FILE: file };
}
