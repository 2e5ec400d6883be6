import { turnInLine } from '../../../../application/turns.js';

const MAX_ITEMS = 100;
const MAX_CHARACTERS = 64 * 1024;

/**
 * Writes many items, batch by batch; between two of them whatever else the process has to do has its turn.
 * @param client as {@link turnInLine} has it
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
      await turnInLine(client);
    }
    batch += write(item);
    count++;
  }
  if (batch !== '') yield batch;
}
