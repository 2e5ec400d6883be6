import type { IdempotencyStore, Reservation } from '../../../application/ports/idempotency-store.js';
import type { RecordTable } from '../../../application/ports/list-query.js';
import { unavailable } from '../../../domain/errors.js';
import type { Id, Instant } from '../../../domain/record.js';
import { compareText } from '../../../domain/text.js';
import { type PostgresqlStore, prepared } from './store.js';

/** The values of {@link RESERVATION_COLUMNS}. */
export type ReservationRow = [
  key: string,
  fingerprint: string,
  id: Id,
  reservedAt: Instant,
  fields: string | null,
];

export const RESERVATION_COLUMNS = 'key, fingerprint, id, reserved_at, fields';

/** Values: the resource, then {@link reservationCells}. Returns the keys that were not in use. */
export const INSERT_RESERVATIONS = prepared(`INSERT INTO reservations (resource, ${RESERVATION_COLUMNS})
  SELECT $1, * FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[])
  ON CONFLICT DO NOTHING RETURNING key`);
const FIND = prepared(
  `SELECT ${RESERVATION_COLUMNS} FROM reservations WHERE resource = $1 AND key = ANY($2::text[])`,
);
/** The cells of each column. Sorted by key, so that two processes do not wait for each other. */
export function reservationCells(reservations: readonly Reservation[]): readonly unknown[] {
  const sorted = reservations.toSorted((a, b) => compareText(a.key, b.key));
  return [
    sorted.map(({ key }) => key),
    sorted.map(({ fingerprint }) => fingerprint),
    sorted.map(({ id }) => id),
    sorted.map(({ reservedAt }) => reservedAt),
    sorted.map(({ fields }) => fields ?? null),
  ];
}

export function reservationOf([key, fingerprint, id, reservedAt, fields]: ReservationRow): Reservation {
  return { key, fingerprint, id, reservedAt, ...(fields !== null && { fields }) };
}

/** A key can be in use at the insertion and expired at the read that follows, but hardly ever twice in a row. */
const MAX_TRIES = 3;

export class PostgresqlIdempotencyStore implements IdempotencyStore {
  constructor(
    private readonly store: PostgresqlStore,
    private readonly table: Pick<RecordTable, 'name'>,
  ) {}

  async find(keys: readonly string[]): Promise<ReadonlyMap<string, Reservation>> {
    if (keys.length === 0) return new Map();
    const rows = await this.store.run<ReservationRow>(FIND, [this.table.name, keys]);
    return byKey(rows.map(reservationOf));
  }

  async reserve(reservations: readonly Reservation[]): Promise<ReadonlyMap<string, Reservation>> {
    let left = reservations.map((reservation) => ({ ...reservation }));
    const known = new Map<string, Reservation>();
    for (let tries = 0; left.length > 0; tries++) {
      if (tries === MAX_TRIES) throw unavailable('The reservation of a key could not be read.');
      const values = [this.table.name, ...reservationCells(left)];
      const inserted = new Set((await this.store.run<[string]>(INSERT_RESERVATIONS, values)).flat());
      for (const reservation of left)
        if (inserted.has(reservation.key)) known.set(reservation.key, reservation);
      const refused = left.map(({ key }) => key).filter((key) => !inserted.has(key));
      for (const [key, reservation] of await this.find(refused)) known.set(key, reservation);
      left = left.filter(({ key }) => !known.has(key));
    }
    return known;
  }
}

function byKey(reservations: readonly Reservation[]): Map<string, Reservation> {
  return new Map(reservations.map((reservation) => [reservation.key, reservation]));
}
