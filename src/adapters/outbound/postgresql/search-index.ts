import type { RecordTable } from '../../../application/ports/list-query.js';
import type { SearchIndex } from '../../../application/ports/search-index.js';
import { IS_LIVE, isOutdated, RECORD_COLUMNS, type RecordRow, recordOf } from './columns.js';
import { parts } from './repository.js';
import type { TableWrites } from './statements.js';
import { type PostgresqlStore, prepared, type Statement } from './store.js';

/** The most records of a batch, which the driver reads at once. */
const MAX_RECORDS = 64;

/**
 * The derived columns of one table, the words among them. A write that an earlier release does leaves its row with the
 * version of that release, so this finds it again. A row that is written in between keeps what that write gave it.
 */
export class PostgresqlSearchIndex implements SearchIndex {
  readonly name: string;
  private readonly findStale: Statement;

  constructor(
    private readonly store: PostgresqlStore,
    table: RecordTable,
    private readonly writes: TableWrites,
  ) {
    this.name = table.name;
    this.findStale = prepared(
      `SELECT ${RECORD_COLUMNS} FROM ${table.name} WHERE ${IS_LIVE} AND ${isOutdated(table)} ORDER BY id LIMIT $1`,
    );
  }

  async indexNext(limit: number): Promise<number> {
    const rows = await this.store.run<RecordRow>(this.findStale, [Math.min(limit, MAX_RECORDS)]);
    const records = rows.map((row) => recordOf(row));
    for (const part of parts(records, (record) => record))
      await this.store.run(this.writes.derive, this.writes.rowsOf(part));
    return rows.length;
  }
}
