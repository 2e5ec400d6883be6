import { PassThrough, pipeline, type Readable } from 'node:stream';
import { LineSplitter, type RequestLine } from './line-splitter.js';

/** So many lines at the most are worked on together. */
const BATCH = 256;
/** So much arrives ahead of them; more is not read. */
const AHEAD_BYTES = 256 * 1024;

/**
 * The lines of a request, as they come: of what has arrived, up to {@link BATCH}. What arrives while they are worked on makes
 * the next ones.
 * @throws where the request breaks off; of the line that was under way then nothing is said
 */
export async function* requestLines(
  request: Readable,
  limitBytes: number,
): AsyncGenerator<readonly RequestLine[], void, void> {
  const splitter = new LineSplitter(limitBytes);
  for await (const chunk of arriving(request)) yield* batches(splitter.push(chunk));
  yield* batches(splitter.end());
}

/** Each piece is all that has come since the one before: so a stream is read that was told nothing of sizes. */
function arriving(request: Readable): AsyncIterable<Buffer> {
  const arrived = new PassThrough({ highWaterMark: AHEAD_BYTES });
  // What goes wrong with the request goes wrong with its copy, and is thrown there.
  pipeline(request, arrived, () => {});
  return arrived;
}

function* batches(lines: Iterable<RequestLine>): Generator<RequestLine[]> {
  let batch: RequestLine[] = [];
  for (const line of lines) {
    batch.push(line);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
