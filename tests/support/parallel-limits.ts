/** Calls `each` for every item, at most `limit` at a time. */
export async function inParallel<Item>(
  limit: number,
  items: readonly Item[],
  each: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const entries = items.entries();
  const worker = async () => {
    for (const [index, item] of entries) await each(item, index);
  };
  await Promise.all(Array.from({ length: limit }, worker));
}
