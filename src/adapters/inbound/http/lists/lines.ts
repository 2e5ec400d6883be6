import { Readable } from 'node:stream';
import { jsonLine } from '../../../../shared/json.js';
import type { MaybePromise } from '../../../../shared/promises.js';
import { BACKGROUND, type Task } from '../../../../shared/task-scheduler.js';
import { taskOf } from '../core/concurrency-limits.js';
import type { Context } from '../core/context.js';
import { NDJSON } from '../core/media-types.js';

const MAX_ITEMS = 100;
const MAX_CHARACTERS = 64 * 1024;

type ToText<Item> = (item: Item) => string;

/**
 * Converts items to text, chunk by chunk, and yields to other work between two chunks.
 * @param start the index of the first item; others were converted before it
 */
export async function* textChunks<Item>(
  items: readonly Item[],
  toText: ToText<Item>,
  task = BACKGROUND,
  start = 0,
): AsyncGenerator<string, void, void> {
  for (let next = start; next < items.length; ) {
    if (next > 0) await task.yield();
    const [text, end] = chunkFrom(items, next, toText);
    yield text;
    next = end;
  }
}

/** Encodes items as a JSON array. A long array does not block the event loop; a short one needs no promise. */
export function jsonArray<Item>(items: readonly Item[], toJson: ToText<Item>, task?: Task): MaybePromise<Buffer> {
  let before = '';
  const toText = (item: Item) => {
    const text = before + toJson(item);
    before = ',';
    return text;
  };
  return encode('[', items, toText, ']', task);
}

function encode<Item>(
  start: string,
  items: readonly Item[],
  toText: ToText<Item>,
  end: string,
  task: Task | undefined,
): MaybePromise<Buffer> {
  const [first, next] = chunkFrom(items, 0, toText);
  // Bytes, because the tag, the length and the socket would each encode a text again.
  if (next === items.length) return Buffer.from(start + first + end);
  return encodeRest([Buffer.from(start + first)], textChunks(items, toText, task, next), end);
}

async function encodeRest(parts: Buffer[], rest: AsyncIterable<string>, end: string): Promise<Buffer> {
  for await (const text of rest) parts.push(Buffer.from(text));
  parts.push(Buffer.from(end));
  return Buffer.concat(parts);
}

/** @returns the text of the next items, and the index of the item after them */
function chunkFrom<Item>(items: readonly Item[], start: number, toText: ToText<Item>): [text: string, end: number] {
  const last = Math.min(items.length, start + MAX_ITEMS);
  let text = '';
  let at = start;
  while (at < last && text.length < MAX_CHARACTERS) text += toText(items[at++] as Item);
  return [text, at];
}

/** A form of lists that is not one JSON array: NDJSON or CSV. */
export interface LineFormat<Item> {
  readonly contentType: string;
  /** The text before the first record. */
  readonly head: string;
  /** Returns the lines of a record, with their ends. */
  readonly toText: ToText<Item>;
}

/** A line of JSON for each item. */
export function ndjson<Item>(toJson: ToText<Item>): LineFormat<Item> {
  return { contentType: NDJSON, head: '', toText: (item) => jsonLine(toJson(item)) };
}

/** Responds with the lines of one page. Unlike a JSON array, lines are always sent as a stream. */
export async function respondLines<Item>(
  ctx: Context,
  items: readonly Item[],
  { contentType, head, toText }: LineFormat<Item>,
): Promise<void> {
  ctx.set('Content-Type', contentType);
  const lines = await encode(head, items, toText, '', taskOf(ctx));
  ctx.state.responsePermit?.shrink(lines.length);
  ctx.body = Readable.from([lines], { objectMode: false });
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
  ctx.body = Readable.from(linesOf(ctx, first, rest, format), BUFFERED);
}

async function* linesOf<Item>(
  ctx: Context,
  first: readonly Item[],
  rest: Pages<Item>,
  { head, toText }: LineFormat<Item>,
): AsyncGenerator<Buffer, void, void> {
  const task = taskOf(ctx);
  if (head !== '') yield Buffer.from(head);
  yield* bytesOf(first, toText, task);
  for await (const page of rest) {
    // The client may have lost its access since the last page.
    await ctx.state.checkAccess?.();
    yield* bytesOf(page, toText, task);
  }
}

async function* bytesOf<Item>(
  items: readonly Item[],
  toText: ToText<Item>,
  task: Task,
): AsyncGenerator<Buffer, void, void> {
  for await (const text of textChunks(items, toText, task)) yield Buffer.from(text);
  await task.yield();
}
