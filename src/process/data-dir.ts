import { mkdtemp, rmdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { SettingsError } from '../config/settings.js';
import { systemReason } from '../shared/shown-text.js';

/** A full disk spoils no folder: what is in it can still be read. */
const FULL = ['ENOSPC', 'EDQUOT'];

/**
 * Creates the folder DATA_DIR if it does not exist, and proves that files can be created in it. Permissions alone do
 * not tell: a file system can be read-only or refuse files.
 * @param createFolder creates it with its parents
 * @throws SettingsError
 */
export async function prepareDataDir(name: string, createFolder: (folder: string) => void): Promise<void> {
  const folder = resolve(name);
  try {
    createFolder(folder);
    await rmdir(await mkdtemp(join(folder, '.start-')));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (FULL.includes(code)) return;
    const why = code === 'EEXIST' ? 'it is a file (EEXIST)' : systemReason(error);
    throw new SettingsError([`DATA_DIR: no file can be created in ${folder}: ${why}.`]);
  }
}
