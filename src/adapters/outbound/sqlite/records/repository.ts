import type { QueryBudget } from '../../../../application/maintenance/query-budget.js';
import { TOMBSTONE_MS } from '../../../../application/maintenance/retention.js';
import type { Filter, ListPage, ListQuery, RecordTable } from '../../../../application/ports/list-query.js';
import type { Purgeable } from '../../../../application/ports/purgeable.js';
import type { InsertOutcome, Repository } from '../../../../application/ports/repository.js';
import { fieldsJson } from '../../../../application/records/record-json.js';
import { AppError, duplicateValue } from '../../../../domain/errors.js';
import { uniqueFields } from '../../../../domain/fields.js';
import type { Id, Instant, Versioned } from '../../../../domain/record.js';
import type { Turn } from '../../../../shared/turn.js';
import type { SqliteDatabase, Statements } from '../connection/database.js';
import { isConstraint } from '../connection/errors.js';
import { MAX_ROWS } from '../connection/group-commit.js';
import { WordIndex, writeCost } from '../full-text/index.js';
import { ListReader } from '../lists/reader.js';
import { columnOf, RECORD_COLUMNS, type RecordRow, recordOf, rowOf, uniqueColumnOf } from '../sql/schema.js';

export class SqliteRepository<Fields extends object> implements Repository<Fields> {
  private readonly sql: ReturnType<typeof statements>;
  private readonly reader: ListReader<Fields>;
  private readonly words: WordIndex;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
    budget: QueryBudget,
  ) {
    this.reader = new ListReader(database, table, budget);
    this.sql = statements(table.name);
    this.words = new WordIndex(database, table);
  }

  reserveIds(count: number): Promise<Id> {
    const { name, firstId } = this.table;
    return this.database.write((statement) => {
      statement('INSERT INTO counters VALUES (?, ?) ON CONFLICT DO NOTHING').run(name, firstId);
      const [row] = statement(
        'UPDATE counters SET next_id = next_id + ? WHERE name = ? RETURNING next_id',
      ).all(count, name) as [number][];
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
    const [row, words] = this.entryOf(record);
    return this.database.write((statement) => this.isInserted(statement, row, words), writeCost(words));
  }

  /** Records of many words are written one by one, each in a turn of its own. */
  async insertAll(records: readonly Versioned<Fields>[]): Promise<readonly InsertOutcome[]> {
    const outcomes: InsertOutcome[] = [];
    let entries: (readonly [RecordRow, words: string | undefined])[] = [];
    let rows = 0;
    const write = async () => {
      const written = entries;
      const insert = (statement: Statements) =>
        written.map(([row, words]) => this.outcome(statement, row, words));
      outcomes.push(...(await this.database.write(insert, rows)));
      entries = [];
      rows = 0;
    };
    for (const record of records) {
      const entry = this.entryOf(record);
      const more = Math.max(writeCost(entry[1]), this.words.writeCost(record.fields));
      if (entries.length > 0 && rows + more > MAX_ROWS) await write();
      entries.push(entry);
      rows += more;
    }
    if (entries.length > 0) await write();
    return outcomes;
  }

  private entryOf(record: Versioned<Fields>): readonly [RecordRow, words: string | undefined] {
    return [rowOf(record), this.words.entryOf(record.id, record.fields)];
  }

  private outcome(statement: Statements, row: RecordRow, words: string | undefined): InsertOutcome {
    try {
      return this.isInserted(statement, row, words) ? 'inserted' : 'id_conflict';
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  }

  /** @throws AppError `duplicate_value` */
  private isInserted(statement: Statements, row: RecordRow, words: string | undefined): boolean {
    if (statement(TOMBSTONE).get([this.table.name, row[0]])) return false;
    if (this.changes(() => statement(this.sql.insert).run(row)) === 0) return false;
    this.words.put(statement, row[0], words);
    return true;
  }

  async findExistingIds(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    const rows = this.database.read(
      this.sql.findExistingIds,
      (statement) => statement.all(JSON.stringify(ids)) as [Id][],
    );
    return new Set(rows.map(([id]) => id));
  }

  async findUsedIds(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    const wanted = JSON.stringify(ids);
    const rows = this.database.read(
      this.sql.findUsedIds,
      (statement) => statement.all(wanted, this.table.name, wanted) as [Id][],
    );
    return new Set(rows.map(([id]) => id));
  }

  async find(id: Id): Promise<Versioned<Fields> | undefined> {
    return this.selectOne(this.sql.find, id);
  }

  async confirm(id: Id, version: number): Promise<boolean> {
    return (await this.find(id))?.version === version;
  }

  async findByUnique(field: keyof Fields & string, value: string): Promise<Versioned<Fields> | undefined> {
    return this.selectOne(this.sql.findBy(field), value);
  }

  list(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    return this.reader.page(query);
  }

  count(filters: readonly Filter[], turn?: Turn): Promise<number> {
    return this.reader.count(filters, turn);
  }

  replace(record: Versioned<Fields>, expected: number): Promise<boolean> {
    const { id, version, updatedAt } = record;
    const fields = fieldsJson(record);
    return this.database.write((statement) => {
      const before = this.words.isSearched
        ? (statement(this.sql.fieldsOf).get([id, expected]) as [string] | undefined)
        : undefined;
      const replaced = this.changes(() =>
        statement(this.sql.replace).run(version, updatedAt, fields, id, expected),
      );
      if (replaced === 0) return false;
      if (before && this.words.hasChanged(JSON.parse(before[0]), record.fields))
        this.words.put(statement, id, this.words.entryOf(id, record.fields));
      return true;
    }, this.words.writeCost(record.fields));
  }

  remove(id: Id, expected: number, at: Instant): Promise<boolean> {
    return this.database.write((statement) => {
      if (statement(this.sql.remove).run(id, expected).changes === 0) return false;
      statement('INSERT INTO tombstones VALUES (?, ?, ?)').run(this.table.name, id, at);
      this.words.remove(statement, id);
      return true;
    });
  }

  private selectOne(sql: string, key: string | number): Versioned<Fields> | undefined {
    const row = this.database.read(sql, (statement) => statement.get([key]) as RecordRow | undefined);
    return row && recordOf(row);
  }

  /**
   * @returns how many rows the statement changed
   * @throws AppError `duplicate_value`
   */
  private changes(write: () => { changes: number }): number {
    try {
      return write().changes;
    } catch (error) {
      if (!isConstraint(error)) throw error;
      const { name, fields } = this.table;
      const field = uniqueFields(fields).find((field) =>
        // SQLite's message: UNIQUE constraint failed: products.sku
        error.message.endsWith(`${name}.${uniqueColumnOf(this.table, field).replaceAll('"', '')}`),
      );
      throw field ? duplicateValue(field) : error;
    }
  }
}

const TOMBSTONE = 'SELECT 1 FROM tombstones WHERE resource = ? AND id = ?';

function statements(table: string) {
  return {
    insert: `INSERT INTO ${table} (${RECORD_COLUMNS}) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    findUsedIds: `SELECT id FROM ${table} WHERE id IN (SELECT value FROM json_each(?))
      UNION ALL SELECT id FROM tombstones WHERE resource = ? AND id IN (SELECT value FROM json_each(?))`,
    findExistingIds: `SELECT id FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`,
    find: `SELECT ${RECORD_COLUMNS} FROM ${table} WHERE id = ?`,
    findBy: (field: string) => `SELECT ${RECORD_COLUMNS} FROM ${table} WHERE ${columnOf(field)} = ?`,
    replace: `UPDATE ${table} SET version = ?, updated_at = ?, fields = ? WHERE id = ? AND version = ?`,
    fieldsOf: `SELECT fields FROM ${table} WHERE id = ? AND version = ?`,
    remove: `DELETE FROM ${table} WHERE id = ? AND version = ?`,
  };
}

const PURGE_TOMBSTONES = `DELETE FROM tombstones WHERE (resource, id) IN (
  SELECT resource, id FROM tombstones WHERE resource = ? AND deleted_at < ? ORDER BY deleted_at LIMIT ?)`;

/** The ids of a resource's deleted records. */
export class SqliteTombstones implements Purgeable {
  readonly retentionMs = TOMBSTONE_MS;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
  ) {}

  purgeBefore(moment: Instant, limit: number): Promise<number> {
    return this.database.write(
      (statement) => statement(PURGE_TOMBSTONES).run(this.table.name, moment, limit).changes,
    );
  }
}
