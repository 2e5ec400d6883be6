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
  /** The maximum number of bytes that one buffer holds in memory. The rest is written to files. */
  readonly memoryBytes: number;
  /** After this many bytes a new file begins. A file is deleted when it has been read. */
  readonly fileBytes: number;
  /** The limit of unread bytes in one buffer. */
  readonly maxBytes: number;
  /** The limit of all buffers of one client, so that one client cannot use all the space. */
  readonly maxClientBytes: number;
  /** The limit of all buffers together. */
  readonly maxTotalBytes: number;
  /**
   * Nothing can be read before the writer has ended or has paused for this long, or {@link MAX_HELD_BYTES} are unread.
   * 0: at once. For nginx: once a response has begun, it passes no more of the request on as soon as the service falls
   * behind (https://trac.nginx.org/nginx/ticket/1293).
   */
  readonly holdMs: number;
}

const MAX_HELD_BYTES = 64 * MIB;

/** The memory of all buffers. What has no room in it is written to files. */
const MEMORY = { perClient: 4 * MIB, total: 32 * MIB };

const DEFAULTS = {
  memoryBytes: 256 * KIB,
  fileBytes: 8 * MIB,
  maxBytes: 256 * MIB,
  maxClientBytes: 256 * MIB,
  maxTotalBytes: 512 * MIB,
  holdMs: 0,
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
  /** Read first; the files follow. */
  private texts: string[] = [];
  private files: BufferFile[] = [];
  private hasEnded = false;
  private isReaderWaiting = false;
  private isHeld: boolean;
  private pause: NodeJS.Timeout | undefined;
  private lastStep: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly options: ResultBufferOptions,
    /** What is unread. */
    private readonly unread: QuotaShare,
    /** What is unread in memory. */
    private readonly memory: QuotaShare,
  ) {
    this.isHeld = options.holdMs > 0;
    this.readable = new Readable({
      highWaterMark: READ_BYTES,
      read: () => this.pushNext(),
      destroy: (error, done) => {
        clearTimeout(this.pause);
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
    if (this.isHeld && this.unread.bytes <= MAX_HELD_BYTES) this.releaseAfterPause();
    else this.release();
  }

  end(): void {
    this.hasEnded = true;
    this.release();
  }

  /** Discards everything unread and destroys the stream. */
  fail(error: unknown): void {
    this.readable.destroy(error instanceof Error ? error : new Error(String(error)));
  }

  private async store(text: string): Promise<void> {
    if (this.readable.destroyed) throw new ReaderGone('Nobody reads the results any more.');
    const { maxBytes } = this.options;
    const length = Buffer.byteLength(text);
    if (this.unread.bytes + length > maxBytes) throw new BufferFull(`Over ${maxBytes} bytes are unread.`);
    if (this.unread.take(length))
      throw new BufferFull('This client, or all clients together, have too many unread bytes.');
    if (this.files.length > 0 || !this.hasRoomFor(text))
      await (await this.lastFile()).append(Buffer.from(text));
    else this.texts.push(text);
  }

  /** Takes memory for a text if there is any left. */
  private hasRoomFor(text: string): boolean {
    const bytes = heldBytes(text);
    return this.memory.bytes + bytes <= this.options.memoryBytes && !this.memory.take(bytes);
  }

  private async lastFile(): Promise<BufferFile> {
    const last = this.files.at(-1);
    if (last && last.size < this.options.fileBytes) return last;
    const file = await BufferFile.open(this.options.folder);
    this.files.push(file);
    return file;
  }

  private releaseAfterPause(): void {
    clearTimeout(this.pause);
    const pause = setTimeout(() => {
      // What arrived while the event loop was late is read first.
      setImmediate(() => {
        if (this.pause === pause) this.release();
      });
    }, this.options.holdMs);
    this.pause = pause.unref();
  }

  private release(): void {
    clearTimeout(this.pause);
    this.isHeld = false;
    this.wakeReader();
  }

  private pushNext(): void {
    if (this.isHeld) {
      this.isReaderWaiting = true;
      return;
    }
    this.inOrder(async () => {
      const bytes = await this.next();
      if (bytes) this.unread.take(-bytes.length);
      this.isReaderWaiting = !bytes && !this.hasEnded;
      if (!this.isReaderWaiting) this.readable.push(bytes ?? null);
    }).catch((error: unknown) => this.fail(error));
  }

  private async next(): Promise<Buffer | undefined> {
    const text = this.texts.shift();
    if (text !== undefined) {
      this.memory.take(-heldBytes(text));
      return Buffer.from(text);
    }
    const [file] = this.files;
    if (!file) return undefined;
    const read = await file.next(READ_BYTES);
    if (file.isRead) {
      this.files.shift();
      await file.close();
    }
    return read;
  }

  private wakeReader(): void {
    if (!this.isReaderWaiting) return;
    this.isReaderWaiting = false;
    this.pushNext();
  }

  private async discard(): Promise<void> {
    const files = this.files.splice(0);
    this.texts = [];
    this.memory.release();
    this.unread.release();
    for (const file of files) await file.close();
  }

  /** Runs one step at a time, because writer and reader share the files. */
  private inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const step = this.lastStep.then(work);
    this.lastStep = step.catch(() => {});
    return step;
  }
}

/** A part of a buffer in an unlinked file, which disappears when the process ends, even if it is killed. */
export class BufferFile {
  private written = 0;
  private read = 0;

  private constructor(private readonly file: FileHandle) {}

  /** @param folder created if it is missing */
  static async open(folder: string): Promise<BufferFile> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const name = join(folder, randomUUID());
    const file = await open(name, 'wx+', 0o600);
    try {
      await unlink(name);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new BufferFile(file);
  }

  get size(): number {
    return this.written;
  }

  get isRead(): boolean {
    return this.read === this.written;
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

  /** @returns the next bytes, at most this many */
  async next(maxBytes: number): Promise<Buffer> {
    const bytes = Buffer.alloc(Math.min(maxBytes, this.written - this.read));
    const { bytesRead } = await this.file.read(bytes, 0, bytes.length, this.read);
    this.read += bytesRead;
    return bytes.subarray(0, bytesRead);
  }

  close(): Promise<void> {
    return this.file.close();
  }
}
