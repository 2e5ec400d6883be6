import type { FacetValue, RecordTable } from '../../../../application/ports/list-query.js';
import { listValues } from '../../../../application/records/query-semantics.js';
import type { Attributes } from '../../../../domain/attributes.js';
import { attributeFields, listFields } from '../../../../domain/fields.js';
import type { Id } from '../../../../domain/record.js';
import type { Statements } from '../connection/database.js';
import { attributeName, type StoredValue, storedValue, valuesTable } from '../sql/schema.js';

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
export class ValueIndex {
  private readonly name: string;
  private readonly lists: readonly string[];
  private readonly attributes: readonly string[];
  /** For one value, for two, and so on. */
  private readonly inserts: readonly string[];

  constructor({ name, fields }: Pick<RecordTable, 'name' | 'fields'>) {
    this.name = name;
    this.lists = listFields(fields);
    this.attributes = attributeFields(fields);
    const rows = Array.from(
      { length: VALUES_OF_A_STATEMENT },
      (_, at) => `(?${2 * at + 2}, ?${2 * at + 3}, ?1)`,
    );
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

  private entriesOf(fields: object): Entry[] {
    const entries: Entry[] = [];
    for (const field of this.lists)
      for (const value of listValues(fields, field)) entries.push([field, value]);
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
