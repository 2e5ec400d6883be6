import { DERIVED_VERSION, type DerivedTable, LEASE_MS } from '../../../application/ports/derived-data.js';
import type { Id } from '../../../domain/record.js';
import { RECORD_COLUMNS, type RecordRow, recordOf } from '../sql/keyset.js';
import { IS_LIVE, type TableWrites } from './columns.js';
import { parts } from './repository.js';
import { type PostgresqlStore, prepared, type Statement } from './store.js';

/** The most records of a batch, which the driver reads at once. */
const MAX_RECORDS = 64;

/** A place in the order of versions, then of ids. */
type Place = readonly [version: number, id: Id];
const BEGINNING: Place = [Number.MIN_SAFE_INTEGER, 0];

/**
 * The derived columns of one table. A row that is written in between keeps what that write gave it: a version of another
 * release is found again.
 */
export class PostgresqlDerivedTable implements DerivedTable {
  /** Behind it the next batch begins. An index still has the rows that were made, at their former places. */
  private after = BEGINNING;
  private readonly findStale: Statement;

  constructor(
    private readonly store: PostgresqlStore,
    readonly name: string,
    private readonly writes: TableWrites,
  ) {
    this.findStale = prepared(`SELECT derived, ${RECORD_COLUMNS} FROM ${name}
      WHERE ${IS_LIVE} AND derived < ${DERIVED_VERSION} AND (derived, id) > ($1::bigint, $2)
      ORDER BY derived, id LIMIT $3`);
  }

  async isStale(): Promise<boolean> {
    return (await this.next(BEGINNING, 1)).length > 0;
  }

  async deriveNext() {
    const rows = await this.next(this.after, MAX_RECORDS);
    const records = rows.map(([, ...row]) => recordOf(row));
    for (const part of parts(records, (record) => record))
      await this.store.run(this.writes.derive, this.writes.rowsOf(part));
    const [version, id] = rows.at(-1) ?? BEGINNING;
    const hasMore = rows.length === MAX_RECORDS;
    this.after = hasMore ? [version, id] : BEGINNING;
    return { records: rows.length, hasMore };
  }

  private next([version, id]: Place, limit: number): Promise<[version: number, ...RecordRow][]> {
    return this.store.run(this.findStale, [version, id, limit]);
  }
}

const LEASE = prepared(`INSERT INTO leases AS lease VALUES ('derived data', $1, clock_timestamp(), $2)
  ON CONFLICT (name) DO UPDATE SET holder = $1, taken_at = clock_timestamp(), records = $2
    WHERE lease.holder = $1 OR lease.taken_at < clock_timestamp() - interval '${LEASE_MS} milliseconds'
  RETURNING 1`);
const READ_LEASE = prepared(`SELECT records FROM leases WHERE name = 'derived data'`);
const RELEASE = prepared(`DELETE FROM leases WHERE name = 'derived data' AND holder = $1`);

/** The lease of the process that makes derived data. */
export function derivedDataLease(store: PostgresqlStore) {
  return {
    async lease(holder: string, records: number): Promise<number | undefined> {
      const taken = await store.run(LEASE, [holder, records]);
      if (taken.length > 0) return undefined;
      const [[made] = [0]] = await store.run<[number]>(READ_LEASE, []);
      return made;
    },
    async release(holder: string): Promise<void> {
      await store.run(RELEASE, [holder]);
    },
  };
}
