import {
  type Filter,
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
  type RecordTable,
} from '../../../application/list-query.js';
import type { InsertOutcome, Repository } from '../../../application/ports/repository.js';
import type { QueryBudget } from '../../../application/query-budget.js';
import { CatalogueError, duplicateValue } from '../../../domain/errors.js';
import { uniqueFields } from '../../../domain/fields.js';
import type { Id, Instant, Versioned } from '../../../domain/record.js';
import type { SqliteDatabase, Statements } from './sqlite-database.js';
import { isConstraint } from './sqlite-errors.js';

/** `id`, `version`, `created_at`, `updated_at`, `fields` */
type Row = [Id, number, Instant, Instant, string];

const CHUNK = 100;

const COLUMNS = 'id, version, created_at, updated_at, fields';

export class SqliteRepository<Fields> implements Repository<Fields> {
  private readonly sql: ReturnType<typeof statements>;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
    readonly budget: QueryBudget,
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

  async insert(record: Versioned<Fields>): Promise<boolean> {
    const [outcome] = await this.insertAll([record]);
    if (outcome instanceof CatalogueError) throw outcome;
    return outcome === 'inserted';
  }

  insertAll(records: readonly Versioned<Fields>[]): Promise<readonly InsertOutcome[]> {
    const rows = records.map(rowOf);
    return this.database.write((statement) => rows.map((row) => this.insertRow(statement, row)));
  }

  private insertRow(statement: Statements, row: Row): InsertOutcome {
    const [id] = row;
    if (statement(this.sql.isTaken).all(id, this.table.name, id).length > 0) return 'taken';
    try {
      this.heedingUnique(() => statement(this.sql.insert).run(...row));
      return 'inserted';
    } catch (error) {
      if (error instanceof CatalogueError) return error;
      throw error;
    }
  }

  async existing(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    const rows = this.database.read(
      this.sql.existing,
      (statement) => statement.raw().all(JSON.stringify(ids)) as [Id][],
    );
    return new Set(rows.map(([id]) => id));
  }

  async count(filters: readonly Filter[]): Promise<number> {
    throw new Error(`to be written ${filters}`);
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
    const { records, hasMore } = this.page(sql, Number(from?.values.at(-1) ?? 0), limit);
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
      const { name, fields } = this.table;
      const field =
        isConstraint(error) &&
        uniqueFields(fields).find((field) => error.message.includes(`'${name}_${field}'`));
      throw field ? duplicateValue(field) : error;
    }
  }
}

/** A copy, so that what becomes of the record later changes nothing that waits to be written. */
function rowOf({ id, version, createdAt, updatedAt, fields }: Versioned<unknown>): Row {
  return [id, version, createdAt, updatedAt, JSON.stringify(fields)];
}

function recordOf<Fields>([id, version, createdAt, updatedAt, fields]: Row): Versioned<Fields> {
  return { id, version, createdAt, updatedAt, fields: JSON.parse(fields) as Fields };
}

function statements(table: string) {
  return {
    isTaken: `SELECT 1 FROM ${table} WHERE id = ? UNION ALL SELECT 1 FROM tombstones WHERE resource = ? AND id = ?`,
    insert: `INSERT INTO ${table} (${COLUMNS}) VALUES (?, ?, ?, ?, ?)`,
    existing: `SELECT id FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`,
    find: `SELECT ${COLUMNS} FROM ${table} WHERE id = ?`,
    findBy: (field: string) => `SELECT ${COLUMNS} FROM ${table} WHERE fields ->> '${field}' = ?`,
    listAfter: `SELECT ${COLUMNS} FROM ${table} WHERE id > ? ORDER BY id LIMIT ?`,
    listBefore: `SELECT ${COLUMNS} FROM ${table} WHERE id < ? ORDER BY id DESC LIMIT ?`,
    replace: `UPDATE ${table} SET version = ?, updated_at = ?, fields = ? WHERE id = ? AND version = ?`,
    remove: `DELETE FROM ${table} WHERE id = ? AND version = ?`,
  };
}
