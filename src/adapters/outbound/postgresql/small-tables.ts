/** The tables besides those of records: counters of ids, reservations of idempotency keys, the usage of API keys. */
import { RESERVATION_MS } from '../../../application/maintenance/retention.js';
import type { EntryCounts, ReservationArchive } from '../../../application/ports/archive.js';
import type { IdempotencyStore, Reservation } from '../../../application/ports/idempotency-store.js';
import type { RecordTable } from '../../../application/ports/list-query.js';
import type { Purgeable } from '../../../application/ports/table-store.js';
import type { RouteUsage, UsageCount, UsageStore } from '../../../application/ports/usage-store.js';
import { reserveInSteps } from '../../../application/records/write-conditions.js';
import type { Id, Instant } from '../../../domain/record.js';
import { compareText } from '../../../domain/text.js';
import { type PostgresqlStore, prepared } from './store.js';

/** The cells of each column of some rows, for `unnest`. */
export function cellsOf<Item>(items: readonly Item[], columns: readonly ((item: Item) => unknown)[]) {
  return columns.map((cellOf) => items.map(cellOf));
}

const RESERVE_IDS = prepared(`INSERT INTO counters AS counter VALUES ($1, $2::bigint + $3)
  ON CONFLICT (name) DO UPDATE SET next_id = counter.next_id + $3 RETURNING next_id - $3`);
const RELEASE_IDS = prepared('UPDATE counters SET next_id = $2 WHERE name = $1 AND next_id = $3');
const NEXT_ID = prepared('SELECT next_id FROM counters WHERE name = $1');
const RAISE_NEXT_ID = prepared(`INSERT INTO counters AS counter VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET next_id = excluded.next_id WHERE excluded.next_id > counter.next_id`);

/** The counter that the ids of a table come from. */
export class IdCounter {
  constructor(
    protected readonly store: PostgresqlStore,
    private readonly counted: Pick<RecordTable, 'name' | 'firstId'>,
  ) {}

  async reserveIds(count: number): Promise<Id> {
    const { name, firstId } = this.counted;
    const [[first] = [firstId]] = await this.store.run<[Id]>(RESERVE_IDS, [name, firstId, count]);
    return first;
  }

  async releaseIds(first: Id, end: Id): Promise<void> {
    await this.store.run(RELEASE_IDS, [this.counted.name, first, end]);
  }

  async nextId(): Promise<Id> {
    const [[next] = [this.counted.firstId]] = await this.store.run<[Id]>(NEXT_ID, [this.counted.name]);
    return next;
  }

  async raiseNextId(next: Id): Promise<void> {
    await this.store.run(RAISE_NEXT_ID, [this.counted.name, next]);
  }
}

/** The values of {@link RESERVATION_COLUMNS}. */
type ReservationRow = [key: string, fingerprint: string, id: Id, reservedAt: Instant, fields: string | null];

const RESERVATION_COLUMNS = 'key, fingerprint, id, reserved_at, fields';
const INSERT_RESERVATIONS = prepared(`INSERT INTO reservations (resource, ${RESERVATION_COLUMNS})
  SELECT $1, * FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[])
  ON CONFLICT DO NOTHING RETURNING key`);
const FIND_RESERVATIONS = prepared(
  `SELECT ${RESERVATION_COLUMNS} FROM reservations WHERE resource = $1 AND key = ANY($2::text[])`,
);
const READ_RESERVATIONS = prepared(`SELECT ${RESERVATION_COLUMNS} FROM reservations
  WHERE resource = $1 AND key > $2 ORDER BY key LIMIT $3`);

/** The reservations of one table, for its creations and for copies between stores. */
export class PostgresqlReservations implements IdempotencyStore, ReservationArchive {
  readonly expiring: Purgeable;

  constructor(
    private readonly store: PostgresqlStore,
    readonly name: string,
  ) {
    this.expiring = expiringRows(store, 'reservations', 'reserved_at', RESERVATION_MS, `resource = '${name}'`);
  }

  async find(keys: readonly string[]): Promise<ReadonlyMap<string, Reservation>> {
    if (keys.length === 0) return new Map();
    const rows = await this.store.run<ReservationRow>(FIND_RESERVATIONS, [this.name, keys]);
    return new Map(rows.map((row) => [row[0], reservationOf(row)]));
  }

