/**
 * The feed of a table: its rows in the order of the transactions that last changed them, then of their ids.
 *
 * A transaction gets its number when it begins to write, and may commit after later ones; a number of a sequence would
 * be the same. So a reader goes only as far as every transaction has ended: up to `xmin` of its snapshot. What is
 * acknowledged later has at least that number.
 *
 * A place is that of a row that was seen, never `xmin` itself. After a crash the server gives those numbers again that
 * are not in its journal.
 */

import { feedIsOff } from '../../../application/changes/feed-state.js';
import type {
  ChangeFeed,
  ChangePage,
  FeedPosition,
  FeedState,
  RecordChange,
} from '../../../application/ports/change-feed.js';
import { MAX_PAGE_BYTES, type RecordTable } from '../../../application/ports/list-query.js';
import type { StoredTable } from '../../../application/ports/table-store.js';
import { type Id, type Instant, MAX_ID } from '../../../domain/record.js';
import { RECORD_COLUMNS, type RecordRow, recordOf } from '../sql/keyset.js';
import { IS_LIVE } from './columns.js';
import { EPOCH, GENERATION } from './migrations.js';
import { type PostgresqlStore, prepared, type Statement } from './store.js';

/** All transactions with lower numbers have ended. */
const XMIN = 'pg_snapshot_xmin(pg_current_snapshot())';
/** None with this number or a higher one has ended. A restored dump has rows of another server, with any numbers. */
const XMAX = 'pg_snapshot_xmax(pg_current_snapshot())';

interface Place {
  readonly epoch: string;
  /** A number has 64 bits. */
  readonly change: string;
  readonly id: Id;
}

/** Behind every row. */
const LAST = { change: `${2n ** 64n - 1n}`, id: MAX_ID };

type EndRow = [epoch: string, change: string, id: Id];
type ChangeRow = [change: string | null, deletedVersion: number | null, ...record: RecordRow];

export class PostgresqlFeed<Fields> implements ChangeFeed<Fields> {
  private readonly findEnd: Statement;
  private readonly findChanges: Statement;

  constructor(
    private readonly store: PostgresqlStore,
    { name }: Pick<RecordTable, 'name'>,
  ) {
    const feed = (also = '') => `WITH feed AS MATERIALIZED (
      SELECT ${EPOCH} AS epoch, floor_epoch, floor_change, floor_id${also} FROM feeds WHERE name = '${name}')`;
    this.findEnd = prepared(`${feed()}
      SELECT epoch, place.change::text, place.id FROM feed, LATERAL (
        (SELECT change, id FROM ${name} WHERE change IS NOT NULL AND change < ${XMIN}
          ORDER BY change DESC, id DESC LIMIT 1)
        UNION ALL SELECT floor_change, floor_id WHERE floor_epoch = epoch
        UNION ALL SELECT '0'::xid8, 0) AS place
      ORDER BY place.change DESC, place.id DESC LIMIT 1`);
    // The values are columns, so that the server makes no new plan for others. A row that was deleted while the feed was
    // not written has no version. The row that reaches the limit of bytes is the last one.
    const given = `, $1 AS wanted, $2::xid8 AS from_change, $3::bigint AS from_id, $4::xid8 AS to_change, $5::bigint AS to_id, $6::bigint AS most`;
    this.findChanges = prepared(`${feed(given)}
      SELECT page.change::text, deleted_version, ${RECORD_COLUMNS} FROM feed LEFT JOIN LATERAL (
        SELECT *, sum(size) OVER (ORDER BY change, id ROWS UNBOUNDED PRECEDING) - size AS before FROM (
          SELECT change, deleted_version, ${RECORD_COLUMNS}, coalesce(octet_length(fields), 0) AS size FROM ${name}
          WHERE change IS NOT NULL AND change < ${XMIN} AND (${IS_LIVE} OR deleted_version IS NOT NULL)
            AND (change, id) > (from_change, from_id) AND (change, id) <= (to_change, to_id)
          ORDER BY change, id LIMIT most) AS sized) AS page ON before < ${MAX_PAGE_BYTES}
      WHERE epoch = wanted AND from_change < ${XMAX}
        AND (floor_epoch IS DISTINCT FROM epoch OR (floor_change, floor_id) <= (from_change, from_id))
      ORDER BY page.change, page.id`);
  }

  async end(): Promise<FeedPosition> {
    const [row] = await this.store.run<EndRow>(this.findEnd, []);
    if (!row) throw feedIsOff();
    const [epoch, change, id] = row;
    return positionOf({ epoch, change, id });
  }

  async read(after: FeedPosition, limit: number, until?: FeedPosition): Promise<ChangePage<Fields> | undefined> {
    const from = placeOf(after);
    const to = until === undefined ? { ...LAST, epoch: from?.epoch } : placeOf(until);
    if (from === undefined || to?.epoch !== from.epoch) return undefined;
    const values = [from.epoch, from.change, from.id, to.change, to.id, limit];
    const rows = await this.store.run<ChangeRow>(this.findChanges, values);
    // If the place has expired, there is no row; if there is no change, there is one without values.
    if (rows.length === 0) return undefined;
    const changes: RecordChange<Fields>[] = [];
    let next = after;
    for (const [change, version, ...record] of rows) {
      if (change === null) break;
      const [id] = record;
      changes.push(version === null ? recordOf<Fields>(record) : { id, version, deleted: true });
      next = positionOf({ ...from, change, id });
    }
    return { changes, next };
  }
}

