import { DERIVED_VERSION, type DerivedTable, LEASE_MS } from '../../../../application/ports/derived-data.js';
import type { RecordTable } from '../../../../application/ports/list-query.js';
import type { Id } from '../../../../domain/record.js';
import type { SqliteDatabase, Statements } from '../connection/database.js';
import { RecordRows } from './record-rows.js';

/** The most records, and approximately the most bytes of their fields, of one write. Requests wait for none of them. */
const MAX_RECORDS = 512;
const MAX_BYTES = 524_288;

type StateRow = [version: number, doneTo: Id, oldTo: Id];

const STATE = 'SELECT version, done_to, old_to FROM derived WHERE name = ?';
const ADVANCE = 'UPDATE derived SET done_to = ? WHERE name = ?';

/**
 * The derived data of one table. A file has one version of it: as soon as a process makes a higher one, those of earlier
 * releases write no more (`SqliteDatabase.write`). A write holds the lock of the database, so two processes never make
 * that of the same records.
 */
export class SqliteDerivedTable implements DerivedTable {
  readonly name: string;
  private readonly rows: RecordRows;

  constructor(
    private readonly database: SqliteDatabase,
    table: RecordTable,
  ) {
    this.name = table.name;
    this.rows = new RecordRows(table);
  }

  async isStale(): Promise<boolean> {
    const [version, doneTo, oldTo] = this.database.get(STATE, this.name) as StateRow;
    return version < DERIVED_VERSION || (version === DERIVED_VERSION && doneTo < oldTo);
  }

  deriveNext() {
    return this.database.write((statement) => {
      const state = () => statement(STATE).get([this.name]) as StateRow;
      if (state()[0] < DERIVED_VERSION) {
        this.rows.forgetDerived(statement);
        const end = `coalesce((SELECT max(id) FROM ${this.name}), 0)`;
        const restart = `UPDATE derived SET version = ${DERIVED_VERSION}, done_to = 0, old_to = ${end} WHERE name = ?`;
        statement(restart).run(this.name);
      }
      const [version, doneTo, oldTo] = state();
      return version === DERIVED_VERSION && doneTo < oldTo
        ? this.derive(statement, doneTo, oldTo)
        : { records: 0, hasMore: false };
    }, MAX_RECORDS);
  }

  private derive(statement: Statements, doneTo: Id, oldTo: Id) {
    const select = `SELECT id, octet_length(fields) FROM ${this.name}
      WHERE id > ? AND id <= ? ORDER BY id LIMIT ${MAX_RECORDS}`;
    const next = statement(select).all([doneTo, oldTo]) as [Id, number][];
    const ids: Id[] = [];
    let bytes = 0;
    for (const [id, size] of next) {
      if (bytes + size > MAX_BYTES && ids.length > 0) break;
      ids.push(id);
      bytes += size;
    }
    for (const id of ids) this.rows.derive(statement, id);
    const hasMore = ids.length < next.length || next.length === MAX_RECORDS;
    statement(ADVANCE).run(hasMore ? ids.at(-1) : oldTo, this.name);
    return { records: ids.length, hasMore };
  }
}

const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
const LEASE = `INSERT INTO leases VALUES ('derived data', ?1, ${NOW}, ?2) ON CONFLICT DO UPDATE
  SET holder = ?1, taken_at = ${NOW}, records = ?2 WHERE holder = ?1 OR taken_at < ${NOW} - ${LEASE_MS}`;
const READ_LEASE = "SELECT records FROM leases WHERE name = 'derived data'";
const RELEASE = "DELETE FROM leases WHERE name = 'derived data' AND holder = ?";

/** The lease of the process that makes derived data. */
export function derivedDataLease(database: SqliteDatabase) {
  return {
    lease: (holder: string, records: number): Promise<number | undefined> =>
      database.write((statement) => {
        if (statement(LEASE).run(holder, records).changes > 0) return undefined;
        return (statement(READ_LEASE).get() as [number])[0];
      }),
    release: async (holder: string): Promise<void> => {
      await database.write((statement) => statement(RELEASE).run(holder));
    },
  };
}
