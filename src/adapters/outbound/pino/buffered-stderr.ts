import { fstatSync, write } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogDestination } from './logger.js';

const STANDARD_ERROR = 2;
/** Linux writes at most this many bytes to a pipe in one piece. The lines of several processes must not mix. */
const PIPE_BUF = 4_096;
/** A file takes any number of bytes in one piece. */
const FILE_PIECE = 64 * 1024;
/** How long lines are buffered, so that no request pays for its own write. */
const BUFFERING_MS = 100;
/** In bytes. Further lines are lost. */
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
export class BufferedStderr implements LogDestination {
  /** Whole lines, as many in each piece as are written at once. */
  private readonly pieces: string[] = [];
  /** The last piece, which may still grow. */
  private last = '';
  private lastBytes = 0;
  private buffered = 0;
  private timer: NodeJS.Timeout | undefined;
  /** The bytes that are being written. */
  private unwritten: Buffer = Buffer.alloc(0);
  private readonly pieceBytes: number;

  constructor(private readonly descriptor = STANDARD_ERROR) {
    this.pieceBytes = fstatSync(descriptor).isFile() ? FILE_PIECE : PIPE_BUF;
  }

  write(line: string): void {
    if (this.buffered >= MAX_BUFFERED) return;
    const bytes = Buffer.byteLength(line);
    if (this.lastBytes + bytes > this.pieceBytes) this.closePiece();
    this.last += line;
    this.lastBytes += bytes;
    this.buffered += bytes;
    this.timer ??= setTimeout(() => this.startWriting(), BUFFERING_MS).unref();
  }

  /** Resolves when everything is written, or after two seconds. Call it at the end of the process. */
  async flush(): Promise<void> {
    this.startWriting();
    for (let retries = 0; this.unwritten.length > 0 && retries < MAX_RETRIES; retries++)
      await sleep(RETRY_MS);
  }

  private closePiece(): void {
    if (this.lastBytes > 0) this.pieces.push(this.last);
    this.last = '';
    this.lastBytes = 0;
  }

  private startWriting(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.closePiece();
    if (this.unwritten.length === 0) this.writeBytes(this.takePiece());
  }

  private writeBytes(bytes: Buffer): void {
    this.unwritten = bytes;
    if (bytes.length === 0) return;
    write(this.descriptor, bytes, 0, bytes.length, null, (error, written) => {
      if (isPipeFull(error)) setTimeout(() => this.writeBytes(bytes), RETRY_MS).unref();
      else if (error || written === bytes.length) this.writeBytes(this.takePiece());
      else this.writeBytes(bytes.subarray(written));
    });
  }

  private takePiece(): Buffer {
    const bytes = Buffer.from(this.pieces.shift() ?? '');
    this.buffered -= bytes.length;
    return bytes;
  }
}

function isPipeFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}
