import { readFileSync, writeFileSync } from 'node:fs';

const KIB_PER_MIB = 1_024;
/** Makes the kernel forget the peak so far; see proc(5). */
const RESET_PEAK = '5';

/** The resident memory of a process: at present, or at most. */
type Line = 'VmRSS' | 'VmHWM';

/**
 * Reads a line of the text of `/proc/PID/status`.
 * @returns MiB
 * @throws Error if the line is missing, as in that of a zombie
 */
export function memoryIn(status: string, line: Line): number {
  const [, kibibytes] = new RegExp(`^${line}:\\s+(\\d+)`, 'm').exec(status) ?? [];
  if (kibibytes === undefined) throw new Error(`there is no ${line}: the process has ended`);
  return Number(kibibytes) / KIB_PER_MIB;
}

/** Returns the resident memory of a process in MiB (Linux). @throws Error if it has ended */
export function memoryOf(pid: number, line: Line = 'VmRSS'): number {
  return memoryIn(readFileSync(`/proc/${pid}/status`, 'utf8'), line);
}

/** The resident memory of a process from now on, in MiB (Linux). The kernel notes the peak. */
export class ResidentMemory {
  readonly start: number;

  constructor(private readonly pid: number) {
    writeFileSync(`/proc/${pid}/clear_refs`, RESET_PEAK);
    this.start = memoryOf(pid);
  }

  /** @returns the memory at the start, the most since then, and the present one */
  read(): { start: number; max: number; end: number } {
    return { start: this.start, max: memoryOf(this.pid, 'VmHWM'), end: memoryOf(this.pid) };
  }
}
