import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ByteQuota, heldBytes, type QuotaShare } from '../../../../shared/byte-quota.js';

const KIB = 1_024;
const MIB = KIB * KIB;
const READ_BYTES = 64 * KIB;

export interface ResultBufferOptions {
  /** The folder of the files. Created if it is missing. */
  readonly folder: string;
  /** The maximum number of bytes that one buffer holds in memory. The rest is written to its file. */
  readonly memoryBytes: number;
  /** The limit of unread bytes in one buffer. */
  readonly maxBytes: number;
  /** The limit of all buffers of one client, so that one client cannot use all the space. */
  readonly maxClientBytes: number;
  /** The limit of all buffers together. */
  readonly maxTotalBytes: number;
  /**
   * Nothing can be read before the writer has ended or has paused for this long, or {@link MAX_DELAYED_BYTES} are
   * unread. 0: at once. For nginx: once a response has begun, it passes no more of the request on as soon as the service
   * falls behind (https://trac.nginx.org/nginx/ticket/1293).
   */
  readonly firstByteDelayMs: number;
}

const MAX_DELAYED_BYTES = 64 * MIB;

/** The memory of all buffers. What has no room in it is written to files. */
const MEMORY = { perClient: 4 * MIB, total: 32 * MIB };

const DEFAULTS = {
  memoryBytes: 256 * KIB,
  maxBytes: 256 * MIB,
  maxClientBytes: 256 * MIB,
  maxTotalBytes: 512 * MIB,
  firstByteDelayMs: 0,
};

/** Thrown if the unread bytes exceed a limit. */
export class BufferFull extends Error {}

/** Thrown if the reader has stopped. */
class ReaderGone extends Error {
  readonly code = 'ERR_STREAM_PREMATURE_CLOSE';
}

/** The result buffers of a process, and the disk space that they share. */
export class ResultBuffers {
  private readonly options: ResultBufferOptions;
  private readonly memory = new ByteQuota(MEMORY);
  private readonly disk: ByteQuota;

  constructor(options: Pick<ResultBufferOptions, 'folder'> & Partial<ResultBufferOptions>) {
    this.options = { ...DEFAULTS, ...options };
    const { maxClientBytes: perClient, maxTotalBytes: total } = this.options;
    this.disk = new ByteQuota({ perClient, total });
  }

  /** @param client a principal, else an IP address */
  open(client: string): ResultBuffer {
    return new ResultBuffer(this.options, this.disk.open(client), this.memory.open(client));
  }
}

/**
 * Keeps written bytes until they are read, so that the writer never waits for the reader. By hand: packages such as
 * fs-capacitor have no limits, and leave their files behind if the process is killed.
 */
