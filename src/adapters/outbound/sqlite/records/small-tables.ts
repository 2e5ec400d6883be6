import { RESERVATION_MS, USAGE_MS } from '../../../../application/maintenance/retention.js';
import type { EntryCounts, ReservationArchive } from '../../../../application/ports/archive.js';
import type { IdempotencyStore, Reservation } from '../../../../application/ports/idempotency-store.js';
import type { RecordTable } from '../../../../application/ports/list-query.js';
import type { Purgeable } from '../../../../application/ports/table-store.js';
import type { RouteUsage, UsageCount, UsageStore } from '../../../../application/ports/usage-store.js';
import type { Id, Instant } from '../../../../domain/record.js';
import type { SqliteDatabase } from '../connection/database.js';

/** The values of {@link COLUMNS}. */
type Row = [key: string, fingerprint: string, id: Id, reservedAt: Instant, fields: string | null];

const COLUMNS = 'key, fingerprint, id, reserved_at, fields';
const INSERT = `INSERT INTO reservations (resource, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`;
const FIND = `SELECT ${COLUMNS} FROM reservations
  WHERE resource = ? AND key IN (SELECT value FROM json_each(?))`;
const READ = `SELECT ${COLUMNS} FROM reservations WHERE resource = ? AND key > ? ORDER BY key LIMIT ?`;
const COUNT = 'SELECT count(*) FROM reservations WHERE resource = ? AND reserved_at >= ?';
const DISCARD = 'DELETE FROM reservations WHERE resource = ? AND key = ?';
const PURGE = `DELETE FROM reservations WHERE (resource, key) IN (
  SELECT resource, key FROM reservations WHERE resource = ? AND reserved_at < ? ORDER BY reserved_at LIMIT ?)`;

/** The reservations of one table, for its creations and for copies between stores. */
export class SqliteReservations implements IdempotencyStore, Purgeable, ReservationArchive {
  readonly retentionMs = RESERVATION_MS;
  readonly name: string;

  constructor(
    private readonly database: SqliteDatabase,
    { name }: Pick<RecordTable, 'name'>,
  ) {
    this.name = name;
  }

  async find(keys: readonly string[]): Promise<ReadonlyMap<string, Reservation>> {
    return byKey(this.database.all<Row>(FIND, this.name, JSON.stringify(keys)));
  }

  reserve(reservations: readonly Reservation[]): Promise<ReadonlyMap<string, Reservation>> {
    const rows = reservations.map(rowOf);
    const keys = JSON.stringify(rows.map(([key]) => key));
    return this.database.write((statement) => {
      for (const row of rows) statement(`${INSERT} ON CONFLICT DO NOTHING`).run(this.name, ...row);
      return byKey(statement(FIND).all(this.name, keys) as Row[]);
    }, rows.length);
  }

  async add(reservations: readonly Reservation[]): Promise<void> {
    await this.database.write((statement) => {
      for (const one of reservations) statement(INSERT).run(this.name, ...rowOf(one));
    }, reservations.length);
  }

  async discard(keys: readonly string[]): Promise<void> {
    await this.database.write((statement) => {
      for (const key of keys) statement(DISCARD).run(this.name, key);
    }, keys.length);
  }

  purgeBefore(moment: Instant, limit: number): Promise<number> {
    return this.database.write((statement) => statement(PURGE).run(this.name, moment, limit).changes, limit);
  }

  async read(after: string, limit: number): Promise<readonly Reservation[]> {
    return this.database.all<Row>(READ, this.name, after, limit).map(reservationOf);
  }

  async counts(since: Instant): Promise<EntryCounts> {
    return { reservation: this.database.get<[number]>(COUNT, this.name, since)?.[0] ?? 0 };
  }
}

function rowOf({ key, fingerprint, id, reservedAt, fields }: Reservation): Row {
  return [key, fingerprint, id, reservedAt, fields ?? null];
}

function reservationOf([key, fingerprint, id, reservedAt, fields]: Row): Reservation {
  return { key, fingerprint, id, reservedAt, ...(fields !== null && { fields }) };
}

function byKey(rows: readonly Row[]): Map<string, Reservation> {
  return new Map(rows.map((row) => [row[0], reservationOf(row)]));
}

const SAVE_USAGE = `INSERT INTO api_key_usage VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET routes = excluded.routes`;
const FIND_USAGE = `SELECT key_id, hour, counter, routes FROM api_key_usage
  WHERE key_id IN (SELECT value FROM json_each(?)) AND hour >= ?`;
const PURGE_USAGE = `DELETE FROM api_key_usage WHERE rowid IN (
  SELECT rowid FROM api_key_usage WHERE hour < ? ORDER BY hour LIMIT ?)`;

/** The columns of {@link FIND_USAGE}. */
type UsageRow = [keyId: Id, hour: Instant, counter: string, routes: string];

export class SqliteUsageStore implements UsageStore, Purgeable {
  readonly retentionMs = USAGE_MS;

  constructor(private readonly database: SqliteDatabase) {}

  async save(counts: readonly UsageCount[]): Promise<void> {
    const rows = counts.map(({ keyId, hour, counter, routes }): UsageRow => {
      return [keyId, hour, counter, JSON.stringify(routes)];
    });
    await this.database.write((statement) => {
      for (const row of rows) statement(SAVE_USAGE).run(row);
    }, rows.length);
  }

  async find(keyIds: readonly Id[], since: Instant): Promise<readonly UsageCount[]> {
    const rows = this.database.all<UsageRow>(FIND_USAGE, JSON.stringify(keyIds), since);
    return rows.map(([keyId, hour, counter, routes]) => {
      return { keyId, hour, counter, routes: JSON.parse(routes) as RouteUsage[] };
    });
  }

  purgeBefore(moment: Instant, limit: number): Promise<number> {
    return this.database.write((statement) => statement(PURGE_USAGE).run(moment, limit).changes);
  }
}
