import { yieldFairly } from '../../../../shared/event-loop.js';

const MAX_ITEMS = 100;
const MAX_CHARACTERS = 64 * 1024;

/**
 * Converts items to text, chunk by chunk, and yields to other work between two chunks.
 * @param client see {@link yieldFairly}
 */
export async function* textChunks<Item>(
  items: Iterable<Item>,
  write: (item: Item) => string,
  client?: string,
): AsyncGenerator<string, void, void> {
  let [chunk, count] = ['', 0];
  for (const item of items) {
    if (count === MAX_ITEMS || chunk.length >= MAX_CHARACTERS) {
      yield chunk;
      [chunk, count] = ['', 0];
      await yieldFairly(client);
    }
    chunk += write(item);
    count++;
  }
  if (chunk !== '') yield chunk;
}

type ToJson<Item> = (item: Item) => string;

/** Encodes items as a JSON array. A long array does not block the event loop. */
export async function jsonArray<Item>(
  items: readonly Item[],
  toJson: ToJson<Item>,
  client?: string,
): Promise<Buffer> {
  let before = '[';
  const write = (item: Item) => {
    const text = before + toJson(item);
    before = ',';
    return text;
  };
  return encodeChunks(items, write, items.length === 0 ? '[]' : ']', client);
}

/** Encodes items as NDJSON, like {@link jsonArray}. */
export function ndjsonLines<Item>(
  items: readonly Item[],
  toJson: ToJson<Item>,
  client?: string,
): Promise<Buffer> {
  return encodeChunks(items, (item) => `${toJson(item)}\n`, '', client);
}

async function encodeChunks<Item>(
  items: readonly Item[],
  write: (item: Item) => string,
  end: string,
  client: string | undefined,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const text of textChunks(items, write, client)) parts.push(Buffer.from(text));
  parts.push(Buffer.from(end));
  return Buffer.concat(parts);
}
