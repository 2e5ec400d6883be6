import { type ListPage, type ListQuery, MAX_PAGE_BYTES } from '../../../application/list-query.js';
import type { Repository } from '../../../application/ports/repository.js';
import { duplicateValue } from '../../../domain/errors.js';
import type { Id, Instant, Versioned } from '../../../domain/record.js';
import type { SqliteDatabase } from './sqlite-database.js';
import { isConstraint } from './sqlite-errors.js';

export interface SqliteTable<Fields> {
  /** Also the name of the counter that its ids come from. */
  readonly name: string;
  /** The fields whose value no two records share; each has a unique index `NAME_FIELD`. */
  readonly unique: readonly (keyof Fields & string)[];
  /** The first id that may be reserved. */
  readonly firstId: Id;
}

/** `id`, `version`, `created_at`, `updated_at`, `fields` */
type Row = [Id, number, Instant, Instant, string];

const CHUNK = 100;

const COLUMNS = 'id, version, created_at, updated_at, fields';

export class SqliteRepository<Fields> implements Repository<Fields> {
  private readonly sql: ReturnType<typeof statements>;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: SqliteTable<Fields>,
  ) {
    this.sql = statements(table.name);
  }

  reserveIds(count: number): Promise<Id> {
    const { name, firstId } = this.table;
    return this.database.write((statement) => {
      statement('INSERT INTO counters VALUES (?, ?) ON CONFLICT DO NOTHING').run(name, firstId);
      const [row] = statement('UPDATE counters SET next_id = next_id + ? WHERE name = ? RETURNING next_id')
        .raw()
        .all(count, name) as [number][];
      if (!row) throw new Error(`There is no counter ${name}.`);
      return row[0] - count;
    });
  }

  async releaseIds(first: Id, end: Id): Promise<void> {
    await this.database.write((statement) =>
      statement('UPDATE counters SET next_id = ? WHERE name = ? AND next_id = ?').run(
        first,
        this.table.name,
        end,
      ),
    );
  }

  insert(record: Versioned<Fields>): Promise<boolean> {
    const { id, version, createdAt, updatedAt } = record;
    const fields = JSON.stringify(record.fields);
    return this.database.write((statement) => {
      if (statement(this.sql.isTaken).all(id, this.table.name, id).length > 0) return false;
      return (
        this.heedingUnique(() =>
          statement(this.sql.insert).run(id, version, createdAt, updatedAt, fields),
        ) === 1
      );
    });
  }

  async find(id: Id): Promise<Versioned<Fields> | undefined> {
    return this.selectOne(this.sql.find, id);
  }

  async findByUnique(field: keyof Fields & string, value: string): Promise<Versioned<Fields> | undefined> {
    return this.selectOne(this.sql.findBy(field), value);
  }

  async list({ limit, from }: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    const backwards = from?.side === 'before';
    const sql = backwards ? this.sql.listBefore : this.sql.listAfter;
    const { records, hasMore } = this.page(sql, from?.id ?? 0, limit);
    return { records: backwards ? records.reverse() : records, hasMore };
  }

  replace(record: Versioned<Fields>, expected: number): Promise<boolean> {
    const { id, version, updatedAt } = record;
    const fields = JSON.stringify(record.fields);
    return this.database.write(
      (statement) =>
        this.heedingUnique(() =>
          statement(this.sql.replace).run(version, updatedAt, fields, id, expected),
        ) === 1,
    );
  }

  remove(id: Id, expected: number, at: Instant): Promise<boolean> {
    return this.database.write((statement) => {
      if (statement(this.sql.remove).run(id, expected).changes === 0) return false;
      statement('INSERT INTO tombstones VALUES (?, ?, ?)').run(this.table.name, id, at);
      return true;
    });
  }

  private selectOne(sql: string, key: string | number): Versioned<Fields> | undefined {
    const row = this.database.read(sql, (statement) => statement.raw().get(key) as Row | undefined);
    return row && recordOf(row);
  }

  /** Reads one record more than the page holds, to know whether there is one; in chunks, to stop at large ones. */
  private page(sql: string, from: Id, limit: number): { records: Versioned<Fields>[]; hasMore: boolean } {
    const records: Versioned<Fields>[] = [];
    let last = from;
    for (let bytes = 0; ; ) {
      const wanted = Math.min(CHUNK, limit + 1 - records.length);
      const rows = this.database.read(sql, (statement) => statement.raw().all(last, wanted) as Row[]);
      for (const row of rows) {
        if (records.length === limit || bytes >= MAX_PAGE_BYTES) return { records, hasMore: true };
        records.push(recordOf(row));
        bytes += row[4].length;
        last = row[0];
      }
      if (rows.length < wanted) return { records, hasMore: false };
    }
  }

  /** @returns how many rows the statement changed */
  private heedingUnique(write: () => { changes: number }): number {
    try {
      return write().changes;
    } catch (error) {
      const { name, unique } = this.table;
      const field =
        isConstraint(error) && unique.find((field) => error.message.includes(`'${name}_${field}'`));
      throw field ? duplicateValue(field) : error;
    }
  }
}

function recordOf<Fields>([id, version, createdAt, updatedAt, fields]: Row): Versioned<Fields> {
  return { id, version, createdAt, updatedAt, fields: JSON.parse(fields) as Fields };
}

function statements(table: string) {
  return {
    isTaken: `SELECT 1 FROM ${table} WHERE id = ? UNION ALL SELECT 1 FROM tombstones WHERE resource = ? AND id = ?`,
    insert: `INSERT INTO ${table} (${COLUMNS}) VALUES (?, ?, ?, ?, ?)`,
    find: `SELECT ${COLUMNS} FROM ${table} WHERE id = ?`,
    findBy: (field: string) => `SELECT ${COLUMNS} FROM ${table} WHERE fields ->> '${field}' = ?`,
    listAfter: `SELECT ${COLUMNS} FROM ${table} WHERE id > ? ORDER BY id LIMIT ?`,
    listBefore: `SELECT ${COLUMNS} FROM ${table} WHERE id < ? ORDER BY id DESC LIMIT ?`,
    replace: `UPDATE ${table} SET version = ?, updated_at = ?, fields = ? WHERE id = ? AND version = ?`,
    remove: `DELETE FROM ${table} WHERE id = ? AND version = ?`,
  };
}
