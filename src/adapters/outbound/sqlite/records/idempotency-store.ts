import { RESERVATION_MS } from '../../../../application/maintenance/retention.js';
import type { IdempotencyStore, Reservation } from '../../../../application/ports/idempotency-store.js';
import type { RecordTable } from '../../../../application/ports/list-query.js';
import type { Purgeable } from '../../../../application/ports/purgeable.js';
import type { Id, Instant } from '../../../../domain/record.js';
import type { Statement } from '../connection/connection.js';
import type { SqliteDatabase } from '../connection/database.js';

/** The values of {@link RESERVATION_COLUMNS}. */
export type ReservationRow = [
  key: string,
  fingerprint: string,
  id: Id,
  reservedAt: Instant,
  fields: string | null,
];

export const RESERVATION_COLUMNS = 'key, fingerprint, id, reserved_at, fields';

export const INSERT_RESERVATION = `INSERT INTO reservations (resource, ${RESERVATION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`;

export function reservationRowOf({ key, fingerprint, id, reservedAt, fields }: Reservation): ReservationRow {
  return [key, fingerprint, id, reservedAt, fields ?? null];
}

export function reservationOf([key, fingerprint, id, reservedAt, fields]: ReservationRow): Reservation {
  return { key, fingerprint, id, reservedAt, ...(fields !== null && { fields }) };
}

const FIND = `SELECT ${RESERVATION_COLUMNS} FROM reservations
  WHERE resource = ? AND key IN (SELECT value FROM json_each(?))`;
const RESERVE = `${INSERT_RESERVATION} ON CONFLICT DO NOTHING`;
const PURGE = `DELETE FROM reservations WHERE (resource, key) IN (
  SELECT resource, key FROM reservations WHERE resource = ? AND reserved_at < ? ORDER BY reserved_at LIMIT ?)`;

export class SqliteIdempotencyStore implements IdempotencyStore, Purgeable {
  readonly retentionMs = RESERVATION_MS;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
  ) {}

  async find(keys: readonly string[]): Promise<ReadonlyMap<string, Reservation>> {
    return this.database.read(FIND, (statement) => this.existing(statement, keys));
  }

  reserve(reservations: readonly Reservation[]): Promise<ReadonlyMap<string, Reservation>> {
    const rows = reservations.map(reservationRowOf);
    const keys = rows.map(([key]) => key);
    return this.database.write((statement) => {
      for (const row of rows) statement(RESERVE).run(this.table.name, ...row);
      return this.existing(statement(FIND), keys);
    }, rows.length);
  }

  purgeBefore(moment: Instant, limit: number): Promise<number> {
    return this.database.write(
      (statement) => statement(PURGE).run(this.table.name, moment, limit).changes,
      limit,
    );
  }

  private existing(find: Statement, keys: readonly string[]): Map<string, Reservation> {
    const rows = find.all(this.table.name, JSON.stringify(keys)) as ReservationRow[];
    return new Map(rows.map(reservationOf).map((reservation) => [reservation.key, reservation]));
  }
}
