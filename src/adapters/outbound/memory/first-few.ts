/** Of all that are added, the first few in an order: a sort of very many in one go would hold up other requests. */
export class TopN<Item> {
  private readonly items: Item[] = [];

  constructor(
    private readonly count: number,
    private readonly compare: (a: Item, b: Item) => number,
  ) {}

  add(item: Item): void {
    const last = this.items[this.count - 1];
    if (last !== undefined && this.compare(item, last) >= 0) return;
    this.items.splice(this.placeOf(item), 0, item);
    if (this.items.length > this.count) this.items.pop();
  }

  inOrder(): readonly Item[] {
    return this.items;
  }

  /** Behind all that are not behind it. */
  private placeOf(item: Item): number {
    let [low, high] = [0, this.items.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.items[middle];
      if (other !== undefined && this.compare(item, other) < 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
