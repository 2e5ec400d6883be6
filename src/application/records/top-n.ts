import type { StoredRecord } from './record-json.js';

/**
 * The first N of the added items, in order. The work is spread over the additions: one sort of all items at the end
 * would block other requests.
 */
export class TopN<Item> {
  private readonly items: Item[] = [];

  constructor(
    private readonly count: number,
    private readonly compare: (a: Item, b: Item) => number,
  ) {}

  /** The last of the N items; undefined while there are fewer. No item behind it is added. */
  get last(): Item | undefined {
    return this.items[this.count - 1];
  }

  /** Adds an item behind those that compare equal. */
  add(item: Item): void {
    const { last } = this;
    if (last !== undefined && this.compare(item, last) >= 0) return;
    this.items.splice(
      partitionPoint(this.items, (other) => this.compare(item, other) >= 0),
      0,
      item,
    );
    if (this.items.length > this.count) this.items.pop();
  }

  inOrder(): readonly Item[] {
    return this.items;
  }
}

/**
 * Returns the first records, at most `limit`. The record that reaches `maxBytes` of JSON is the last, so a page of
 * existing records is never empty.
 */
export function takePage<Fields>(
  records: readonly StoredRecord<Fields>[],
  limit: number,
  maxBytes: number,
): StoredRecord<Fields>[] {
  let bytes = 0;
  const page: StoredRecord<Fields>[] = [];
  for (const record of records) {
    if (page.length === limit || bytes >= maxBytes) break;
    page.push(record);
    bytes += record.fieldsBytes;
  }
  return page;
}

/**
 * The index of the first item for which `isBefore` is false; binary search. Appending to a sorted list is quick: the
 * last item is checked first.
 * @param items sorted: items for which `isBefore` is true come first
 */
export function partitionPoint<Item>(items: readonly Item[], isBefore: (item: Item) => boolean): number {
  let [low, high] = [0, items.length];
  if (high > 0 && isBefore(items[high - 1] as Item)) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(items[middle] as Item)) low = middle + 1;
    else high = middle;
  }
  return low;
}
