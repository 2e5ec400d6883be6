import { RESERVATION_MS, USAGE_MS } from '../../../application/maintenance/retention.js';
import type { IdempotencyStore, Reservation } from '../../../application/ports/idempotency-store.js';
import type { Purgeable } from '../../../application/ports/table-store.js';
import type { UsageCount, UsageStore } from '../../../application/ports/usage-store.js';
import { partitionPoint } from '../../../application/records/lists.js';
import type { Id, Instant } from '../../../domain/record.js';

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

/** Keeps reservations in this process. */
export class MemoryIdempotencyStore extends ExpiringMap<string, Reservation> implements IdempotencyStore {
  constructor() {
    super(RESERVATION_MS, ({ reservedAt }) => reservedAt);
  }

  async find(keys: readonly string[]): Promise<ReadonlyMap<string, Reservation>> {
    const found = keys.map((key) => this.get(key)).filter((one) => one !== undefined);
    return new Map(found.map((reservation) => [reservation.key, { ...reservation }]));
  }

  async reserve(reservations: readonly Reservation[]): Promise<ReadonlyMap<string, Reservation>> {
    for (const reservation of reservations)
      if (!this.has(reservation.key)) this.add(reservation.key, { ...reservation });
    return this.find(reservations.map(({ key }) => key));
  }
}

/** Keeps usage in this process. */
export class MemoryUsageStore implements UsageStore, Purgeable {
  readonly retentionMs = USAGE_MS;
  private readonly counts = new Map<string, UsageCount>();

  async save(counts: readonly UsageCount[]): Promise<void> {
    for (const count of counts)
      this.counts.set(`${count.keyId} ${count.hour} ${count.counter}`, structuredClone(count));
  }

  async find(keyIds: readonly Id[], since: Instant): Promise<readonly UsageCount[]> {
    const keys = new Set(keyIds);
    const all = [...this.counts.values()].filter(({ keyId, hour }) => keys.has(keyId) && hour >= since);
    return structuredClone(all);
  }

  async purgeBefore(moment: Instant, limit: number): Promise<number> {
    const past = [...this.counts].filter(([, { hour }]) => hour < moment).slice(0, limit);
    for (const [name] of past) this.counts.delete(name);
    return past.length;
  }
}
