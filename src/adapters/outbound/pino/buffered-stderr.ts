import { constants, fstatSync, openSync, write } from 'node:fs';
import { performance } from 'node:perf_hooks';
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

/** The pauses between attempts on a full pipe: short for a busy reader, longer for one that takes nothing. */
const FIRST_RETRY_MS = 1;
const MAX_RETRY_MS = 20;
/** How long a flush waits for a slow reader at least. */
const MIN_FLUSH_MS = 2_000;

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
  private retryMs = FIRST_RETRY_MS;
  private readonly pieceBytes: number;

  /**
   * @param descriptor its writes do not block
   * @param elapsed milliseconds since some moment; never goes back
   */
  constructor(
    private readonly descriptor = nonBlockingStderr(),
    private readonly elapsed = () => performance.now(),
  ) {
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

  /** Resolves when everything is written, or after `limitMs`, but not before {@link MIN_FLUSH_MS}. */
  async flush(limitMs = MIN_FLUSH_MS): Promise<void> {
    const deadline = this.elapsed() + Math.max(limitMs, MIN_FLUSH_MS);
    this.startWriting();
    while (this.unwritten.length > 0 && this.elapsed() < deadline) await sleep(MAX_RETRY_MS);
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
      if (isPipeFull(error)) return this.retry(bytes);
      this.retryMs = FIRST_RETRY_MS;
      this.writeBytes(error || written === bytes.length ? this.takePiece() : bytes.subarray(written));
    });
  }

  private retry(bytes: Buffer): void {
    setTimeout(() => this.writeBytes(bytes), this.retryMs).unref();
    this.retryMs = Math.min(this.retryMs * 2, MAX_RETRY_MS);
  }

  private takePiece(): Buffer {
    const bytes = Buffer.from(this.pieces.shift() ?? '');
    this.buffered -= bytes.length;
    return bytes;
  }
}

let ownPipe: number | undefined;

/**
 * Returns a descriptor of standard error whose writes do not block. A thread that waits for a reader would keep the
 * process from its end. A pipe is opened once more, because all processes that share a descriptor share its flags. Node
 * makes a socket non-blocking when it opens `process.stderr`, until another process that shares it ends.
 */
function nonBlockingStderr(): number {
  if (!fstatSync(STANDARD_ERROR).isFIFO()) return process.stderr.fd;
  try {
    ownPipe ??= openSync(`/proc/self/fd/${STANDARD_ERROR}`, constants.O_WRONLY | constants.O_NONBLOCK);
    return ownPipe;
  } catch {
    return process.stderr.fd;
  }
}

function isPipeFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}
