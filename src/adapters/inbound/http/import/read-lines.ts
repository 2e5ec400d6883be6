import { PassThrough, pipeline, type Readable } from 'node:stream';

/** The maximum number of lines in a batch. */
const MAX_BATCH = 256;
/** At most this many bytes are read ahead of the current batch. */
const AHEAD_BYTES = 256 * 1024;

/**
 * The lines of a request as they arrive, at most {@link MAX_BATCH} at a time. The lines that arrive while
 * a batch is processed are the next batch.
 * @throws Error if the request breaks off; the incomplete line is dropped
 */
export async function* readLines(
  request: Readable,
  splitter: LineSplitter,
): AsyncGenerator<readonly ImportLine[], void, void> {
  for await (const chunk of arrivedChunks(request)) yield* batches(splitter.push(chunk));
  yield* batches(splitter.end());
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
  for (const line of lines) {
    batch.push(line);
    if (batch.length < MAX_BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** A line of a stream. `number` counts from 1. */
export type ImportLine =
  | { readonly number: number; readonly bytes: Buffer }
  | { readonly number: number; readonly tooLong: true };

export const LINE_FEED = 10;
export const CARRIAGE_RETURN = 13;
export const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** Returns the first line without the byte order mark. */
export function unmarked(line: Buffer): Buffer {
  return BYTE_ORDER_MARK.every((byte, at) => line[at] === byte)
    ? line.subarray(BYTE_ORDER_MARK.length)
    : line;
}

const FIRST_CAPACITY = 1_024;

/**
 * Splits chunks of any size into lines. A line ends with a line feed, which is not part of it. The last line may lack
 * it. A line over the limit is not kept in memory.
 */
export class LineSplitter {
  protected lines = 0;
  private held = Buffer.alloc(0);
  /** The length of the current line. Counts on if the line is over the limit, when nothing is held. */
  private length = 0;

  constructor(private readonly limitBytes: number) {}

  /** @returns the lines that end in this chunk; they share its memory */
  *push(chunk: Buffer): Generator<ImportLine, void, void> {
    let start = 0;
    for (;;) {
      if (this.length === 0) start = this.skipLines(chunk, start);
      const end = this.findEnd(chunk, start);
      if (end < 0) break;
      const line = this.finish(chunk.subarray(start, end));
      if (line) yield line;
      start = end + 1;
    }
    this.hold(chunk.subarray(start));
  }

  /** @returns the last line if it has no line feed */
  *end(): Generator<ImportLine, void, void> {
    const line = this.length > 0 ? this.finish(Buffer.alloc(0)) : undefined;
    if (line) yield line;
  }

  /** @returns the index of the line feed that ends the current line; -1 if it is not in this chunk */
  protected findEnd(chunk: Buffer, from: number): number {
    return chunk.indexOf(LINE_FEED, from);
  }

  /** Skips lines at the start of a line. Cheaper than {@link read} for each of millions. */
  protected skipLines(_chunk: Buffer, from: number): number {
    return from;
  }

  /** Returns what is read of a line; undefined: it is skipped without a number. */
  protected read(line: Buffer): Buffer | undefined {
    return line;
  }

  /** @returns undefined if the line is skipped */
  private finish(last: Buffer): ImportLine | undefined {
    const isWhole = this.length === 0;
    if (!isWhole) this.hold(last);
    const length = isWhole ? last.length : this.length;
    const bytes = isWhole ? last : Buffer.from(this.held.subarray(0, length));
    this.length = 0;
    const isOver = length > this.limitBytes + (bytes.at(-1) === CARRIAGE_RETURN ? 1 : 0);
    if (isOver) return { number: ++this.lines, tooLong: true };
    const read = this.read(bytes);
    return read && { number: ++this.lines, bytes: read };
  }

  private hold(chunk: Buffer): void {
    const at = this.length;
    this.length += chunk.length;
    // A carriage return before the line feed is no part of the line.
    if (this.length > this.limitBytes + 1) this.held = Buffer.alloc(0);
    else {
      this.grow();
      chunk.copy(this.held, at);
    }
  }

  /** Doubles the capacity, so that a line in many chunks is not copied for each of them. */
  private grow(): void {
    if (this.length <= this.held.length) return;
    const larger = Buffer.alloc(Math.max(FIRST_CAPACITY, this.length, 2 * this.held.length));
    this.held.copy(larger);
    this.held = larger;
  }
}
