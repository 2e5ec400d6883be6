import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system in memory (tmpfs). `kill -9` loses nothing that a process has written, so no test needs a disk. */
const IN_MEMORY = '/dev/shm';
const LEAST_FREE_BYTES = 4 * 1_024 ** 3;

/** Creates a folder that is removed after the tests of the current `describe`. */
export function temporaryFolder(): string {
  const folder = createTemporaryFolder();
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Creates a folder, which the caller removes: in memory if there is enough, unless TMPDIR names another place. */
export function createTemporaryFolder(): string {
  const parent = process.env['TMPDIR'] || !hasRoomInMemory() ? tmpdir() : IN_MEMORY;
  return mkdtempSync(join(parent, 'catalogue-test-'));
}

function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= LEAST_FREE_BYTES;
  } catch {
    return false;
  }
}
