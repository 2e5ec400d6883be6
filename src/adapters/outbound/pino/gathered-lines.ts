import { write, writeSync } from 'node:fs';

const STANDARD_ERROR = 2;
/** Lines are gathered for so long, so that a request does not pay for a write of its own. */
const GATHERING_MS = 100;
/** In characters; what comes on top of so many unwritten ones is lost. */
const MAX_GATHERED = 16 * 1024 * 1024;

/**
 * Writes lines to standard error behind the back of who logs them. A log that cannot be written (a full disk, a closed
 * pipe) loses lines and stops nothing; one whose reader is slow is waited for by no request.
 */
export class GatheredLines {
  private gathered: string[] = [];
  private length = 0;
  private timer: NodeJS.Timeout | undefined;
  private isWriting = false;

  write(line: string): void {
    if (this.length >= MAX_GATHERED) return;
    this.gathered.push(line);
    this.length += line.length;
    this.timer ??= setTimeout(() => this.pass(), GATHERING_MS).unref();
  }

  /** Writes out what is gathered, at once; for the end of the process. */
  flush(): void {
    let rest = this.take();
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(STANDARD_ERROR, rest));
    } catch {
      // There is nowhere left to say it.
    }
  }

  private pass(): void {
    this.timer = undefined;
    if (!this.isWriting) this.writeOut(this.take());
  }

  private writeOut(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.isWriting = true;
    write(STANDARD_ERROR, bytes, 0, bytes.length, null, (error, written) => {
      this.isWriting = false;
      if (!error && written < bytes.length) this.writeOut(bytes.subarray(written));
      else this.pass();
    });
  }

  private take(): Buffer {
    clearTimeout(this.timer);
    this.timer = undefined;
    const bytes = Buffer.from(this.gathered.join(''));
    this.gathered = [];
    this.length = 0;
    return bytes;
  }
}