  reserve(reservations: readonly Reservation[]): Promise<ReadonlyMap<string, Reservation>> {
    return reserveInSteps(
      reservations,
      (missing) => this.insert(missing),
      (keys) => this.find(keys),
    );
  }

  async add(reservations: readonly Reservation[]): Promise<void> {
    const added = await this.insert(reservations);
    if (added.size < reservations.length) throw new Error(`Some keys of ${this.name} are in use.`);
  }

  async discard(keys: readonly string[]): Promise<void> {
    const text = 'DELETE FROM reservations WHERE resource = $1 AND key = ANY($2::text[])';
    await this.store.run({ text }, [this.name, keys]);
  }

  async read(after: string, limit: number): Promise<readonly Reservation[]> {
    const rows = await this.store.run<ReservationRow>(READ_RESERVATIONS, [this.name, after, limit]);
    return rows.map(reservationOf);
  }

  async counts(since: Instant): Promise<EntryCounts> {
    const text = 'SELECT count(*) FROM reservations WHERE resource = $1 AND reserved_at >= $2';
    const [[reservation] = [0]] = await this.store.run<[number]>({ text }, [this.name, since]);
    return { reservation };
  }

  /** Sorted by key, so that two processes do not wait for each other. */
  private async insert(reservations: readonly Reservation[]): Promise<ReadonlySet<string>> {
    const sorted = reservations.toSorted((a, b) => compareText(a.key, b.key));
    const cells = cellsOf<Reservation>(sorted, [
      ({ key }) => key,
      ({ fingerprint }) => fingerprint,
      ({ id }) => id,
      ({ reservedAt }) => reservedAt,
      ({ fields }) => fields ?? null,
    ]);
    return new Set((await this.store.run<[string]>(INSERT_RESERVATIONS, [this.name, ...cells])).flat());
  }
}

function reservationOf([key, fingerprint, id, reservedAt, fields]: ReservationRow): Reservation {
  return { key, fingerprint, id, reservedAt, ...(fields !== null && { fields }) };
}

const SAVE_USAGE = prepared(`INSERT INTO api_key_usage
  SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) AS saved ORDER BY 1, 2, 3
  ON CONFLICT (key_id, hour, counter) DO UPDATE SET routes = excluded.routes`);
const FIND_USAGE = prepared(
  'SELECT key_id, hour, counter, routes FROM api_key_usage WHERE key_id = ANY($1::bigint[]) AND hour >= $2',
);

type UsageRow = [keyId: Id, hour: Instant, counter: string, routes: string];

/** The usage of API keys. */
export class PostgresqlUsageStore implements UsageStore {
  constructor(private readonly store: PostgresqlStore) {}

  async save(counts: readonly UsageCount[]): Promise<void> {
    // One statement must not change a row twice. The last count is the one that stays.
    const last = new Map(counts.map((count) => [`${count.keyId} ${count.hour} ${count.counter}`, count]));
    if (last.size === 0) return;
    const cells = cellsOf<UsageCount>(
      [...last.values()],
      [({ keyId }) => keyId, ({ hour }) => hour, ({ counter }) => counter, ({ routes }) => JSON.stringify(routes)],
    );
    await this.store.run(SAVE_USAGE, cells);
  }

  async find(keyIds: readonly Id[], since: Instant): Promise<readonly UsageCount[]> {
    const rows = await this.store.run<UsageRow>(FIND_USAGE, [keyIds, since]);
    return rows.map(([keyId, hour, counter, routes]) => {
      return { keyId, hour, counter, routes: JSON.parse(routes) as RouteUsage[] };
    });
  }
}

/**
 * The rows of a table that expire.
 * @param age the column of the time from which on a row is kept for `retentionMs`
 * @param only the condition on the rows of one resource
 */
export function expiringRows(
  store: PostgresqlStore,
  table: string,
  age: string,
  retentionMs: number,
  only = 'TRUE',
): Purgeable {
  const purge = prepared(`WITH purged AS (
    DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM ${table} WHERE ${only} AND ${age} < $1 ORDER BY ${age} LIMIT $2 FOR UPDATE SKIP LOCKED))
    RETURNING 1) SELECT count(*) FROM purged`);
  return {
    retentionMs,
    purgeBefore: async (moment, limit) => (await store.run<[number]>(purge, [moment, limit]))[0]?.[0] ?? 0,
  };
}
