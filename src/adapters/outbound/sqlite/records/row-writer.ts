import type { RecordTable } from '../../../../application/ports/list-query.js';
import { fieldsJson } from '../../../../application/records/record-json.js';
import type { Versioned } from '../../../../domain/record.js';
import type { Statements } from '../connection/database.js';
import { type Column, columnsOf } from '../sql/schema.js';

/** The most changed columns that an UPDATE names alone: so a table of n columns has about n² / 2 different statements. */
const MAX_NAMED = 2;

/** Writes the rows of one table: a record, and the columns that have its indexed fields. */
export class RowWriter {
  private readonly columns: readonly Column[];
  private readonly insertion: string;

  constructor(private readonly table: Pick<RecordTable, 'name' | 'fields'>) {
    this.columns = columnsOf(table);
    const names = [
      'id',
      'record_version',
      'created_at',
      'updated_at',
      'change',
      ...namesOf(this.columns),
      'fields',
    ];
    this.insertion = `INSERT INTO ${table.name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
      ON CONFLICT (id) DO NOTHING`;
  }

  /** @param change the number of the change; null if none is kept */
  insert(statement: Statements, record: Versioned<unknown>, change: number | null): { changes: number } {
    const { id, version, createdAt, updatedAt, fields } = record;
    const cells = this.columns.map(({ valueIn }) => valueIn(fields as object));
    return statement(this.insertion).run([
      id,
      version,
      createdAt,
      updatedAt,
      change,
      ...cells,
      fieldsJson(record),
    ]);
  }

  /**
   * Replaces the record if it has the version. SQLite writes the index of each column that SET names, even if its value
   * stays; so it names those that change.
   * @param before the fields of the version
   */
  replace(
    statement: Statements,
    record: Versioned<unknown>,
    before: object,
    expected: number,
    change: number | null,
  ): { changes: number } {
    const { id, version, updatedAt } = record;
    const fields = record.fields as object;
    const changed = this.columns.filter(({ valueIn }) => valueIn(before) !== valueIn(fields));
    const named = changed.length > MAX_NAMED ? this.columns : changed;
    const names = ['record_version', 'updated_at', 'change', ...namesOf(named), 'fields'];
    const update = `UPDATE ${this.table.name} SET ${names.map((name) => `${name} = ?`).join(', ')}
      WHERE id = ? AND version = ?`;
    const cells = named.map(({ valueIn }) => valueIn(fields));
    return statement(update).run([version, updatedAt, change, ...cells, fieldsJson(record), id, expected]);
  }
}

function namesOf(columns: readonly Column[]): string[] {
  return columns.map(({ name }) => name);
}
