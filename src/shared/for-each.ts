/**
 * Calls for each item, one after the other. A call that fails does not stop the others.
 * @throws the first error, once all are called
 */
export async function forEach<Item>(
  items: Iterable<Item>,
  call: (item: Item) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = [];
  for (const item of items) await call(item).catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}
