import { write } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const STANDARD_ERROR = 2;
/** Of Linux: a pipe takes no more in one piece, and the lines of several processes must not mingle. */
const PIPE_BUF = 4_096;
/** Lines are gathered for so long, so that a request does not pay for a write of its own. */
const GATHERING_MS = 100;
/** In characters; what comes on top of so many unwritten ones is lost. */
const MAX_GATHERED = 16 * 1024 * 1024;

/** Between two tries on a pipe whose reader is slow. */
const RETRY_MS = 20;
/** At the end of the process: for two seconds. */
const MAX_TRIES = 100;

/**
 * Writes lines to standard error behind the back of who logs them. A log that cannot be written (a full disk, a closed
 * pipe) loses lines and stops nothing; one whose reader is slow is waited for by no request.
 */
export class GatheredLines {
  private gathered: string[] = [];
  private length = 0;
  private timer: NodeJS.Timeout | undefined;
  /** What is being written. */
  private unwritten: Buffer = Buffer.alloc(0);

  write(line: string): void {
    if (this.length >= MAX_GATHERED) return;
    this.gathered.push(line);
    this.length += line.length;
    this.timer ??= setTimeout(() => this.pass(), GATHERING_MS).unref();
  }

  /** Resolves when all is written; for the end of the process, so it does not wait for a stuck reader for ever. */
  async flush(): Promise<void> {
    this.pass();
    for (let tries = 0; this.unwritten.length > 0 && tries < MAX_TRIES; tries++) await sleep(RETRY_MS);
  }

  private pass(): void {
    this.timer = undefined;
    if (this.unwritten.length === 0) this.writeOut(this.take());
  }

  private writeOut(bytes: Buffer): void {
    this.unwritten = bytes;
    if (bytes.length === 0) return;
    write(STANDARD_ERROR, bytes, 0, bytes.length, null, (error, written) => {
      if (isFull(error)) setTimeout(() => this.writeOut(bytes), RETRY_MS).unref();
      else
        this.writeOut(error ? this.take() : bytes.length > written ? bytes.subarray(written) : this.take());
    });
  }

  /** Whole lines that a pipe takes in one piece, or one line that is longer. */
  private take(): Buffer {
    let count = 1;
    let bytes = Buffer.byteLength(this.gathered[0] ?? '');
    for (; count < this.gathered.length; count++) {
      bytes += Buffer.byteLength(this.gathered[count] ?? '');
      if (bytes > PIPE_BUF) break;
    }
    const taken = this.gathered.splice(0, count).join('');
    this.length -= taken.length;
    return Buffer.from(taken);
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}
