import { execFileSync } from 'node:child_process';

/** The servers run on one core, and everything that sends requests on another one. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

/** Binds this process, and so the load generators that it starts, to the core of the load. */
export function bindToLoadCore(): void {
  execFileSync('taskset', ['-a', '-c', '-p', `${LOAD_CORE}`, `${process.pid}`]);
}
