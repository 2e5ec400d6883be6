import type { Reservation } from '#src/application/ports/idempotency-store.js';
import { AT } from './records.js';

export function reservation(key: string, more: Partial<Reservation> = {}): Reservation {
  return { key, fingerprint: `of ${key}`, id: 7, reservedAt: AT, ...more };
}

/** Reservations with the keys `k0001`, `k0002` and so on, each with its own id. */
export function reservations(count: number, more: Partial<Reservation> = {}): Reservation[] {
  return Array.from({ length: count }, (_, i) =>
    reservation(`k${String(i + 1).padStart(4, '0')}`, { id: i + 1, ...more }),
  );
}

export function keysOf(all: readonly Reservation[]): string[] {
  return all.map(({ key }) => key);
}

/** The reservations as a store returns them. */
export function byKey(all: readonly Reservation[]): Map<string, Reservation> {
  return new Map(all.map((one) => [one.key, one]));
}
