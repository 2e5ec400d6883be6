import { Readable } from 'node:stream';
import type { Versioned } from '../../../../domain/record.js';
import { yieldFairly } from '../../../../shared/event-loop.js';
import type { Context } from '../context.js';
import { JSON_TYPE, preferredType } from '../middleware/content-negotiation.js';
import type { View } from '../query/sparse-fields.js';
import { clientOf } from '../work-limits.js';
import { textChunks } from './chunk-text.js';

/** The media type of newline-delimited JSON, in requests and responses. */
export const NDJSON = 'application/x-ndjson';

/** {@link NDJSON} with a charset, like {@link JSON_TYPE}. */
export const NDJSON_UTF8 = `${NDJSON}; charset=utf-8`;

/** Reading pauses while this many bytes are not sent yet. */
const BUFFERED = { objectMode: false, highWaterMark: 65_536 };

type Pages<Fields> = AsyncGenerator<readonly Versioned<Fields>[], void, void>;

const preferred = preferredType([JSON_TYPE, NDJSON_UTF8]);

/** Whether the client prefers NDJSON to a JSON array. */
export function acceptsNdjson(ctx: Context): boolean {
  return preferred(ctx) === NDJSON_UTF8;
}

/**
 * Responds with one line per record. Pages are read as fast as the client reads the lines. If reading a page fails, the
 * connection is cut, so that the client does not take the response for complete.
 * @param first the first page, which was read while an error response was still possible
 */
export function streamNdjson<Fields>(
  ctx: Context,
  first: readonly Versioned<Fields>[],
  rest: Pages<Fields>,
  view: View<Fields>,
): void {
  ctx.set('Content-Type', NDJSON);
  ctx.body = Readable.from(lines(first, rest, view, clientOf(ctx)), BUFFERED);
}

async function* lines<Fields>(
  first: readonly Versioned<Fields>[],
  rest: Pages<Fields>,
  view: View<Fields>,
  client: string,
): AsyncGenerator<Buffer, void, void> {
  yield* pageLines(first, view, client);
  await yieldFairly(client);
  for await (const page of rest) {
    yield* pageLines(page, view, client);
    await yieldFairly(client);
  }
}

async function* pageLines<Fields>(
  records: readonly Versioned<Fields>[],
  view: View<Fields>,
  client: string,
): AsyncGenerator<Buffer, void, void> {
  const texts = textChunks(records, (record) => `${view.toJson(record)}\n`, client);
  for await (const text of texts) yield Buffer.from(text);
}
