import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
const LIBRARIES = [LIBRARY, LIBRARY.replace('x86_64', 'aarch64')];

/**
 * The time of day of other processes, which a test sets while they run (libfaketime). Their monotonic clock stays true,
 * as when somebody sets the clock of a machine.
 */
export class FakeTime {
  private static number = 0;
  private readonly file: string;
  private offsetMs = 0;

  /** @throws Error that names the package to install if libfaketime is missing */
  constructor(folder: string, offsetMs = 0) {
    this.file = join(folder, `time-${++FakeTime.number}`);
    this.step(offsetMs);
  }

  /** What a process needs in its environment. */
  get environment(): Record<string, string> {
    const LD_PRELOAD = LIBRARIES.find((file) => existsSync(file));
    if (!LD_PRELOAD) throw new Error('libfaketime is missing; on Debian: apt-get install -y libfaketime');
    return {
      LD_PRELOAD,
      FAKETIME_TIMESTAMP_FILE: this.file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    };
  }

  /** Sets the clock to this distance from the true time. Every process sees it at once. */
  step(offsetMs: number): void {
    this.offsetMs = offsetMs;
    const seconds = offsetMs / 1_000;
    writeFileSync(`${this.file}.new`, `${seconds < 0 ? '' : '+'}${seconds}`);
    // A process never reads half of a file.
    renameSync(`${this.file}.new`, this.file);
  }

  /** The time that the processes see. */
  now(): number {
    return Date.now() + this.offsetMs;
  }
}
