import type { IncomingMessage } from 'node:http';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import type { Clock, Timer } from '../../../../application/ports/clock.js';
import { unavailable } from '../../../../domain/errors.js';
import type { QuotaShare } from '../../../../shared/byte-quota.js';
import type { ImportLine, LineSplitter } from '../../../../shared/record-splitters.js';
import { tooLarge } from '../body/json-body.js';

/** The maximum number of lines in a batch. */
const MAX_BATCH = 256;
/** The maximum bytes of a batch, unless it is one line: what a store does with a batch is one slice of the thread. */
const MAX_BATCH_BYTES = 64 * 1024;
/** At most this many bytes are read ahead of the current batch. */
const AHEAD_BYTES = 64 * 1024;

/** The body of an import. */
export interface LineSource {
  readonly request: IncomingMessage | Readable;
  /** For lines that arrive in parts. */
  readonly memory?: QuotaShare;
  /** Ends a client that keeps the service waiting. */
  readonly patience?: InputPatience;
}

/**
 * The lines of a request as they arrive, at most {@link MAX_BATCH} and {@link MAX_BATCH_BYTES} at a time. The lines
 * that arrive while a batch is processed are the next batch.
 * @throws Error if the request breaks off; the incomplete line is dropped
 */
export async function* readLines(
  { request, patience }: LineSource,
  splitter: LineSplitter,
): AsyncGenerator<readonly ImportLine[], void, void> {
  const chunks = arrivedChunks(request);
  for await (const chunk of patience ? patience.over(chunks) : chunks) {
    for (const batch of batches(splitter.push(chunk))) {
      patience?.recordArrived();
      yield batch;
    }
    patience?.partArrived(splitter.pendingBytes);
  }
  yield* batches(splitter.end());
}

/**
 * The bytes of a line.
 * @param what a line of NDJSON or a part of CSV, for the message
 * @throws HttpError `payload_too_large`
 * @throws AppError `unavailable`
 */
export function bytesOf(line: ImportLine, limitBytes: number, what: string): Buffer {
  if ('tooLong' in line) throw tooLarge(limitBytes, what);
  if ('noRoom' in line)
    throw unavailable('This client, or all clients together, have too many long lines under way. Try again later.');
  const { bytes } = line;
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** The length of lines in bytes; those that are not kept have none. */
export function lengthOf(...lines: readonly ImportLine[]): number {
  let bytes = 0;
  for (const line of lines) if ('bytes' in line) bytes += line.bytes.length;
  return bytes;
}

/** Yields everything that has arrived since the last chunk. From Node 26 on, `read` returns one chunk of it. */
async function* arrivedChunks(request: Readable): AsyncGenerator<Buffer, void, void> {
  const arrived = new PassThrough({ highWaterMark: AHEAD_BYTES });
  // An error of the request destroys the copy, which then throws it.
  pipeline(request, arrived, () => {});
  for await (const first of arrived) {
    const rest: Buffer | null = arrived.readableLength > 0 ? arrived.read(arrived.readableLength) : null;
    yield rest === null ? first : Buffer.concat([first, rest]);
  }
}

function* batches(lines: Iterable<ImportLine>): Generator<ImportLine[]> {
  let batch: ImportLine[] = [];
  let bytes = 0;
  for (const line of lines) {
    const length = lengthOf(line);
    if (batch.length === MAX_BATCH || (batch.length > 0 && bytes + length > MAX_BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(line);
    bytes += length;
  }
  if (batch.length > 0) yield batch;
}

/** How much of an unfinished record counts as progress. */
const PART_BYTES = 16 * 1024;
const PATIENCE_MS = 30_000;

const SYSTEM: Pick<Clock, 'elapsed'> & Timer = {
  elapsed: () => performance.now(),
  after: (ms, call) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

/** The two ways in which a stream is used: it waits for its client, or the service works for it. */
interface Stream {
  /** Ends the stream. */
  end(): void;
  /** Whether the service works for it: then nobody has to send a byte. */
  working(isWorking: boolean): void;
}

/**
 * How long a stream waits for its client: 30 seconds without a whole record and without 16 KiB of one. Only the time
 * counts in which the service waits; what is ignored, such as blank lines, is no progress.
 */
export class InputPatience {
  private waitedMs = 0;
  /** The bytes of the unfinished record that were there at the last progress. */
  private partBytes = 0;

  constructor(
    private readonly stream: Stream,
    private readonly timers = SYSTEM,
    private readonly limitMs = PATIENCE_MS,
  ) {}

  /** Passes on what the client sends, and counts the time in which it sends nothing. */
  async *over<Chunk>(chunks: AsyncIterable<Chunk>): AsyncGenerator<Chunk, void, void> {
    const iterator = chunks[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.waited(iterator.next());
        if (next.done) return;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  }

  recordArrived(): void {
    this.waitedMs = 0;
    this.partBytes = 0;
  }

  /** @param bytes those of the unfinished record */
  partArrived(bytes: number): void {
    if (bytes < this.partBytes) this.partBytes = 0;
    if (bytes - this.partBytes < PART_BYTES) return;
    this.waitedMs = 0;
    this.partBytes = bytes;
  }

  private async waited<Result>(arrival: Promise<Result>): Promise<Result> {
    const begin = this.timers.elapsed();
    const stop = this.timers.after(this.limitMs - this.waitedMs, () => this.stream.end());
    this.stream.working(false);
    try {
      return await arrival;
    } finally {
      stop();
      this.stream.working(true);
      this.waitedMs += this.timers.elapsed() - begin;
    }
  }
}
