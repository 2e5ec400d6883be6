import { PassThrough, pipeline, type Readable } from 'node:stream';
import type { ImportLine, LineSplitter } from '../../../../shared/record-splitters.js';

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
