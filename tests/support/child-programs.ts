import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';

/**
 * Waits until a program says that it serves.
 * @param pattern in its output
 * @throws Error with the output if it ends first, or with the command that lists the packages it needs if it is missing
 */
export function ready(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  const name = basename(child.spawnfile);
  return new Promise((resolve, reject) => {
    let output = '';
    child.once('error', () => reject(new Error(`${name} is missing; see: npm run test:all -- --packages`)));
    child.once('close', () => reject(new Error(`${name} did not start:\n${output}`)));
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        output = `${output}${chunk}`.slice(-10_000);
        const found = pattern.exec(output);
        if (found) resolve(found);
      });
  });
}

export function isRunning(child: ChildProcess | undefined): child is ChildProcess {
  return child !== undefined && child.exitCode === null && child.signalCode === null;
}

/** Ends a program as a crash does, unless it has ended. */
export async function kill(child: ChildProcess | undefined): Promise<void> {
  if (!isRunning(child)) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
