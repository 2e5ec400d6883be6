import type { Purgeable } from '../../../application/ports/purgeable.js';
import { partitionPoint } from '../../../application/records/sorted.js';
import type { Instant } from '../../../domain/record.js';

/** A map whose entries are purged by age. */
export class ExpiringMap<Key, Value> implements Purgeable {
  private readonly values = new Map<Key, Value>();
  /** Oldest first. */
  private readonly byAge: { readonly key: Key; readonly at: Instant }[] = [];

  constructor(
    readonly retentionMs: number,
    private readonly instantOf: (value: Value) => Instant,
    private readonly purged: (key: Key) => void = () => {},
  ) {}

  get(key: Key): Value | undefined {
    return this.values.get(key);
  }

  has(key: Key): boolean {
    return this.values.has(key);
  }

  /** @param key is not in the map yet */
  add(key: Key, value: Value): void {
    const at = this.instantOf(value);
    this.byAge.splice(
      partitionPoint(this.byAge, (other) => other.at <= at),
      0,
      { key, at },
    );
    this.values.set(key, value);
  }

  async purgeBefore(moment: Instant, limit: number): Promise<number> {
    const purged = this.byAge.slice(0, limit).filter(({ at }) => at < moment);
    this.byAge.splice(0, purged.length);
    for (const { key } of purged) {
      this.values.delete(key);
      this.purged(key);
    }
    return purged.length;
  }
}