export class ResultBuffer {
  /** Ends when the writer has ended and everything is read. Any failure destroys it. */
  readonly readable: Readable;
  /** Read first; the file follows. */
  private readonly texts: string[] = [];
  private file: SpoolFile | undefined;
  private hasEnded = false;
  private isReaderWaiting = false;
  private isDelayed: boolean;
  private delay: NodeJS.Timeout | undefined;
  private lastStep: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly options: ResultBufferOptions,
    /** What is unread. */
    private readonly unread: QuotaShare,
    /** What is unread in memory. */
    private readonly memory: QuotaShare,
  ) {
    this.isDelayed = options.firstByteDelayMs > 0;
    this.readable = new Readable({
      highWaterMark: READ_BYTES,
      read: () => {
        this.isReaderWaiting = true;
        this.serveReader();
      },
      destroy: (error, done) => {
        clearTimeout(this.delay);
        this.inOrder(() => this.discard()).then(() => done(error), done);
      },
    });
    // An error before anyone reads must not end the process. A later reader still gets the error.
    this.readable.on('error', () => {});
  }

  /**
   * Await each call before the next one.
   * @throws BufferFull if too much is unread
   * @throws Error if the reader has stopped, or the disk is full
   */
  async write(text: string): Promise<void> {
    await this.inOrder(() => this.store(text));
    if (this.isDelayed && this.unread.bytes <= MAX_DELAYED_BYTES) this.endDelayAfterPause();
    else this.endDelay();
  }

  end(): void {
    this.hasEnded = true;
    this.endDelay();
  }

  /** Discards everything unread and destroys the stream. */
  fail(error: unknown): void {
    this.readable.destroy(error instanceof Error ? error : new Error(String(error)));
  }

  private async store(text: string): Promise<void> {
    if (this.readable.destroyed) throw new ReaderGone('Nobody reads the results any more.');
    const { maxBytes, folder } = this.options;
    const length = Buffer.byteLength(text);
    if (this.unread.bytes + length > maxBytes) throw new BufferFull(`Over ${maxBytes} bytes are unread.`);
    if (this.unread.take(length))
      throw new BufferFull('This client, or all clients together, have too many unread bytes.');
    if (!this.file?.unreadBytes && this.hasRoomFor(text)) this.texts.push(text);
    else {
      this.file ??= await SpoolFile.open(folder);
      await this.file.append(Buffer.from(text));
    }
  }

  /** Takes memory for a text if there is any left. */
  private hasRoomFor(text: string): boolean {
    const bytes = heldBytes(text);
    return this.memory.bytes + bytes <= this.options.memoryBytes && !this.memory.take(bytes);
  }

  private endDelayAfterPause(): void {
    clearTimeout(this.delay);
    const delay = setTimeout(() => {
      // What arrived while the event loop was late is read first.
      setImmediate(() => {
        if (this.delay === delay) this.endDelay();
      });
    }, this.options.firstByteDelayMs);
    this.delay = delay.unref();
  }

  private endDelay(): void {
    clearTimeout(this.delay);
    this.isDelayed = false;
    this.serveReader();
  }

  private serveReader(): void {
    if (this.isDelayed || !this.isReaderWaiting) return;
    this.isReaderWaiting = false;
    this.inOrder(async () => {
      const bytes = await this.next();
      if (bytes) this.unread.take(-bytes.length);
      if (bytes || this.hasEnded) this.readable.push(bytes ?? null);
      else this.isReaderWaiting = true;
    }).catch((error: unknown) => this.fail(error));
  }

  private async next(): Promise<Buffer | undefined> {
    const text = this.texts.shift();
    if (text === undefined) return this.file?.next(READ_BYTES);
    this.memory.take(-heldBytes(text));
    return Buffer.from(text);
  }

  private async discard(): Promise<void> {
    this.texts.length = 0;
    this.memory.release();
    this.unread.release();
    await this.file?.close();
  }

  /** Runs one step at a time, because writer and reader share the file. */
  private inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const step = this.lastStep.then(work);
    this.lastStep = step.catch(() => {});
    return step;
  }
}

/** What was read is cut off a file from this size on, if it is at least as much as what is unread. */
const MIN_CUT_BYTES = MIB;

/** An unlinked file, which disappears when the process ends, even if it is killed. */
export class SpoolFile {
  /** Up to where it is written, and up to where it is read. */
  private written = 0;
  private read = 0;

  private constructor(private readonly file: FileHandle) {}

  /** @param folder created if it is missing */
  static async open(folder: string): Promise<SpoolFile> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = join(folder, randomUUID());
    const file = await open(name, 'wx+', 0o600);
    try {
      await unlink(name);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new SpoolFile(file);
  }

  get unreadBytes(): number {
    return this.written - this.read;
  }

  async append(bytes: Buffer): Promise<void> {
    // Positions are explicit, because reads and writes share the position of the file. A write can be partial if the
    // disk is nearly full.
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.file.write(bytes, done, bytes.length - done, this.written);
      done += bytesWritten;
      this.written += bytesWritten;
    }
  }

  /** @returns the next bytes, at most this many; undefined if all are read */
  async next(maxBytes: number): Promise<Buffer | undefined> {
    if (this.unreadBytes === 0) return undefined;
    const bytes = Buffer.alloc(Math.min(maxBytes, this.unreadBytes));
    const { bytesRead } = await this.file.read(bytes, 0, bytes.length, this.read);
    this.read += bytesRead;
    if (this.read >= Math.max(MIN_CUT_BYTES, this.unreadBytes)) await this.cut();
    return bytes.subarray(0, bytesRead);
  }

  close(): Promise<void> {
    return this.file.close();
  }

  /** Moves what is unread to the beginning, so that a reader that never catches up does not fill the disk. */
  private async cut(): Promise<void> {
    const { read: from, written: end } = this;
    this.written = 0;
    const part = Buffer.alloc(MIB);
    for (let at = from; at < end; ) {
      const { bytesRead } = await this.file.read(part, 0, Math.min(part.length, end - at), at);
      await this.append(part.subarray(0, bytesRead));
      at += bytesRead;
    }
    this.read = 0;
    await this.file.truncate(this.written);
  }
}
