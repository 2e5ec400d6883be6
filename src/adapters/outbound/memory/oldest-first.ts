import type { Instant } from '../../../domain/record.js';

/** A map whose values have an age, in the order in which they came. */
export class OldestFirst<Key, Value> {
  private readonly values = new Map<Key, Value>();

  constructor(private readonly ageOf: (value: Value) => Instant) {}

  get(key: Key): Value | undefined {
    return this.values.get(key);
  }

  has(key: Key): boolean {
    return this.values.has(key);
  }

  set(key: Key, value: Value): void {
    this.values.set(key, value);
  }

  /**
   * Stops at the first that is young enough: after a clock was set back the older ones behind it wait for it.
   * @returns how many were removed
   */
  removeBefore(moment: Instant, limit: number): number {
    let removed = 0;
    for (const [key, value] of this.values) {
      if (removed === limit || this.ageOf(value) >= moment) break;
      this.values.delete(key);
      removed++;
    }
    return removed;
  }
}
