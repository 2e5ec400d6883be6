import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SOURCE = 'scripts/bench/servers/pocketbase';

/**
 * Returns the program of `servers/pocketbase`, which is kept in the temporary directory because its build takes
 * minutes.
 * @param builds whether to build it if it is missing, which needs Go and its registry
 */
export function pocketbaseProgram(builds: boolean): string | undefined {
  const folder = join(tmpdir(), 'catalogue-bench-peers');
  const program = join(folder, 'pocketbase');
  if (existsSync(program)) return program;
  if (!builds) return undefined;
  mkdirSync(folder, { recursive: true });
  execFileSync('go', ['build', '-o', program, '.'], { cwd: SOURCE, stdio: 'inherit' });
  return program;
}
