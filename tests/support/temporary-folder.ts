import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that is gone after the tests of the `describe` that asked for it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'catalogue-test-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
