import type { Id } from '../../../domain/record.js';

/** Ids in ascending order. They mostly come in it, so that adding one is quick. */
export class SortedIds {
  private readonly ids: Id[] = [];

  add(id: Id): void {
    this.ids.splice(this.placeOf(id), 0, id);
  }

  remove(id: Id): void {
    const at = this.placeOf(id);
    if (this.ids[at] === id) this.ids.splice(at, 1);
  }

  /** A copy of those from `first` on; of all without it. */
  upwards(first?: Id): Id[] {
    return this.ids.slice(first === undefined ? 0 : this.placeOf(first));
  }

  /** A copy of those from `first` on, descending. */
  downwards(first?: Id): Id[] {
    return this.ids.slice(0, first === undefined ? undefined : this.placeOf(first + 1)).reverse();
  }

  /** Of the first that is not smaller; found from the end for those that are the largest. */
  private placeOf(id: Id): number {
    let [low, high] = [0, this.ids.length];
    if (high > 0 && (this.ids[high - 1] ?? 0) < id) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.ids[middle] ?? 0) < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
