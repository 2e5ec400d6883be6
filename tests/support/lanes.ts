/** Calls `each` for every item, at most `lanes` at a time. */
export async function inLanes<Item>(
  lanes: number,
  items: readonly Item[],
  each: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const entries = items.entries();
  const lane = async () => {
    for (const [index, item] of entries) await each(item, index);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
