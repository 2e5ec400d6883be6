import { Readable } from 'node:stream';
import type { Versioned } from '../../../../domain/record.js';
import { yieldFairly } from '../../../../shared/event-loop.js';
import type { Context } from '../context.js';
import { JSON_TYPE } from '../middleware/content-negotiation.js';
import type { View } from '../query/sparse-fields.js';
import { clientOf } from '../work-limits.js';
import { inBatches } from './chunk-text.js';

/** The media type of lines of JSON, in requests and responses. */
export const NDJSON = 'application/x-ndjson';

/** As {@link JSON_TYPE}, with the charset that a client may name. */
export const NDJSON_UTF8 = `${NDJSON}; charset=utf-8`;

/** The written bytes that are not sent yet. Beyond this no more is read. */
const BUFFERED = { objectMode: false, highWaterMark: 65_536 };

type Pages<Fields> = AsyncGenerator<readonly Versioned<Fields>[], void, void>;

/** Whether the client prefers lines to an array. */
export function acceptsNdjson(ctx: Context): boolean {
  return ctx.accepts(JSON_TYPE, NDJSON_UTF8) === NDJSON_UTF8;
}

/**
 * Responds with one line per record. Pages are read as fast as the client takes the lines. If a page cannot be read,
 * the connection is cut, so that no client takes a part for the whole.
 * @param first the page that was read already, while an error response was still possible
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
  yield* linesOf(first, view, client);
  await yieldFairly(client);
  for await (const page of rest) {
    yield* linesOf(page, view, client);
    await yieldFairly(client);
  }
}

async function* linesOf<Fields>(
  records: readonly Versioned<Fields>[],
  view: View<Fields>,
  client: string,
): AsyncGenerator<Buffer, void, void> {
  const texts = inBatches(records, (record) => `${JSON.stringify(view.present(record))}\n`, client);
  for await (const text of texts) yield Buffer.from(text);
}
