import { yieldFairly } from '../../../../shared/event-loop.js';

const MAX_ITEMS = 100;
const MAX_CHARACTERS = 64 * 1024;

/**
 * Writes many items, chunk by chunk. Other work of the process runs between two chunks.
 * @param client see {@link yieldFairly}
 */
export async function* inBatches<Item>(
  items: Iterable<Item>,
  write: (item: Item) => string,
  client?: string,
): AsyncGenerator<string, void, void> {
  let [batch, count] = ['', 0];
  for (const item of items) {
    if (count === MAX_ITEMS || batch.length >= MAX_CHARACTERS) {
      yield batch;
      [batch, count] = ['', 0];
      await yieldFairly(client);
    }
    batch += write(item);
    count++;
  }
  if (batch !== '') yield batch;
}

type Present<Item> = (item: Item) => object;

/** The bytes of a JSON array. A long array does not block the event loop. */
export async function jsonArray<Item>(
  items: readonly Item[],
  present: Present<Item>,
  client?: string,
): Promise<Buffer> {
  let before = '[';
  const write = (item: Item) => {
    const text = before + JSON.stringify(present(item));
    before = ',';
    return text;
  };
  return written(items, write, items.length === 0 ? '[]' : ']', client);
}

/** As {@link jsonArray}, with one line per item. */
export function ndjsonChunks<Item>(
  items: readonly Item[],
  present: Present<Item>,
  client?: string,
): Promise<Buffer> {
  return written(items, (item) => `${JSON.stringify(present(item))}\n`, '', client);
}

async function written<Item>(
  items: readonly Item[],
  write: (item: Item) => string,
  end: string,
  client: string | undefined,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const text of inBatches(items, write, client)) parts.push(Buffer.from(text));
  parts.push(Buffer.from(end));
  return Buffer.concat(parts);
}
