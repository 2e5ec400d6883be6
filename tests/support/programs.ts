import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Acknowledged } from './acknowledged.js';
import { catalogue } from './child-process-service.js';
import type { CrashService } from './crash-service.js';
import { python } from './python.js';

/** Runs another process that opens and closes the database while the service runs. */
export type Program = (service: CrashService, acknowledged: Acknowledged) => Promise<void>;

/** Runs the command line in a folder and expects success. @returns its output */
export async function run(folder: string, ...args: string[]): Promise<string> {
  const { code, out, err } = await catalogue(folder, args);
  expect(code, `catalogue ${args[0]}: ${err}`).to.equal(0);
  return out;
}

export const API_KEY = /pcs_\w+/;

export const COMMANDS: Readonly<Record<string, Program>> = {
  'keys list': async ({ folder }) => {
    await run(folder, 'keys', 'list');
  },
  'keys create': async ({ folder }, { valid }) => {
    const out = await run(folder, 'keys', 'create', '--name', 'x', '--scopes', 'products:read');
    valid.add(API_KEY.exec(out)?.[0] ?? 'no key');
  },
  'keys revoke': async (service, acknowledged) => {
    const { id, key } = await acknowledged.createKey(service);
    await run(service.folder, 'keys', 'revoke', `${id}`);
    acknowledged.revoked.add(key);
  },
  backup: async ({ folder }) => {
    await run(folder, 'backup', `${mkdtempSync(join(folder, 'backup-'))}/b.sqlite`);
  },
};

export const SEED: Program = async ({ folder }, acknowledged) => {
  acknowledged.seeded += 5;
  await run(folder, 'seed', '--products', `${acknowledged.seeded}`);
};

const BACK_UP = 'import sqlite3, sys; a, b = map(sqlite3.connect, sys.argv[1:]); a.backup(b); b.close(); a.close()';

/** Makes a backup with another SQLite library. */
export const OTHER_BACKUP: Program = async ({ folder }) => {
  const target = `${mkdtempSync(join(folder, 'python-'))}/b.sqlite`;
  await python(BACK_UP, join(folder, 'data/catalogue.sqlite'), target);
};
