import { Readable } from 'node:stream';
import type { Task } from '../../../../shared/task-scheduler.js';
import { taskOf } from '../core/concurrency-limits.js';
import type { Context } from '../core/context.js';
import { textChunks } from './chunk-text.js';

/** A form of lists that is not one JSON array: NDJSON or CSV. */
export interface LineFormat<Item> {
  /** The `Content-Type` of the response. */
  readonly contentType: string;
  /** The text before the first record. */
  readonly head: string;
  /** Returns the lines of a record, with their ends. */
  readonly toText: (record: Item) => string;
}

/** Reading pauses while this many bytes are not sent yet. */
const BUFFERED = { objectMode: false, highWaterMark: 65_536 };

type Pages<Item> = AsyncGenerator<readonly Item[], void, void>;

/**
 * Responds with the lines of all records. Pages are read as fast as the client reads the lines. If reading a page
 * fails, or the client loses its access, the connection is reset, so that the client does not take the response for
 * complete.
 * @param first the first page, which was read while an error response was still possible
 */
export function streamLines<Item>(
  ctx: Context,
  first: readonly Item[],
  rest: Pages<Item>,
  format: LineFormat<Item>,
): void {
  ctx.set('Content-Type', format.contentType);
  ctx.body = Readable.from(lines(first, checked(ctx, rest), format, taskOf(ctx)), BUFFERED);
}

/** Checks before each page whether the client may still read it. */
async function* checked<Item>({ state }: Context, pages: Pages<Item>): Pages<Item> {
  for await (const page of pages) {
    await state.checkAccess?.();
    yield page;
  }
}

async function* lines<Item>(
  first: readonly Item[],
  rest: Pages<Item>,
  format: LineFormat<Item>,
  task: Task,
): AsyncGenerator<Buffer, void, void> {
  if (format.head !== '') yield Buffer.from(format.head);
  yield* pageLines(first, format, task);
  await task.yield();
  for await (const page of rest) {
    yield* pageLines(page, format, task);
    await task.yield();
  }
}

async function* pageLines<Item>(
  records: readonly Item[],
  { toText }: LineFormat<Item>,
  task: Task,
): AsyncGenerator<Buffer, void, void> {
  for await (const text of textChunks(records, toText, task)) yield Buffer.from(text);
}
