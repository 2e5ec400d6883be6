import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder that only its owner may use, and its parents. Node's recursive `mkdir` never returns where the system
 * refuses, as below /proc.
 * @throws Error of the system, with its `code`; EEXIST if something else has this path
 */
export function createFolder(folder: string): void {
  try {
    createOne(folder);
  } catch (error) {
    const parent = dirname(folder);
    // A root can be missing too: a drive of Windows.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error;
    createFolder(parent);
    createOne(folder);
  }
}

function createOne(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST' || !statSync(folder).isDirectory()) throw error;
  }
}
