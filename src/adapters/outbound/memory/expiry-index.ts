import type { Instant } from '../../../domain/record.js';

interface Aged<Key> {
  readonly key: Key;
  readonly at: Instant;
}

/** A map whose values have an age. They mostly come in its order, so that adding one is quick. */
export class ExpiryIndex<Key, Value> {
  private readonly values = new Map<Key, Value>();
  private readonly byAge: Aged<Key>[] = [];

  constructor(private readonly ageOf: (value: Value) => Instant) {}

  get(key: Key): Value | undefined {
    return this.values.get(key);
  }

  has(key: Key): boolean {
    return this.values.has(key);
  }

  /** @param key one that is not there yet */
  add(key: Key, value: Value): void {
    const at = this.ageOf(value);
    const before = this.byAge.findLastIndex((one) => one.at <= at);
    this.byAge.splice(before + 1, 0, { key, at });
    this.values.set(key, value);
  }

  /** @returns how many were removed */
  purgeBefore(moment: Instant, limit: number): number {
    const oldest = this.byAge.slice(0, limit);
    const removed = oldest.filter(({ at }) => at < moment);
    this.byAge.splice(0, removed.length);
    for (const { key } of removed) this.values.delete(key);
    return removed.length;
  }
}
