import type { RecordTable } from '../../../application/list-query.js';
import type { Expiring } from '../../../application/ports/expiring.js';
import type { IdempotencyStore, Reservation } from '../../../application/ports/idempotency-store.js';
import { RESERVATION_MS } from '../../../application/retention.js';
import type { Id, Instant } from '../../../domain/record.js';
import type { SqliteDatabase, Statements } from './sqlite-database.js';

type Row = [key: string, fingerprint: string, id: Id, reservedAt: Instant, fields: string | null];

const FIND = `SELECT key, fingerprint, id, reserved_at, fields FROM reservations
  WHERE resource = ? AND key IN (SELECT value FROM json_each(?))`;
const RESERVE = 'INSERT INTO reservations VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
const REMOVE = `DELETE FROM reservations WHERE (resource, key) IN (
  SELECT resource, key FROM reservations WHERE resource = ? AND reserved_at < ? ORDER BY reserved_at LIMIT ?)`;

export class SqliteIdempotencyStore implements IdempotencyStore, Expiring {
  readonly keptMs = RESERVATION_MS;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
  ) {}

  async find(keys: readonly string[]): Promise<ReadonlyMap<string, Reservation>> {
    return this.database.read(FIND, (statement) =>
      reservationsIn(statement.raw().all(...this.wanted(keys)) as Row[]),
    );
  }

  reserve(reservations: readonly Reservation[]): Promise<ReadonlyMap<string, Reservation>> {
    const rows = reservations.map((one): Row => {
      return [one.key, one.fingerprint, one.id, one.reservedAt, one.fields ?? null];
    });
    const keys = reservations.map(({ key }) => key);
    return this.database.write((statement) => {
      for (const row of rows) statement(RESERVE).run(this.table.name, ...row);
      return reservationsIn(
        statement(FIND)
          .raw()
          .all(...this.wanted(keys)) as Row[],
      );
    });
  }

  removeBefore(moment: Instant, limit: number): Promise<number> {
    return this.database.write((statement: Statements) => {
      return statement(REMOVE).run(this.table.name, moment, limit).changes;
    });
  }

  private wanted(keys: readonly string[]): [string, string] {
    return [this.table.name, JSON.stringify(keys)];
  }
}

function reservationsIn(rows: readonly Row[]): Map<string, Reservation> {
  return new Map(
    rows.map(([key, fingerprint, id, reservedAt, fields]) => [
      key,
      { key, fingerprint, id, reservedAt, ...(fields !== null && { fields }) },
    ]),
  );
}
