/** When there are so many more than twice N items, they are sorted, and those behind the first N are left out. Tuning. */
const UNSORTED = 64;

/**
 * The first N of the added items, in order. The work is spread over the additions: one sort of all items at the end
 * would block other requests.
 */
export class TopN<Item> {
  private items: Item[] = [];
  /** No item behind this one is among the first N. */
  private end: Item | undefined;

  constructor(
    private readonly count: number,
    private readonly compare: (a: Item, b: Item) => number,
  ) {}

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
 * The index of the first item for which `isBefore` is false; binary search. Appending to a sorted list is quick: the
 * last item is checked first.
 * @param items sorted: items for which `isBefore` is true come first
 * @param start where the part of the items begins that is searched
 */
export function partitionPoint<Item>(
  items: ArrayLike<Item>,
  isBefore: (item: Item) => boolean,
  start = 0,
  end = items.length,
): number {
  if (end > start && isBefore(items[end - 1] as Item)) return end;
  let [low, high] = [start, end];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(items[middle] as Item)) low = middle + 1;
    else high = middle;
  }
  return low;
}
