import { inBatches } from './batches.js';

type Present<Item> = (item: Item) => object;

/** The bytes of a JSON array, written so that a long one holds up nobody else. */
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

/** As {@link jsonArray}, a line for each item. */
export function jsonLines<Item>(
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
