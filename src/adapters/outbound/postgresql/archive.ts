import type { EntryCounts, RecordArchive, RecordEntry, Tombstone } from '../../../application/ports/archive.js';
import { MAX_PAGE_BYTES, type RecordTable } from '../../../application/ports/list-query.js';
import type { Id, Instant, Versioned } from '../../../domain/record.js';
import { RECORD_COLUMNS, type RecordRow, recordOf } from '../sql/keyset.js';
import { IS_LIVE, type TableWrites } from './columns.js';
import { IdCounter } from './small-tables.js';
import type { PostgresqlStore } from './store.js';

type EntryRow = [...record: RecordRow, deletedAt: Instant | null];

/** The records, tombstones and counter of one table, for copies between stores. */
export class PostgresqlArchive extends IdCounter implements RecordArchive {
  readonly name: string;

  constructor(
    store: PostgresqlStore,
    table: RecordTable,
    private readonly writes: TableWrites,
  ) {
    super(store, table);
    this.name = table.name;
  }

  /** The entry that reaches {@link MAX_PAGE_BYTES} is the last. */
  async read(after: Id, limit: number): Promise<readonly RecordEntry[]> {
    const text = `SELECT ${RECORD_COLUMNS}, deleted_at FROM (
        SELECT *, sum(size) OVER (ORDER BY id) - size AS before
        FROM (SELECT coalesce(octet_length(fields), 0) AS size, ${RECORD_COLUMNS}, deleted_at FROM ${this.name} WHERE id > $1 ORDER BY id LIMIT $2) AS page
      ) AS sized WHERE before < ${MAX_PAGE_BYTES} ORDER BY id`;
    const rows = await this.store.run<EntryRow>({ text }, [after, limit]);
    return rows.map(([id, version, createdAt, updatedAt, fields, deletedAt]) =>
      deletedAt === null ? recordOf([id, version, createdAt, updatedAt, fields]) : { id, deletedAt },
    );
  }

  async counts(since: Instant): Promise<EntryCounts> {
    const text = `SELECT count(*) FILTER (WHERE ${IS_LIVE}), count(*) FILTER (WHERE deleted_at >= $1) FROM ${this.name}`;
    const [[record, tombstone] = [0, 0]] = await this.store.run<[number, number]>({ text }, [since]);
    return { record, tombstone };
  }

  async add(entries: readonly RecordEntry[]): Promise<void> {
    const isTombstone = (entry: RecordEntry): entry is Tombstone => 'deletedAt' in entry;
    const tombstones = entries.filter(isTombstone);
    const records = entries.filter((entry): entry is Versioned<unknown> => !isTombstone(entry));
    const added = await this.store.run(this.writes.insert, this.writes.rowsOf(records));
    if (added.length < records.length) throw new Error(`Other records of ${this.name} refuse some.`);
    const text = `INSERT INTO ${this.name} (id, deleted_at) SELECT * FROM unnest($1::bigint[], $2::bigint[])`;
    const columns = [tombstones.map(({ id }) => id), tombstones.map(({ deletedAt }) => deletedAt)];
    await this.store.run({ text }, columns);
  }

  async discard(ids: readonly Id[]): Promise<void> {
    await this.store.run(this.writes.discard, [ids]);
  }

  /** A change raises the sum of the versions, unless a deletion lowers it; that adds a tombstone. */
  async changeMark(): Promise<string> {
    const text = `SELECT count(*), coalesce(sum(version), 0)::text, count(deleted_at), max(deleted_at) FROM ${this.name}`;
    return [await this.nextId(), ...(await this.store.run({ text }, [])).flat()].join(' ');
  }
}
