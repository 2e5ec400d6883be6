import { inBatches } from './batches.js';

/** The bytes of a JSON array, written so that a long one holds up nobody else. */
export async function jsonArray<Item>(
  items: readonly Item[],
  present: (item: Item) => object,
  client?: string,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let before = '[';
  const texts = inBatches(
    items,
    (item) => {
      const text = before + JSON.stringify(present(item));
      before = ',';
      return text;
    },
    client,
  );
  for await (const text of texts) parts.push(Buffer.from(text));
  parts.push(Buffer.from(items.length === 0 ? '[]' : ']'));
  return Buffer.concat(parts);
}
