import { readdirSync, readFileSync } from 'node:fs';
import { memoryOf } from './resident-memory.js';

/** Nanoseconds of processor time, from the text of `/proc/PID/task/TID/schedstat`. */
export function processorTimeOf(schedstat: string): number {
  return Number(schedstat.split(' ')[0]);
}

/** The processor time, in microseconds, of all threads of a process and of its children (the workers of a cluster). */
export function processorTime(pid: number): number {
  return family(pid).reduce((sum, one) => sum + timeOfThreads(one), 0);
}

export function residentMemory(pid: number): number {
  return family(pid).reduce((sum, one) => sum + memoryOf(one), 0);
}

function family(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...(children === '' ? [] : children.split(' ').flatMap((child) => family(Number(child))))];
}

function timeOfThreads(pid: number): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) => {
    try {
      return processorTimeOf(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'));
    } catch (error) {
      if (isGone(error)) return 0;
      throw error;
    }
  });
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1_000;
}

/** A thread may end between the listing and the reading. */
function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH');
}
