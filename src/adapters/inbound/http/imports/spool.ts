import { Readable } from 'node:stream';
import { SpoolSegment } from './spool-segment.js';

const READ_BYTES = 65_536;

export interface SpoolOptions {
  /** Where files are put, and made where it is missing. */
  readonly folder: string;
  /** What is beyond goes to files. */
  readonly memoryBytes: number;
  /** After so many a new file is begun; one that was read is gone. */
  readonly segmentBytes: number;
  /** More than that unread is an error. */
  readonly maxBytes: number;
}

/** Room that a spool shares with others. */
export interface SharedRoom {
  /** @returns whether there are so many bytes; then they are taken */
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
}

/** Whoever reads is too far behind. */
export class SpoolFull extends Error {}

/** Whoever reads has stopped. */
class SpoolAbandoned extends Error {
  readonly code = 'ERR_STREAM_PREMATURE_CLOSE';
}

/** Keeps what is written until it is read, however late that is: the writer never waits for the reader. */
export class Spool {
  /** Ends when all was read and the writer has ended; is destroyed by whatever goes wrong. */
  readonly readable: Readable;
  /** What is read next; behind it come the segments. */
  private memory: Buffer[] = [];
  private memoryBytes = 0;
  private segments: SpoolSegment[] = [];
  private unread = 0;
  private hasEnded = false;
  private isReaderWaiting = false;
  private lastTurn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly options: SpoolOptions,
    private readonly room: SharedRoom,
  ) {
    this.readable = new Readable({
      highWaterMark: READ_BYTES,
      read: () => this.give(),
      destroy: (error, done) => {
        this.inTurn(() => this.discard()).then(() => done(error), done);
      },
    });
    // It may fail before anybody reads it, and that is no defect. Whoever reads is told all the same.
    this.readable.on('error', () => {});
  }

  /**
   * To be awaited before the next.
   * @throws SpoolFull where too much is unread; an error where nobody reads any more, or the disk is full
   */
  async write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    await this.inTurn(() => this.keep(bytes));
    this.wakeReader();
  }

  end(): void {
    this.hasEnded = true;
    this.wakeReader();
  }

  /** What was written and not yet read is lost. */
  fail(error: unknown): void {
    this.readable.destroy(error instanceof Error ? error : new Error(String(error)));
  }

  private async keep(bytes: Buffer): Promise<void> {
    if (this.readable.destroyed) throw new SpoolAbandoned('Nobody reads what is written any more.');
    const { memoryBytes, maxBytes } = this.options;
    if (this.unread + bytes.length > maxBytes) throw new SpoolFull(`Over ${maxBytes} bytes are unread.`);
    if (!this.room.take(bytes.length))
      throw new SpoolFull('This client, or all clients together, have too many unread bytes.');
    this.unread += bytes.length;
    if (this.segments.length > 0 || this.memoryBytes + bytes.length > memoryBytes) {
      const segment = await this.lastSegment();
      await segment.append(bytes);
    } else {
      this.memory.push(bytes);
      this.memoryBytes += bytes.length;
    }
  }

  private async lastSegment(): Promise<SpoolSegment> {
    const last = this.segments.at(-1);
    if (last && last.size < this.options.segmentBytes) return last;
    const segment = await SpoolSegment.open(this.options.folder);
    this.segments.push(segment);
    return segment;
  }

  private give(): void {
    this.inTurn(async () => {
      const bytes = await this.next();
      if (bytes) this.letGo(bytes.length);
      this.isReaderWaiting = !bytes && !this.hasEnded;
      if (!this.isReaderWaiting) this.readable.push(bytes ?? null);
    }).catch((error: unknown) => this.fail(error));
  }

  private async next(): Promise<Buffer | undefined> {
    const bytes = this.memory.shift();
    if (bytes) {
      this.memoryBytes -= bytes.length;
      return bytes;
    }
    const [segment] = this.segments;
    if (!segment) return undefined;
    const read = await segment.next(READ_BYTES);
    if (segment.isRead) {
      this.segments.shift();
      await segment.close();
    }
    return read;
  }

  private wakeReader(): void {
    if (!this.isReaderWaiting) return;
    this.isReaderWaiting = false;
    this.give();
  }

  private async discard(): Promise<void> {
    const segments = this.segments.splice(0);
    this.memory = [];
    this.letGo(this.unread);
    for (const segment of segments) await segment.close();
  }

  private letGo(bytes: number): void {
    this.unread -= bytes;
    this.room.giveBack(bytes);
  }

  /** One thing at a time: writer and reader share the segments. */
  private inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.lastTurn.then(work);
    this.lastTurn = turn.catch(() => {});
    return turn;
  }
}
