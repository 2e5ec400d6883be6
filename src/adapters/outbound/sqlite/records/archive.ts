import { TOMBSTONE_MS } from '../../../../application/maintenance/retention.js';
import type { EntryCounts, RecordArchive, RecordEntry } from '../../../../application/ports/archive.js';
import type { RecordTable } from '../../../../application/ports/list-query.js';
import type { Purgeable } from '../../../../application/ports/table-store.js';
import type { Id, Instant } from '../../../../domain/record.js';
import { RECORD_COLUMNS } from '../../sql/keyset.js';
import type { SqliteDatabase } from '../connection/database.js';
import { RecordRows } from './record-rows.js';

/**
 * A record or a tombstone. A tombstone has no version, and `at` is the time of deletion instead of that of creation.
 */
type EntryRow = [id: Id, version: number | null, at: number, updatedAt: number | null, fields: string | null];

const EXPIRED = 'WHERE resource = ?1 AND removed_at < ?2 ORDER BY removed_at, id LIMIT ?3';
const RAISE_LOW_WATERMARK = `UPDATE feeds SET floor = max(floor, coalesce((
  SELECT max(change) FROM (SELECT change FROM tombstones ${EXPIRED})), 0)) WHERE resource = ?1`;
const PURGE_TOMBSTONES = `DELETE FROM tombstones WHERE (resource, id) IN (
  SELECT resource, id FROM tombstones ${EXPIRED})`;

/** The records, tombstones and counter of one table, for copies between stores. It purges the tombstones. */
export class SqliteArchive implements RecordArchive, Purgeable {
  readonly retentionMs = TOMBSTONE_MS;
  readonly name: string;
  private readonly rows: RecordRows;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
  ) {
    this.name = table.name;
    this.rows = new RecordRows(table);
  }

  async read(after: Id, limit: number): Promise<readonly RecordEntry[]> {
    const sql = `
      SELECT ${RECORD_COLUMNS} FROM ${this.name} WHERE id > ?
      UNION ALL SELECT id, NULL, removed_at, NULL, NULL FROM tombstones WHERE resource = ? AND id > ?
      ORDER BY id LIMIT ?`;
    return this.database.all<EntryRow>(sql, after, this.name, after, limit).map(entryOf);
  }

  async counts(since: Instant): Promise<EntryCounts> {
    const sql = `SELECT (SELECT count(*) FROM ${this.name}),
      (SELECT count(*) FROM tombstones WHERE resource = ? AND removed_at >= ?)`;
    const [record = 0, tombstone = 0] = this.database.get<[number, number]>(sql, this.name, since) ?? [];
    return { record, tombstone };
  }

  async add(entries: readonly RecordEntry[]): Promise<void> {
    await this.database.write((statement) => {
      const tombstone = statement('INSERT INTO tombstones (resource, id, removed_at) VALUES (?, ?, ?)');
      for (const entry of entries) {
        if ('deletedAt' in entry) tombstone.run(this.name, entry.id, entry.deletedAt);
        else if (!this.rows.insert(statement, entry, null))
          throw new Error(`${this.name} has the record ${entry.id} already.`);
      }
    }, entries.length);
  }

  async discard(ids: readonly Id[]): Promise<void> {
    await this.database.write((statement) => {
      for (const id of ids) {
        this.rows.remove(statement, id);
        statement('DELETE FROM tombstones WHERE resource = ? AND id = ?').run(this.name, id);
      }
    }, ids.length);
  }

  /** A position before a purged tombstone expires in the same transaction. */
  purgeBefore(moment: Instant, limit: number): Promise<number> {
    return this.database.write((statement) => {
      const expired = [this.name, moment, limit];
      statement(RAISE_LOW_WATERMARK).run(expired);
      return statement(PURGE_TOMBSTONES).run(expired).changes;
    });
  }

  async nextId(): Promise<Id> {
    const sql = 'SELECT next_id FROM counters WHERE name = ?';
    return this.database.get<[Id]>(sql, this.name)?.[0] ?? this.table.firstId;
  }

  async raiseNextId(next: Id): Promise<void> {
    const sql = `INSERT INTO counters VALUES (?, ?)
      ON CONFLICT DO UPDATE SET next_id = excluded.next_id WHERE excluded.next_id > next_id`;
    await this.database.write((statement) => statement(sql).run(this.name, next));
  }

  /** Differs after any commit of another connection. */
  async changeMark(): Promise<string> {
    return String(this.database.get<[number]>('PRAGMA data_version')?.[0]);
  }
}

function entryOf([id, version, at, updatedAt, fields]: EntryRow): RecordEntry {
  if (version === null || updatedAt === null || fields === null) return { id, deletedAt: at };
  return { id, version, createdAt: at, updatedAt, fields: JSON.parse(fields) as unknown };
}
