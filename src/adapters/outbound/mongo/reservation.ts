import type { RecordTable } from '../../../application/list-query.js';
import type { Reservation } from '../../../application/ports/idempotency-store.js';
import type { Id } from '../../../domain/record.js';

export interface ReservationDocument {
  /** The key. */
  readonly _id: string;
  readonly fingerprint: string;
  readonly id: Id;
  readonly reservedAt: Date;
  readonly fields?: string;
}

/** The name of the collection, which lies beside that of the records. */
export function reservationCollection({ name }: Pick<RecordTable, 'name'>): string {
  return `${name}_reservations`;
}

export function documentOf({ key, reservedAt, ...rest }: Reservation): ReservationDocument {
  return { _id: key, reservedAt: new Date(reservedAt), ...rest };
}

export function reservationOf({ _id, reservedAt, ...rest }: ReservationDocument): Reservation {
  return { key: _id, reservedAt: reservedAt.getTime(), ...rest };
}
