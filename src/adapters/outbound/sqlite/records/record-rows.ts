import type { RecordTable } from '../../../../application/ports/list-query.js';
import { fieldsJson } from '../../../../application/records/record-json.js';
import type { Id, Versioned } from '../../../../domain/record.js';
import type { SqliteDatabase, Statements } from '../connection/database.js';
import { WordIndex } from '../full-text/index.js';
import { type Column, columnsOf } from '../sql/schema.js';
import { ValueIndex } from './value-index.js';

/** The most changed columns that an UPDATE names alone: so a table of n columns has about n² / 2 different statements. */
const MAX_NAMED = 2;

/** Writes the records of one table: rows with the columns of indexed fields, words, and values of lists and attributes. */
export class RecordRows {
  readonly words: WordIndex;
  private readonly values: ValueIndex;
  private readonly columns: readonly Column[];
  private readonly insertion: string;

  constructor(
    database: SqliteDatabase,
    private readonly table: RecordTable,
  ) {
    this.words = new WordIndex(database, table);
    this.values = new ValueIndex(table);
    this.columns = columnsOf(table);
    const metadata = ['id', 'record_version', 'created_at', 'updated_at', 'change'];
    const names = [...metadata, ...namesOf(this.columns), 'fields'];
    this.insertion = `INSERT INTO ${table.name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
      ON CONFLICT (id) DO NOTHING`;
  }

  /** How many rows cost as much to write as a new record with these fields and words, approximately. */
  insertCost(fields: object, words: string | undefined): number {
    return this.words.writeCost(fields, words) + this.values.writeCost(fields);
  }

  /** The same for a changed record. @param before the fields before, if they are known */
  replaceCost(fields: object, before: object | undefined): number {
    const keepsWords = before !== undefined && !this.words.hasChanged(before, fields);
    return (keepsWords ? 1 : this.words.writeCost(fields)) + this.values.writeCost(fields);
  }

  /**
   * @param change the number of the change; null if none is kept
   * @returns false if there is a record with the id
   */
  insert(
    statement: Statements,
    record: Versioned<unknown>,
    change: number | null,
    words = this.words.entryOf(record.id, record.fields as object),
  ): boolean {
    const { id, version, createdAt, updatedAt } = record;
    const fields = record.fields as object;
    const cells = this.columns.map(({ valueIn }) => valueIn(fields));
    const row = [id, version, createdAt, updatedAt, change, ...cells, fieldsJson(record)];
    if (statement(this.insertion).run(row).changes === 0) return false;
    this.words.put(statement, id, words);
    this.values.change(statement, id, undefined, fields);
    return true;
  }

  /**
   * SQLite writes the index of each column that SET names, even if its value stays; so it names those that change.
   * @param before the fields of the expected version
   * @returns false if the record does not have that version
   */
  replace(
    statement: Statements,
    record: Versioned<unknown>,
    before: object,
    expected: number,
    change: number | null,
  ): boolean {
    const { id, version, updatedAt } = record;
    const fields = record.fields as object;
    const changed = this.columns.filter(({ valueIn }) => valueIn(before) !== valueIn(fields));
    const named = changed.length > MAX_NAMED ? this.columns : changed;
    const names = ['record_version', 'updated_at', 'change', ...namesOf(named), 'fields'];
    const update = `UPDATE ${this.table.name} SET ${names.map((name) => `${name} = ?`).join(', ')}
      WHERE id = ? AND version = ?`;
    const cells = named.map(({ valueIn }) => valueIn(fields));
    const row = [version, updatedAt, change, ...cells, fieldsJson(record), id, expected];
    if (statement(update).run(row).changes === 0) return false;
    if (this.words.hasChanged(before, fields)) this.words.put(statement, id, this.words.entryOf(id, fields));
    this.values.change(statement, id, before, fields);
    return true;
  }

  /**
   * @param expected absent: any version
   * @returns false if there is no record with the version
   */
  remove(statement: Statements, id: Id, expected?: number): boolean {
    const before = this.values.read(statement, id);
    const removal = `DELETE FROM ${this.table.name} WHERE id = ? AND version = coalesce(?, version)`;
    if (statement(removal).run(id, expected ?? null).changes === 0) return false;
    this.words.remove(statement, id);
    this.values.change(statement, id, before);
    return true;
  }
}

function namesOf(columns: readonly Column[]): string[] {
  return columns.map(({ name }) => name);
}
