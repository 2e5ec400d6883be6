import type { FacetValue, RecordTable } from '../../../../application/ports/list-query.js';
import { listValues } from '../../../../application/records/query-semantics.js';
import { fieldsJson } from '../../../../application/records/record-json.js';
import { type Attributes, attributeFields, listFields } from '../../../../domain/fields.js';
import type { Id, Versioned } from '../../../../domain/record.js';
import { valuesTable } from '../../sql/keyset.js';
import type { Statements } from '../connection/database.js';
import { attributeName, type Column, columnsOf, type StoredValue, storedValue } from '../sql/schema.js';
import { WordIndex } from '../sql/words.js';

/** The most changed columns that an UPDATE names alone: so a table of n columns has about n² / 2 different statements. */
const MAX_NAMED = 2;

/** Writes the records of one table: rows, their words, and the values of their lists and attributes. */
export class RecordRows {
  readonly words: WordIndex;
  private readonly values: ValueIndex;
  private readonly columns: readonly Column[];
  private readonly insertion: string;

  constructor(private readonly table: RecordTable) {
    this.words = new WordIndex(table);
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
    const update = `${this.update(names)} AND version = ?`;
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

  /** Removes the words and values of all records. */
  forgetDerived(statement: Statements): void {
    this.words.clear(statement);
    this.values.clear(statement);
  }

  /** Makes what is derived from a record after {@link forgetDerived}. Its columns hardly ever differ. */
  derive(statement: Statements, id: Id): void {
    const names = namesOf(this.columns);
    const select = `SELECT ${['fields', ...names].join(', ')} FROM ${this.table.name} WHERE id = ?`;
    const [text, ...cells] = statement(select).get([id]) as [string, ...unknown[]];
    const fields = JSON.parse(text) as object;
    const wanted = this.columns.map(({ valueIn }) => valueIn(fields));
    if (wanted.some((value, at) => value !== cells[at])) statement(this.update(names)).run([...wanted, id]);
    this.words.put(statement, id, this.words.entryOf(id, fields));
    this.values.change(statement, id, undefined, fields);
  }

  private update(names: readonly string[]): string {
    return `UPDATE ${this.table.name} SET ${names.map((name) => `${name} = ?`).join(', ')}
      WHERE id = ?`;
  }
}

function namesOf(columns: readonly Column[]): string[] {
  return columns.map(({ name }) => name);
}

/** How many values cost as much to write as one row, approximately. */
const VALUES_OF_A_ROW = 8;

/** The most values that one statement stores. Each number up to it has a statement of its own. */
const VALUES_OF_A_STATEMENT = 8;

const NONE = {};

type Entry = readonly [field: string, value: FacetValue];

/**
 * The values of the lists and attributes in one table's records, each with the ids that have it in their order. It is
 * what an index is for a column.
 */
class ValueIndex {
  private readonly name: string;
  private readonly lists: readonly string[];
  private readonly attributes: readonly string[];
  /** For one value, for two, and so on. */
  private readonly inserts: readonly string[];

  constructor({ name, fields }: Pick<RecordTable, 'name' | 'fields'>) {
    this.name = name;
    this.lists = listFields(fields);
    this.attributes = attributeFields(fields);
    const rows = Array.from({ length: VALUES_OF_A_STATEMENT }, (_, at) => `(?${2 * at + 2}, ?${2 * at + 3}, ?1)`);
    this.inserts = rows.map(
      (_, at) => `INSERT OR IGNORE INTO ${valuesTable(name)} VALUES ${rows.slice(0, at + 1).join(', ')}`,
    );
  }

  /** How many rows more a record with these fields counts as. */
  writeCost(fields: object): number {
    return Math.floor(this.entriesOf(fields).length / VALUES_OF_A_ROW);
  }

  /** Returns the fields of a record whose values are stored; empty if there are none, or no record. */
  read(statement: Statements, id: Id): object {
    if (this.lists.length + this.attributes.length === 0) return NONE;
    const row = statement(`SELECT fields FROM ${this.name} WHERE id = ?`).get([id]) as [string] | undefined;
    return row ? (JSON.parse(row[0]) as object) : NONE;
  }

  /**
   * Stores and removes what differs between two versions of a record, in the write that changes it.
   * @param before the fields whose values are stored; absent for a new record
   * @param after absent for a deleted record
   */
  change(statement: Statements, id: Id, before: object = NONE, after: object = NONE): void {
    const [known, wanted] = [this.entriesOf(before), this.entriesOf(after)];
    const removal = `DELETE FROM ${valuesTable(this.name)} WHERE field = ? AND value = ? AND id = ?`;
    for (const [field, value] of known.filter((entry) => !has(wanted, entry)))
      statement(removal).run([field, storedValue(value), id]);
    const added = wanted.filter((entry) => !has(known, entry));
    this.insert(statement, id, added);
  }

  clear(statement: Statements): void {
    const hasValues = this.lists.length + this.attributes.length > 0;
    if (hasValues) statement(`DELETE FROM ${valuesTable(this.name)}`).run();
  }

  private entriesOf(fields: object): Entry[] {
    const entries: Entry[] = [];
    for (const field of this.lists) for (const value of listValues(fields, field)) entries.push([field, value]);
    for (const field of this.attributes) {
      const attributes: Attributes = (fields as Record<string, Attributes | null>)[field] ?? NONE;
      for (const key in attributes) entries.push([attributeName(field, key), attributes[key] as FacetValue]);
    }
    return entries;
  }

  /**
   * `OR IGNORE` makes one statement for several rows possible: before a statement that could fail after its first row,
   * FTS5 would write its entries (see `WordIndex.put`). Numbers are bound, because SQLite may read those of a text with
   * another last bit.
   */
  private insert(statement: Statements, id: Id, entries: readonly Entry[]): void {
    for (let at = 0; at < entries.length; at += VALUES_OF_A_STATEMENT) {
      const values: (StoredValue | Id)[] = [id];
      const end = Math.min(at + VALUES_OF_A_STATEMENT, entries.length);
      for (const [field, value] of entries.slice(at, end)) values.push(field, storedValue(value));
      statement(this.inserts[end - at - 1] ?? '').run(values);
    }
  }
}

function has(entries: readonly Entry[], [field, value]: Entry): boolean {
  return entries.some(([otherField, other]) => otherField === field && other === value);
}
