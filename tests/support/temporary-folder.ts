import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a folder, which is removed after the tests of the current `describe`. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'catalogue-test-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
