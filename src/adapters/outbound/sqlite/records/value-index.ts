import type { RecordTable } from '../../../../application/ports/list-query.js';
import { listValues } from '../../../../application/records/query-semantics.js';
import { listFields } from '../../../../domain/fields.js';
import type { Id } from '../../../../domain/record.js';
import type { Statements } from '../connection/database.js';
import { valuesTable } from '../sql/schema.js';

/** How many values cost as much to write as one row, approximately. */
const VALUES_OF_A_ROW = 8;

const NONE = {};

/**
 * The values of the lists in one table's records, each with the ids that have it in their order. It is what an index is
 * for a column. Its methods run in the write that changes the record.
 */
export class ValueIndex {
  private readonly fields: readonly string[];
  private readonly select: string;
  private readonly insert: string;
  private readonly remove: string;

  constructor({ name, fields }: RecordTable) {
    this.fields = listFields(fields);
    const values = valuesTable(name);
    const lists = this.fields.map((field) => `fields -> '$.${field}'`);
    this.select = `SELECT ${lists.join(', ')} FROM ${name} WHERE id = ?`;
    this.insert = `INSERT OR IGNORE INTO ${values} SELECT ?1, value, ?2 FROM json_each(?3)`;
    this.remove = `DELETE FROM ${values} WHERE field = ?1 AND id = ?2 AND value IN (SELECT value FROM json_each(?3))`;
  }

  /** Whether the records may have values. The methods of an index without values change nothing. */
  get isUsed(): boolean {
    return this.fields.length > 0;
  }

  /** How many rows more a record with these fields counts as. */
  writeCost(fields: object): number {
    const values = this.fields.reduce((sum, field) => sum + listValues(fields, field).length, 0);
    return Math.floor(values / VALUES_OF_A_ROW);
  }

  /** Returns the lists among the fields of a record; empty if there is no record. */
  read(statement: Statements, id: Id): object {
    if (!this.isUsed) return NONE;
    const row = statement(this.select).get([id]) as (string | null)[] | undefined;
    const lists = this.fields.map((field, at) => [field, JSON.parse(row?.[at] ?? '[]') as unknown]);
    return Object.fromEntries(lists) as object;
  }

  /**
   * Stores and removes what differs between two versions of a record. `OR IGNORE` makes one statement for several rows
   * possible: before a statement that could fail after its first row, FTS5 would write its entries (see
   * `WordIndex.put`).
   * @param before the fields whose values are stored; absent for a new record
   * @param after absent for a deleted record
   */
  change(statement: Statements, id: Id, before: object = NONE, after: object = NONE): void {
    for (const field of this.fields) {
      const [known, wanted] = [listValues(before, field), listValues(after, field)];
      const removed = known.filter((value) => !wanted.includes(value));
      const added = wanted.filter((value) => !known.includes(value));
      if (removed.length > 0) statement(this.remove).run(field, id, JSON.stringify(removed));
      if (added.length > 0) statement(this.insert).run(field, id, JSON.stringify(added));
    }
  }
}
