import type { StoredRecord } from './record-json.js';

/** When there are so many more than twice N items, they are sorted, and those behind the first N are left out. Tuning. */
const UNSORTED = 64;

/**
 * The first N of the added items, in order. The work is spread over the additions: one sort of all items at the end
 * would block other requests.
 */
export class TopN<Item> {
  private items: Item[] = [];
  private end: Item | undefined;

  constructor(
    private readonly count: number,
    private readonly compare: (a: Item, b: Item) => number,
  ) {}

  /** No item behind this one is among the first N. Undefined at the beginning. */
  get last(): Item | undefined {
    return this.end;
  }

  /** Adds an item behind those that compare equal. */
  add(item: Item): void {
    if (this.end !== undefined && this.compare(item, this.end) >= 0) return;
    this.items.push(item);
    if (this.items.length > 2 * this.count + UNSORTED) this.cut();
  }

  inOrder(): readonly Item[] {
    this.cut();
    return this.items;
  }

  private cut(): void {
    this.items = this.items.sort(this.compare).slice(0, this.count);
    this.end = this.items[this.count - 1];
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
