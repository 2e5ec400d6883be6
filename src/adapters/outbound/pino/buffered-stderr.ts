import { write } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const STANDARD_ERROR = 2;
/** Linux writes at most this many bytes to a pipe in one piece. The lines of several processes must not mix. */
const PIPE_BUF = 4_096;
/** How long lines are buffered, so that no request pays for its own write. */
const BUFFERING_MS = 100;
/** In characters. Further lines are lost. */
const MAX_BUFFERED = 16 * 1024 * 1024;

/** The pause between two attempts on a pipe whose reader is slow. */
const RETRY_MS = 20;
/** At the end of the process: attempts for two seconds. */
const MAX_RETRIES = 100;

/**
 * Buffers log lines and writes them to standard error in the background. A full disk or a closed pipe loses lines and
 * stops nothing. A slow reader delays no request. `pino.destination` does not guarantee this for a pipe that several
 * processes share.
 */
export class BufferedStderr {
  private lines: string[] = [];
  private length = 0;
  private timer: NodeJS.Timeout | undefined;
  /** The bytes that are being written. */
  private unwritten: Buffer = Buffer.alloc(0);

  write(line: string): void {
    if (this.length >= MAX_BUFFERED) return;
    this.lines.push(line);
    this.length += line.length;
    this.timer ??= setTimeout(() => this.startWriting(), BUFFERING_MS).unref();
  }

  /** Resolves when everything is written, or after two seconds. Call it at the end of the process. */
  async flush(): Promise<void> {
    this.startWriting();
    for (let retries = 0; this.unwritten.length > 0 && retries < MAX_RETRIES; retries++)
      await sleep(RETRY_MS);
  }

  private startWriting(): void {
    this.timer = undefined;
    if (this.unwritten.length === 0) this.writeBytes(this.takeChunk());
  }

  private writeBytes(bytes: Buffer): void {
    this.unwritten = bytes;
    if (bytes.length === 0) return;
    write(STANDARD_ERROR, bytes, 0, bytes.length, null, (error, written) => {
      if (isPipeFull(error)) setTimeout(() => this.writeBytes(bytes), RETRY_MS).unref();
      else if (error || written === bytes.length) this.writeBytes(this.takeChunk());
      else this.writeBytes(bytes.subarray(written));
    });
  }

  /** Takes as many whole lines as a pipe accepts in one piece, or one longer line. */
  private takeChunk(): Buffer {
    let count = 1;
    let bytes = Buffer.byteLength(this.lines[0] ?? '');
    for (; count < this.lines.length; count++) {
      bytes += Buffer.byteLength(this.lines[count] ?? '');
      if (bytes > PIPE_BUF) break;
    }
    const chunk = this.lines.splice(0, count).join('');
    this.length -= chunk.length;
    return Buffer.from(chunk);
  }
}

function isPipeFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}
