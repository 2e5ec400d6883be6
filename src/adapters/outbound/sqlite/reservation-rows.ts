import type { Reservation } from '../../../application/ports/idempotency-store.js';
import type { Id, Instant } from '../../../domain/record.js';

/** As in {@link RESERVATION_COLUMNS}. */
export type ReservationRow = [
  key: string,
  fingerprint: string,
  id: Id,
  reservedAt: Instant,
  fields: string | null,
];

export const RESERVATION_COLUMNS = 'key, fingerprint, id, reserved_at, fields';

export const INSERT_RESERVATION = `INSERT INTO reservations (resource, ${RESERVATION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`;

export function rowOf({ key, fingerprint, id, reservedAt, fields }: Reservation): ReservationRow {
  return [key, fingerprint, id, reservedAt, fields ?? null];
}

export function reservationOf([key, fingerprint, id, reservedAt, fields]: ReservationRow): Reservation {
  return { key, fingerprint, id, reservedAt, ...(fields !== null && { fields }) };
}
