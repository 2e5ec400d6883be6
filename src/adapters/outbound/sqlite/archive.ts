import type { RecordTable } from '../../../application/list-query.js';
import type { RecordArchive, RecordEntry } from '../../../application/ports/archive.js';
import type { Id } from '../../../domain/record.js';
import type { SqliteDatabase } from './database.js';

/** As in the table; a tombstone has no version, and its time of deletion stands in the place of that of creation. */
type Row = [id: Id, version: number | null, at: number, updatedAt: number | null, fields: string | null];

export class SqliteArchive implements RecordArchive {
  readonly name: string;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
  ) {
    this.name = table.name;
  }

  async read(after: Id, limit: number): Promise<readonly RecordEntry[]> {
    const sql = `
      SELECT id, version, created_at, updated_at, fields FROM ${this.name} WHERE id > ?
      UNION ALL SELECT id, NULL, deleted_at, NULL, NULL FROM tombstones WHERE resource = ? AND id > ?
      ORDER BY id LIMIT ?`;
    const rows = this.database.read(
      sql,
      (statement) => statement.raw().all(after, this.name, after, limit) as Row[],
    );
    return rows.map(entryOf);
  }

  async add(entries: readonly RecordEntry[]): Promise<void> {
    await this.database.write((statement) => {
      const record = statement(`INSERT INTO ${this.name} VALUES (?, ?, ?, ?, ?)`);
      const tombstone = statement('INSERT INTO tombstones VALUES (?, ?, ?)');
      for (const entry of entries) {
        if ('deletedAt' in entry) tombstone.run(this.name, entry.id, entry.deletedAt);
        else
          record.run(entry.id, entry.version, entry.createdAt, entry.updatedAt, JSON.stringify(entry.fields));
      }
    });
  }

  async discard(ids: readonly Id[]): Promise<void> {
    await this.database.write((statement) => {
      for (const id of ids) {
        statement(`DELETE FROM ${this.name} WHERE id = ?`).run(id);
        statement('DELETE FROM tombstones WHERE resource = ? AND id = ?').run(this.name, id);
      }
    });
  }

  async nextId(): Promise<Id> {
    const sql = 'SELECT next_id FROM counters WHERE name = ?';
    const row = this.database.read(sql, (statement) => statement.raw().get(this.name) as [Id] | undefined);
    return row?.[0] ?? this.table.firstId;
  }

  async raiseNextId(next: Id): Promise<void> {
    const sql = `INSERT INTO counters VALUES (?, ?)
      ON CONFLICT DO UPDATE SET next_id = excluded.next_id WHERE excluded.next_id > next_id`;
    await this.database.write((statement) => statement(sql).run(this.name, next));
  }
}

function entryOf([id, version, at, updatedAt, fields]: Row): RecordEntry {
  if (version === null || updatedAt === null || fields === null) return { id, deletedAt: at };
  return { id, version, createdAt: at, updatedAt, fields: JSON.parse(fields) as unknown };
}
