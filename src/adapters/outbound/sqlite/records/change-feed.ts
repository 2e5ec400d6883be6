import { feedIsOff, isInRange, readPosition, writePosition } from '../../../../application/changes/feed-state.js';
import type {
  ChangeFeed,
  ChangePage,
  FeedPosition,
  FeedState,
  RecordChange,
} from '../../../../application/ports/change-feed.js';
import { MAX_PAGE_BYTES } from '../../../../application/ports/list-query.js';
import type { StoredTable } from '../../../../application/ports/table-store.js';
import { type Id, MAX_ID } from '../../../../domain/record.js';
import { BACKGROUND } from '../../../../shared/task-scheduler.js';
import type { SqliteDatabase, Statements } from '../connection/database.js';
import { NEW_EPOCH, READ_GENERATION, RENEW_GENERATION, RESET_FEEDS } from '../connection/migrations.js';
import { RecordReader } from '../sql/records.js';
import { indexName, newestChange } from '../sql/schema.js';

/** The feeds that are written have a row in `feeds`, which every process that has the database open obeys. */
export class SqliteFeedState implements FeedState {
  private readonly names: readonly string[];

  constructor(
    private readonly database: SqliteDatabase,
    tables: readonly StoredTable[],
  ) {
    this.names = tables.filter(({ hasFeed }) => hasFeed).map(({ name }) => name);
  }

  async turnOn(): Promise<void> {
    await this.database.write((statement) => {
      for (const name of this.names) statement(`INSERT OR IGNORE INTO feeds VALUES (?, ${NEW_EPOCH}, 0)`).run(name);
    });
  }

  async turnOff(): Promise<void> {
    await this.database.write((statement) => statement('DELETE FROM feeds').run());
  }

  async reset(): Promise<void> {
    await this.database.write((statement) => {
      statement(RESET_FEEDS).run();
      statement(RENEW_GENERATION).run();
    });
  }

  generation(): string | undefined {
    return this.database.get<[string]>(READ_GENERATION)?.[0];
  }
}

/** Returns the number of the next change of a table in this transaction; null if its feed is not written. */
export type NextChange = () => number | null;

/**
 * Returns a function that begins to number the changes of one table in the transaction of its statements. The newest
 * number is the highest that a record or a tombstone has, or the low watermark, under which tombstones were purged; so no write
 * has to update a counter. Because one transaction at a time writes, the numbers have the order of the commits. A
 * number that was not written is given again.
 */
export function changeNumbers({ name, hasFeed }: StoredTable): (statement: Statements) => NextChange {
  const select = `SELECT ${newestChange(name)} FROM feeds WHERE resource = '${name}'`;
  return (statement) => {
    const row = hasFeed && (statement(select).get([]) as [number] | undefined);
    if (!row) return () => null;
    let [number] = row;
    return () => ++number;
  };
}

type StateRow = [epoch: string, lowWatermark: number, newest: number, changes: string];

/** A record has bytes, and a deletion a version. */
type ChangeRow = [change: number, id: Id, version: number | null, bytes: number];

export class SqliteChangeFeed<Fields> implements ChangeFeed<Fields> {
  private readonly select: string;
  private readonly records: RecordReader<Fields>;

  constructor(
    private readonly database: SqliteDatabase,
    table: StoredTable,
  ) {
    const { name } = table;
    this.records = new RecordReader(table);
    // One statement sees one moment: other processes may write, purge and reset between two.
    this.select = `SELECT epoch, floor, ${newestChange(name)}, (
      SELECT json_group_array(json_array(change, id, version, bytes)) FROM (
        SELECT change, id, NULL AS version, octet_length(fields) AS bytes
          FROM ${name} INDEXED BY ${indexName(name, 'change')} WHERE change > ?1 AND change <= ?2
        UNION ALL SELECT change, id, version, 0
          FROM tombstones INDEXED BY tombstones_change WHERE resource = '${name}' AND change > ?1 AND change <= ?2
        ORDER BY change LIMIT ?3))
      FROM feeds WHERE resource = '${name}'`;
  }

  async end(): Promise<FeedPosition> {
    const [epoch, , change] = this.database.get<StateRow>(this.select, 0, 0, 0) ?? [];
    if (epoch === undefined || change === undefined) throw feedIsOff();
    return writePosition({ epoch, change });
  }

  async read(after: FeedPosition, limit: number, until?: FeedPosition): Promise<ChangePage<Fields> | undefined> {
    const from = readPosition(after);
    const to = readPosition(until ?? '')?.change;
    const row = from && this.database.get<StateRow>(this.select, from.change, to ?? MAX_ID, limit + 1);
    if (!row) return undefined;
    const [epoch, lowWatermark, newest, text] = row;
    if (!isInRange(from, { epoch, lowWatermark, newest })) return undefined;
    const rows = JSON.parse(text) as ChangeRow[];
    const page = firstOf(rows, limit);
    const last = page.length < rows.length ? page.at(-1)?.[0] : to;
    const next = writePosition({ epoch, change: last ?? newest });
    const changes = await this.changesOf(page);
    // Each record was changed again meanwhile, behind this page.
    return changes.length === 0 && page.length > 0 ? this.read(next, limit, until) : { changes, next };
  }

  /** A record that was deleted meanwhile is missing: its deletion is behind the page. */
  private async changesOf(rows: readonly ChangeRow[]): Promise<RecordChange<Fields>[]> {
    const ids = rows.filter(([, , version]) => version === null).map(([, id]) => id);
    const records = await this.records.all(this.database, ids, BACKGROUND);
    const byId = new Map(records.map((record) => [record.id, record]));
    return rows.flatMap(([, id, version]): RecordChange<Fields>[] => {
      if (version !== null) return [{ id, version, deleted: true }];
      const record = byId.get(id);
      return record ? [record] : [];
    });
  }
}

/** The row that reaches {@link MAX_PAGE_BYTES} is the last. */
function firstOf(rows: readonly ChangeRow[], limit: number): readonly ChangeRow[] {
  let bytes = 0;
  const end = rows.findIndex(([, , , more], at) => {
    if (at === limit || bytes >= MAX_PAGE_BYTES) return true;
    bytes += more;
    return false;
  });
  return end < 0 ? rows : rows.slice(0, end);
}
