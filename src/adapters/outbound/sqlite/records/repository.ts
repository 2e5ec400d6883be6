import type {
  Facet,
  FacetQuery,
  Filter,
  ListPage,
  ListQuery,
  Value,
} from '../../../../application/ports/list-query.js';
import type { Logger } from '../../../../application/ports/logger.js';
import type {
  InsertOutcome,
  RecordVersion,
  Removal,
  Replacement,
  ReplaceOutcome,
  Repository,
} from '../../../../application/ports/repository.js';
import type { StoredTable } from '../../../../application/ports/table-store.js';
import type { QueryBudget } from '../../../../application/records/lists.js';
import { foldedValue, ownersOf } from '../../../../application/records/query-semantics.js';
import { AppError, duplicateValue } from '../../../../domain/errors.js';
import { uniqueFields } from '../../../../domain/fields.js';
import type { Id, Versioned } from '../../../../domain/record.js';
import { BACKGROUND, type Task } from '../../../../shared/task-scheduler.js';
import { RECORD_COLUMNS, type RecordRow, recordOf, uniqueColumnOf } from '../../sql/keyset.js';
import { MAX_ROWS } from '../connection/commits.js';
import { isConstraint } from '../connection/connection.js';
import type { SqliteDatabase, Statements } from '../connection/database.js';
import { COLUMN_TUNING } from '../lists/column-index.js';
import { ListReader } from '../lists/reader.js';
import { idsOf, RecordReader } from '../sql/records.js';
import { indexedBy, sql } from '../sql/schema.js';
import { changeNumbers, type NextChange } from './change-feed.js';
import { RecordRows } from './record-rows.js';

/** What writes one record of several. */
interface RecordWrite<Outcome> {
  /** Approximately the number of rows that it writes. */
  readonly rows: number;
  /**
   * An AppError that it throws before its first write is its outcome.
   * @param nextChange returns the number of the change; null if none is kept
   */
  run(statement: Statements, nextChange: NextChange): Outcome;
}

