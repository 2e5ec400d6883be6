import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SOURCE = 'campaigns/bench/servers/pocketbase';

/**
 * Returns the program of `servers/pocketbase`, or why it is missing. It is kept in the temporary directory, because its
 * build takes minutes.
 * @param builds whether to build it if it is missing, which needs Go and its registry
 */
export function pocketbaseProgram(builds: boolean): { program: string } | { absence: string } {
  const folder = join(tmpdir(), 'catalogue-bench-peers');
  const program = join(folder, 'pocketbase');
  if (existsSync(program)) return { program };
  if (!builds) return { absence: 'it is built only with --peers' };
  mkdirSync(folder, { recursive: true });
  const { status, error } = spawnSync('go', ['build', '-o', program, '.'], { cwd: SOURCE, stdio: 'inherit' });
  return status === 0 ? { program } : { absence: `go build failed: ${error?.message ?? `exit code ${status}`}` };
}
