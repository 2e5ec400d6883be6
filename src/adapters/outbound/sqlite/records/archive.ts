import type {
  RecordArchive,
  RecordEntry,
  ReservationArchive,
} from '../../../../application/ports/archive.js';
import type { Reservation } from '../../../../application/ports/idempotency-store.js';
import type { RecordTable } from '../../../../application/ports/list-query.js';
import { type Id, type Instant, MAX_ID } from '../../../../domain/record.js';
import type { SqliteDatabase } from '../connection/database.js';
import { WordIndex } from '../full-text/index.js';
import { RECORD_COLUMNS } from '../sql/schema.js';
import {
  INSERT_RESERVATION,
  RESERVATION_COLUMNS,
  type ReservationRow,
  reservationOf,
  reservationRowOf,
} from './idempotency-store.js';
import { RowWriter } from './row-writer.js';
import { ValueIndex } from './value-index.js';

/**
 * A record or a tombstone. A tombstone has no version, and `at` is the time of deletion instead of that of creation.
 */
type EntryRow = [id: Id, version: number | null, at: number, updatedAt: number | null, fields: string | null];

/** The records, tombstones and counter of one table, for copies between stores. */
export class SqliteArchive implements RecordArchive {
  readonly name: string;
  private readonly rows: RowWriter;
  private readonly words: WordIndex;
  private readonly values: ValueIndex;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
  ) {
    this.name = table.name;
    this.words = new WordIndex(database, table);
    this.rows = new RowWriter(table);
    this.values = new ValueIndex(table);
  }

  async read(after: Id, limit: number): Promise<readonly RecordEntry[]> {
    const sql = `
      SELECT ${RECORD_COLUMNS} FROM ${this.name} WHERE id > ?
      UNION ALL SELECT id, NULL, removed_at, NULL, NULL FROM tombstones WHERE resource = ? AND id > ?
      ORDER BY id LIMIT ?`;
    return this.database.read(sql, (statement) =>
      (statement.all(after, this.name, after, limit) as EntryRow[]).map(entryOf),
    );
  }

  async outlier(): Promise<string | undefined> {
    // One search by the key for each side of each table.
    const parts = ['id < 1', `id > ${MAX_ID}`].flatMap((isOutside) => [
      `SELECT CAST(id AS TEXT) FROM ${this.name} WHERE ${isOutside}`,
      `SELECT CAST(id AS TEXT) FROM tombstones WHERE resource = ?1 AND ${isOutside}`,
    ]);
    return this.database.read(
      `${parts.join(' UNION ALL ')} LIMIT 1`,
      (statement) => statement.get([this.name]) as [string] | undefined,
    )?.[0];
  }

  async count(since: Instant): Promise<number> {
    const sql = `SELECT (SELECT count(*) FROM ${this.name})
      + (SELECT count(*) FROM tombstones WHERE resource = ? AND removed_at >= ?)`;
    return this.database.read(sql, (statement) => (statement.get(this.name, since) as [number])[0]);
  }

  async add(entries: readonly RecordEntry[]): Promise<void> {
    await this.database.write((statement) => {
      const tombstone = statement('INSERT INTO tombstones (resource, id, removed_at) VALUES (?, ?, ?)');
      for (const entry of entries) {
        if ('deletedAt' in entry) tombstone.run(this.name, entry.id, entry.deletedAt);
        else {
          const { id, fields } = entry;
          if (this.rows.insert(statement, entry, null).changes === 0)
            throw new Error(`${this.name} has the record ${id} already.`);
          this.words.put(statement, id, this.words.entryOf(id, fields as object));
          this.values.change(statement, id, undefined, fields as object);
        }
      }
    }, entries.length);
  }

  async discard(ids: readonly Id[]): Promise<void> {
    await this.database.write((statement) => {
      for (const id of ids) {
        this.values.change(statement, id, this.values.read(statement, id));
        statement(`DELETE FROM ${this.name} WHERE id = ?`).run(id);
        this.words.remove(statement, id);
        statement('DELETE FROM tombstones WHERE resource = ? AND id = ?').run(this.name, id);
      }
    }, ids.length);
  }

  async nextId(): Promise<Id> {
    const sql = 'SELECT next_id FROM counters WHERE name = ?';
    const row = this.database.read(sql, (statement) => statement.get(this.name) as [Id] | undefined);
    return row?.[0] ?? this.table.firstId;
  }

  async raiseNextId(next: Id): Promise<void> {
    const sql = `INSERT INTO counters VALUES (?, ?)
      ON CONFLICT DO UPDATE SET next_id = excluded.next_id WHERE excluded.next_id > next_id`;
    await this.database.write((statement) => statement(sql).run(this.name, next));
  }

  /** Differs after any commit of another connection. */
  async changeMark(): Promise<string> {
    const row = this.database.read('PRAGMA data_version', (statement) => statement.get() as [number]);
    return String(row[0]);
  }
}

function entryOf([id, version, at, updatedAt, fields]: EntryRow): RecordEntry {
  if (version === null || updatedAt === null || fields === null) return { id, deletedAt: at };
  return { id, version, createdAt: at, updatedAt, fields: JSON.parse(fields) as unknown };
}

const READ = `SELECT ${RESERVATION_COLUMNS} FROM reservations WHERE resource = ? AND key > ? ORDER BY key LIMIT ?`;
const EMPTY_KEY = "SELECT key FROM reservations WHERE resource = ? AND key = '' LIMIT 1";
const COUNT = 'SELECT count(*) FROM reservations WHERE resource = ? AND reserved_at >= ?';
const DISCARD = 'DELETE FROM reservations WHERE resource = ? AND key = ?';

/** The reservations of one table, for copies between stores. */
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
      (statement) => statement.all(this.name, after, limit) as ReservationRow[],
    );
    return rows.map(reservationOf);
  }

  async outlier(): Promise<string | undefined> {
    return this.database.read(
      EMPTY_KEY,
      (statement) => statement.get(this.name) as [string] | undefined,
    )?.[0];
  }

  async count(since: Instant): Promise<number> {
    return this.database.read(COUNT, (statement) => (statement.get(this.name, since) as [number])[0]);
  }

  async add(reservations: readonly Reservation[]): Promise<void> {
    await this.database.write((statement) => {
      for (const one of reservations) statement(INSERT_RESERVATION).run(this.name, ...reservationRowOf(one));
    }, reservations.length);
  }

  async discard(keys: readonly string[]): Promise<void> {
    await this.database.write((statement) => {
      for (const key of keys) statement(DISCARD).run(this.name, key);
    }, keys.length);
  }
}