function positionOf({ epoch, change, id }: Place): FeedPosition {
  return `${epoch}-${change}-${id}`;
}

/** Returns undefined for a position of another store. */
function placeOf(position: FeedPosition): Place | undefined {
  const [, epoch, change, id] = /^([\da-f]{32})-(\d{1,19})-(\d{1,16})$/.exec(position) ?? [];
  return epoch === undefined || change === undefined ? undefined : { epoch, change, id: Number(id) };
}

/**
 * The triggers of a table that write its feed. They also do so for processes of an earlier release, and for SQL of a
 * person. What leaves the version as it is, as the indexing job does, is no change; a tombstone that a copy brings is
 * older than the feed. Places before a row that is deleted expire: of a tombstone, those before it; of a record, all.
 */
const TRIGGERS = {
  feed_insert: 'BEFORE INSERT ON TABLE FOR EACH ROW WHEN (NEW.deleted_at IS NULL) EXECUTE FUNCTION feed_change()',
  feed_update:
    'BEFORE UPDATE ON TABLE FOR EACH ROW WHEN (OLD.version IS DISTINCT FROM NEW.version) EXECUTE FUNCTION feed_change()',
  feed_delete: 'AFTER DELETE ON TABLE REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION feed_delete()',
  feed_truncate: 'AFTER TRUNCATE ON TABLE FOR EACH STATEMENT EXECUTE FUNCTION feed_truncate()',
};

/** The names of the triggers of a table that are enabled. */
const enabledOf = (table: string) => `ARRAY(SELECT tgname::text FROM pg_trigger
  WHERE tgrelid = to_regclass(${table}) AND tgname = ANY('{${Object.keys(TRIGGERS)}}') AND tgenabled = 'O')`;

/** The tables with an epoch although a trigger is missing or disabled. */
export const GAPS = `SELECT name FROM feeds WHERE cardinality(${enabledOf('name')}) < ${Object.keys(TRIGGERS).length} ORDER BY name`;

/** The tables of `$1`, their triggers, and whether they have an epoch. */
const STATES = `SELECT name, ${enabledOf('name')}, EXISTS (SELECT FROM feeds WHERE feeds.name = tables.name)
  FROM unnest($1::text[]) AS tables(name)`;

const READ_GENERATION = prepared(`SELECT nullif(${GENERATION}, origin) FROM generation`);

type StateRow = [name: string, enabled: readonly string[], hasEpoch: boolean];

/**
 * A feed is on if it has an epoch. All its triggers are enabled then, so that a place of this epoch is of a time since
 * which every process has written the feed.
 */
export class PostgresqlFeedState implements FeedState {
  private readonly tables: readonly string[];

  constructor(
    private readonly store: PostgresqlStore,
    tables: readonly StoredTable[],
  ) {
    this.tables = tables.filter(({ hasFeed }) => hasFeed).map(({ name }) => name);
  }

  /** The lock of a table waits until the writes in progress have ended. Those that wait for it then meet the triggers. */
  async turnOn(): Promise<void> {
    for (const [name, enabled, hasEpoch] of await this.states())
      if (!hasEpoch || enabled.length < Object.keys(TRIGGERS).length)
        await this.store.alter(async (run) => {
          for (const [trigger, definition] of Object.entries(TRIGGERS))
            await run(`CREATE OR REPLACE TRIGGER ${trigger} ${definition.replace('TABLE', name)}`);
          await run(`INSERT INTO feeds VALUES ('${name}', gen_random_uuid())
            ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch`);
        });
  }

  async turnOff(): Promise<void> {
    for (const [name, enabled, hasEpoch] of await this.states())
      if (hasEpoch || enabled.length > 0)
        await this.store.alter(async (run) => {
          for (const trigger of enabled) await run(`ALTER TABLE ${name} DISABLE TRIGGER ${trigger}`);
          await run(`DELETE FROM feeds WHERE name = '${name}'`);
        });
  }

  async reset(): Promise<void> {
    const text = `WITH feeds AS (UPDATE feeds SET epoch = gen_random_uuid())
      INSERT INTO generation (origin) VALUES ('') ON CONFLICT (is_only) DO UPDATE SET epoch = excluded.epoch`;
    await this.store.run({ text }, []);
  }

  async generation(): Promise<string | undefined> {
    const [row] = await this.store.run<[string | null]>(READ_GENERATION, []);
    return row?.[0] ?? undefined;
  }

  async oldestHidden(): Promise<Instant | undefined> {
    const oldest = this.tables.map(
      (name) => `(SELECT coalesce(updated_at, deleted_at) AS at FROM ${name}
        WHERE change IS NOT NULL AND change >= ${XMIN} AND change < ${XMAX} ORDER BY change, id LIMIT 1)`,
    );
    const text = `SELECT min(at) FROM (${oldest.join(' UNION ALL ')}) AS oldest`;
    const [row] = await this.store.run<[Instant | null]>({ text }, []);
    return row?.[0] ?? undefined;
  }

  private states(): Promise<StateRow[]> {
    return this.store.run<StateRow>({ text: STATES }, [this.tables]);
  }
}
