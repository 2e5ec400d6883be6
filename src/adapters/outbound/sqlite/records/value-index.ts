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
  private readonly insert: string;
  private readonly remove: string;

  constructor({ name, fields }: RecordTable) {
    this.fields = listFields(fields);
    this.insert = `INSERT INTO ${valuesTable(name)} VALUES (?, ?, ?)`;
    this.remove = `DELETE FROM ${valuesTable(name)} WHERE field = ? AND value = ? AND id = ?`;
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

  /**
   * Stores and removes what differs between two versions of a record. Each statement writes one row: FTS5 would write
   * its entries before one that may write several (see `WordIndex.put`).
   * @param before the fields whose values are stored; absent for a new record
   * @param after absent for a deleted record
   */
  change(statement: Statements, id: Id, before: object = NONE, after: object = NONE): void {
    for (const field of this.fields) {
      const [known, wanted] = [listValues(before, field), listValues(after, field)];
      for (const value of new Set(known))
        if (!wanted.includes(value)) statement(this.remove).run(field, value, id);
      for (const value of new Set(wanted))
        if (!known.includes(value)) statement(this.insert).run(field, value, id);
    }
  }
}
