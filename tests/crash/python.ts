import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

/** @throws Error if Python has no SQLite library */
export function needPythonSqlite(): void {
  const { status, error, stderr } = spawnSync('python3', ['-c', 'import sqlite3'], { encoding: 'utf8' });
  if (status === 0) return;
  const reason = error?.message ?? stderr;
  throw new Error(`These tests need python3 with its module sqlite3 as another SQLite library: ${reason}`);
}

/** Runs a program with the arguments in `sys.argv`. */
export async function python(program: string, ...args: string[]): Promise<string> {
  return (await promisify(execFile)('python3', ['-c', program, ...args])).stdout;
}