export class SqliteRepository<Fields extends object> implements Repository<Fields> {
  private readonly lists: ListReader<Fields>;
  private readonly records: RecordReader<Fields>;
  private readonly rows: RecordRows;
  private readonly numberChanges: ReturnType<typeof changeNumbers>;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: StoredTable,
    budget: QueryBudget,
    logger?: Pick<Logger, 'error'>,
    tuning = COLUMN_TUNING,
  ) {
    this.lists = new ListReader(database, table, budget, logger, tuning);
    this.records = new RecordReader(table);
    this.rows = new RecordRows(table);
    this.numberChanges = changeNumbers(table);
  }

  reserveIds(count: number): Promise<Id> {
    const { name, firstId } = this.table;
    return this.database.write((statement) => {
      statement('INSERT INTO counters VALUES (?, ?) ON CONFLICT DO NOTHING').run(name, firstId);
      const raise = 'UPDATE counters SET next_id = next_id + ? WHERE name = ? RETURNING next_id';
      const [row] = statement(raise).all(count, name) as [number][];
      if (!row) throw new Error(`There is no counter ${name}.`);
      return row[0] - count;
    });
  }

  async releaseIds(first: Id, end: Id): Promise<void> {
    const sql = 'UPDATE counters SET next_id = ? WHERE name = ? AND next_id = ?';
    await this.database.write((statement) => statement(sql).run(first, this.table.name, end));
  }

  insertAll(records: readonly Versioned<Fields>[]): Promise<readonly InsertOutcome[]> {
    return this.writeAll(records, (record) => this.inserting(record));
  }

  /**
   * Writes each record on its own: a refused one does not stop the others. Those of many words are written one by one,
   * each in a turn of its own.
   * @param prepare is called shortly before the write
   */
  private async writeAll<Item, Outcome>(
    items: readonly Item[],
    prepare: (item: Item) => RecordWrite<Outcome>,
  ): Promise<readonly (Outcome | AppError)[]> {
    const outcomes: (Outcome | AppError)[] = [];
    let writes: RecordWrite<Outcome>[] = [];
    let rows = 0;
    const commit = async () => {
      const written = writes;
      const run = (statement: Statements) => {
        const nextChange = this.numberChanges(statement);
        return written.map((write) => orAppError(() => write.run(statement, nextChange)));
      };
      outcomes.push(...(await this.database.write(run, rows)));
      writes = [];
      rows = 0;
    };
    for (const item of items) {
      const write = prepare(item);
      if (writes.length > 0 && rows + write.rows > MAX_ROWS) await commit();
      writes.push(write);
      rows += write.rows;
    }
    if (writes.length > 0) await commit();
    return outcomes;
  }

  private inserting(record: Versioned<Fields>): RecordWrite<'inserted' | 'id_conflict'> {
    const { id, fields } = record;
    const words = this.rows.words.entryOf(id, fields);
    const run = (statement: Statements, nextChange: NextChange) => {
      if (statement(TOMBSTONE).get([this.table.name, id])) return 'id_conflict';
      const write = () => this.rows.insert(statement, record, nextChange(), words);
      return this.isWritten(write) ? 'inserted' : 'id_conflict';
    };
    return { rows: this.rows.insertCost(fields, words), run };
  }

  async findExistingIds(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    return idSet(this.database.all(`SELECT id FROM ${this.table.name} WHERE id ${AMONG}`, JSON.stringify(ids)));
  }

  async findUsedIds(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    const { name } = this.table;
    const select = `SELECT id FROM ${name} WHERE id ${AMONG}
      UNION ALL SELECT id FROM tombstones WHERE resource = ? AND id ${AMONG}`;
    const wanted = JSON.stringify(ids);
    return idSet(this.database.all(select, wanted, name, wanted));
  }

  async find(id: Id): Promise<Versioned<Fields> | undefined> {
    return this.findBy('id', id);
  }

  async confirmAll(versions: readonly RecordVersion[]): Promise<readonly boolean[]> {
    const ids = JSON.stringify(versions.map(({ id }) => id));
    const select = `SELECT id, version FROM ${this.table.name} WHERE id ${AMONG}`;
    const found = new Map(this.database.all<[Id, number]>(select, ids));
    return versions.map(({ id, version }) => found.get(id) === version);
  }

  async findByUnique(field: string, value: Value): Promise<Versioned<Fields> | undefined> {
    return this.findBy(uniqueColumnOf(this.table, field), foldedValue(this.table, field, value));
  }

  async findAllByUnique(field: string, values: readonly Value[]): Promise<readonly (Versioned<Fields> | undefined)[]> {
    const { table } = this;
    const wanted = JSON.stringify(values.map((value) => foldedValue(table, field, value)));
    const column = uniqueColumnOf(table, field);
    const select = `SELECT id FROM ${indexedBy(table, column)} WHERE ${column} ${AMONG}`;
    const ids = idsOf(this.database, sql(select, wanted));
    return ownersOf(table, field, values, await this.records.all(this.database, ids, BACKGROUND));
  }

  list(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    return this.lists.page(query);
  }

  facets(query: FacetQuery): Promise<readonly Facet[]> {
    return this.lists.facets(query);
  }

  count(filters: readonly Filter[], task?: Task, distinct?: string): Promise<number> {
    return this.lists.count(filters, task, distinct);
  }

  replaceAll(replacements: readonly Replacement<Fields>[]): Promise<readonly ReplaceOutcome[]> {
    return this.writeAll(replacements, (replacement) => this.replacing(replacement));
  }

  private replacing({
    record,
    expected,
    before: known,
  }: Replacement<Fields>): RecordWrite<'replaced' | 'version_conflict'> {
    const run = (statement: Statements, nextChange: NextChange) => {
      const before = known ?? this.fieldsOf(statement, record.id, expected);
      if (!before) return 'version_conflict';
      const write = () => this.rows.replace(statement, record, before, expected, nextChange());
      return this.isWritten(write) ? 'replaced' : 'version_conflict';
    };
    return { rows: this.rows.replaceCost(record.fields, known), run };
  }

  /** @returns undefined if the record does not have the version */
  private fieldsOf(statement: Statements, id: Id, version: number): object | undefined {
    const select = `SELECT fields FROM ${this.table.name} WHERE id = ? AND version = ?`;
    const row = statement(select).get([id, version]) as [string] | undefined;
    return row && (JSON.parse(row[0]) as object);
  }

  async removeAll(removals: readonly Removal[]): Promise<readonly boolean[]> {
    const outcomes = await this.writeAll(removals, (removal) => ({
      rows: 1,
      run: (statement, nextChange) => this.isRemoved(statement, nextChange, removal),
    }));
    return outcomes.map((outcome) => outcome === true);
  }

  private isRemoved(statement: Statements, nextChange: NextChange, { id, expected, at }: Removal): boolean {
    if (!this.rows.remove(statement, id, expected)) return false;
    statement(INSERT_TOMBSTONE).run(this.table.name, id, at, expected + 1, nextChange());
    return true;
  }

  private findBy(column: string, value: Value): Versioned<Fields> | undefined {
    const select = `SELECT ${RECORD_COLUMNS} FROM ${this.table.name} WHERE ${column} = ?`;
    const row = this.database.get<RecordRow>(select, value);
    return row && recordOf(row);
  }

  /** @throws AppError `duplicate_value` */
  private isWritten(write: () => boolean): boolean {
    try {
      return write();
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

function idSet(rows: readonly [Id][]): Set<Id> {
  return new Set(rows.map(([id]) => id));
}

function orAppError<Outcome>(run: () => Outcome): Outcome | AppError {
  try {
    return run();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/** The condition that a value is one of those of a JSON array. */
const AMONG = 'IN (SELECT value FROM json_each(?))';
const TOMBSTONE = 'SELECT 1 FROM tombstones WHERE resource = ? AND id = ?';
const INSERT_TOMBSTONE = 'INSERT INTO tombstones (resource, id, removed_at, version, change) VALUES (?, ?, ?, ?, ?)';
