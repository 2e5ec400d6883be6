import { RESERVATION_MS } from '../../../application/maintenance/retention.js';
import type { IdempotencyStore, Reservation } from '../../../application/ports/idempotency-store.js';
import type { Purgeable } from '../../../application/ports/purgeable.js';
import type { Instant } from '../../../domain/record.js';
import { ExpiringMap } from './expiring-map.js';

/** Keeps reservations in this process. */
export class MemoryIdempotencyStore implements IdempotencyStore, Purgeable {
  readonly retentionMs = RESERVATION_MS;
  private readonly reservations = new ExpiringMap<string, Reservation>(
    RESERVATION_MS,
    ({ reservedAt }) => reservedAt,
  );

  async find(keys: readonly string[]): Promise<ReadonlyMap<string, Reservation>> {
    return this.existing(keys);
  }

  async reserve(reservations: readonly Reservation[]): Promise<ReadonlyMap<string, Reservation>> {
    for (const reservation of reservations) {
      if (!this.reservations.has(reservation.key)) this.reservations.add(reservation.key, { ...reservation });
    }
    return this.existing(reservations.map(({ key }) => key));
  }

  purgeBefore(moment: Instant, limit: number): Promise<number> {
    return this.reservations.purgeBefore(moment, limit);
  }

  private existing(keys: readonly string[]): Map<string, Reservation> {
    const found = keys.map((key) => this.reservations.get(key)).filter((one) => one !== undefined);
    return new Map(found.map((reservation) => [reservation.key, { ...reservation }]));
  }
}
