import type { RecordTable } from '../../../application/list-query.js';
import type { ReservationArchive } from '../../../application/ports/archive.js';
import type { Reservation } from '../../../application/ports/idempotency-store.js';
import type { SqliteDatabase } from './database.js';
import {
  INSERT_RESERVATION,
  RESERVATION_COLUMNS,
  type ReservationRow,
  reservationOf,
  rowOf,
} from './reservation-rows.js';

const READ = `SELECT ${RESERVATION_COLUMNS} FROM reservations WHERE resource = ? AND key > ? ORDER BY key LIMIT ?`;
const DISCARD = 'DELETE FROM reservations WHERE resource = ? AND key = ?';

export class SqliteReservationArchive implements ReservationArchive {
  readonly name: string;

  constructor(
    private readonly database: SqliteDatabase,
    table: RecordTable,
  ) {
    this.name = table.name;
  }

  async read(after: string, limit: number): Promise<readonly Reservation[]> {
    const rows = this.database.read(
      READ,
      (statement) => statement.raw().all(this.name, after, limit) as ReservationRow[],
    );
    return rows.map(reservationOf);
  }

  async add(reservations: readonly Reservation[]): Promise<void> {
    await this.database.write((statement) => {
      for (const one of reservations) statement(INSERT_RESERVATION).run(this.name, ...rowOf(one));
    });
  }

  async discard(keys: readonly string[]): Promise<void> {
    await this.database.write((statement) => {
      for (const key of keys) statement(DISCARD).run(this.name, key);
    });
  }
}
