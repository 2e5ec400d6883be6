import type { MaybePromise } from '../../../../shared/promises.js';
import { BACKGROUND, type Task } from '../../../../shared/task-scheduler.js';

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
export function jsonArray<Item>(
  items: readonly Item[],
  toJson: ToText<Item>,
  task?: Task,
): MaybePromise<Buffer> {
  let before = '';
  const toText = (item: Item) => {
    const text = before + toJson(item);
    before = ',';
    return text;
  };
  return encode('[', items, toText, ']', task);
}

/**
 * Encodes items as lines, like {@link jsonArray}.
 * @param head the text before the first item
 * @param toText returns lines with their ends
 */
export function lineText<Item>(
  head: string,
  items: readonly Item[],
  toText: ToText<Item>,
  task?: Task,
): MaybePromise<Buffer> {
  return encode(head, items, toText, '', task);
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
function chunkFrom<Item>(
  items: readonly Item[],
  start: number,
  toText: ToText<Item>,
): [text: string, end: number] {
  const last = Math.min(items.length, start + MAX_ITEMS);
  let text = '';
  let at = start;
  while (at < last && text.length < MAX_CHARACTERS) text += toText(items[at++] as Item);
  return [text, at];
}
