import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

/** Requires Python, whose SQLite library is not the one of the service. @throws Error if Python has none */
export function needPythonSqlite(): void {
  const { status, error, stderr } = spawnSync('python3', ['-c', 'import sqlite3'], { encoding: 'utf8' });
  if (status === 0) return;
  const reason = error?.message ?? stderr;
  throw new Error(`These tests need python3 with its module sqlite3: ${reason}`);
}

/** Runs a program with the arguments in `sys.argv`. @returns its output */
export async function python(program: string, ...args: string[]): Promise<string> {
  return (await promisify(execFile)('python3', ['-c', program, ...args])).stdout;
}
