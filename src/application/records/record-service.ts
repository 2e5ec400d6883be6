import { isDeepStrictEqual } from 'node:util';
import { AppError, notFound, PreconditionFailed, unavailable } from '../../domain/errors.js';
import type { Id, Versioned } from '../../domain/record.js';
import type { Turn } from '../../shared/turn.js';
import type { Backoff } from '../ports/backoff.js';
import type { Clock } from '../ports/clock.js';
import type { IdempotencyStore } from '../ports/idempotency-store.js';
import type { Filter, ListPage, ListQuery } from '../ports/list-query.js';
import type { Repository } from '../ports/repository.js';
import { type Created, type Creation, type CreationOutcome, RecordCreator } from './create-records.js';
import type { IdPool } from './id-allocator.js';
import { keyReused, STREAM } from './idempotency.js';
import { paginate } from './paginate.js';
import { type Change, changedDraft, type Draft, newDraft, type RecordFormat } from './record-format.js';
import { StoredRecord } from './record-json.js';
import { draftValidator, type RecordRules, validateAll } from './record-validator.js';

/** A write is given up after it loses this many races in a row. Nothing is written. */
const MAX_ATTEMPTS = 64;

/** The versions of a record that a write may change. */
export interface Precondition {
  /** Absent: every version. */
  readonly only?: readonly number[];
  /** Absent: none. */
  readonly never?: readonly number[] | 'any';
}

export const ANY_VERSION: Precondition = {};

export interface RecordServiceDependencies<Fields> {
  readonly records: Repository<Fields>;
  readonly reservations: IdempotencyStore;
  readonly ids: IdPool;
  readonly clock: Clock;
  readonly backoff: Backoff;
  /** The version of the API whose clients this service serves. */
  readonly view: RecordFormat<Fields>;
  readonly rules: RecordRules<Fields>;
}

/** The use cases of the records of any resource. Its dependencies hold what differs, as values and functions. */
export class RecordService<Fields> {
  private readonly creator: RecordCreator<Fields>;

  constructor(private readonly deps: RecordServiceDependencies<Fields>) {
    const { records, reservations, ids, clock, rules } = deps;
    this.creator = new RecordCreator({
      records,
      reservations,
      ids,
      clock,
      validate: draftValidator(rules),
    });
  }

  list(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    return this.deps.records.list(query);
  }

  /** Returns the number of records that match the filters. */
  count(filters: readonly Filter[], turn?: Turn): Promise<number> {
    return this.deps.records.count(filters, turn);
  }

  /** Yields the whole list from the query's position on, page by page. */
  pages(query: ListQuery): AsyncGenerator<readonly Versioned<Fields>[], void, void> {
    return paginate(this.deps.records, query);
  }

  /** @throws AppError `not_found` */
  async read(id: Id): Promise<Versioned<Fields>> {
    const record = await this.deps.records.find(id);
    if (!record) throw notFound();
    return record;
  }

  /** Returns the draft of a new record for {@link create}, with every issue of the body except missing references. */
  draft(body: unknown): Draft<Fields> {
    return newDraft(this.deps.view, body);
  }

  /** @throws AppError `validation_failed`, `duplicate_value`, `idempotency_key_reused` */
  async create(creation: Creation<Fields>): Promise<Created<Fields>> {
    const [outcome] = await this.createAll([creation]);
    if (outcome instanceof AppError) throw outcome;
    if (!outcome) throw new Error('A creation has no outcome.');
    return outcome;
  }

  /**
   * Creates several records. A refused one does not stop the others.
   * @throws AppError `unavailable`: some of them may have been created
   */
  createAll(creations: readonly Creation<Fields>[]): Promise<readonly CreationOutcome<Fields>[]> {
    return this.creator.createAll(creations);
  }

  /**
   * Reserves an idempotency key for a stream, whose lines have their own keys. The same stream may reserve it again.
   * @throws AppError `idempotency_key_reused`
   */
  async reserveStream(key: string): Promise<void> {
    const { reservations, clock } = this.deps;
    const existing = await reservations.reserve([{ key, reservedAt: clock.now(), ...STREAM }]);
    if (existing.get(key)?.fingerprint !== STREAM.fingerprint) throw keyReused();
  }

  /**
   * Applies a change to the newest version of a record. Tries again if another write was faster. A change without
   * effect writes nothing, but the store confirms that the version is still the newest.
   * @throws AppError `not_found`, `precondition_failed`, `invalid_patch`, `patch_test_failed`, `validation_failed`,
   * `duplicate_value`, `unavailable`
   */
  update(id: Id, precondition: Precondition, change: Change): Promise<Versioned<Fields>> {
    const { records, clock, view, rules } = this.deps;
    return this.withOptimisticRetry(id, precondition, async (current) => {
      const draft = changedDraft(view, change, current);
      const [fields] = await validateAll(rules, [{ draft, previous: current }]);
      if (fields instanceof AppError) throw fields;
      if (isDeepStrictEqual(fields, current.fields))
        return (await records.confirm(id, current.version)) ? current : undefined;
      const updatedAt = Math.max(clock.now(), current.updatedAt);
      const next = StoredRecord.of({
        ...current,
        version: current.version + 1,
        updatedAt,
        fields: fields as Fields,
      });
      return (await records.replace(next, current.version)) ? next : undefined;
    });
  }

  /** @throws AppError `not_found`, `precondition_failed`, `unavailable` */
  async remove(id: Id, precondition: Precondition): Promise<void> {
    const { records, clock } = this.deps;
    await this.withOptimisticRetry(id, precondition, async (current) => {
      // If the clock was set back, the tombstone still outlives the reservation of the id.
      const deletedAt = Math.max(clock.now(), current.updatedAt);
      return (await records.remove(id, current.version, deletedAt)) ? current : undefined;
    });
  }

  /** @param write returns undefined if another write was faster */
  private async withOptimisticRetry(
    id: Id,
    precondition: Precondition,
    write: (current: Versioned<Fields>) => Promise<Versioned<Fields> | undefined>,
  ): Promise<Versioned<Fields>> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const current = await this.read(id);
      if (!isMet(precondition, current.version)) throw new PreconditionFailed(current);
      const written = await write(current);
      if (written) return written;
      await this.deps.backoff.pause(attempt);
    }
    throw unavailable('Too many other requests are changing this record. Nothing was written; try again.');
  }
}

export function isMet({ only, never }: Precondition, version: number): boolean {
  return (only === undefined || only.includes(version)) && never !== 'any' && !never?.includes(version);
}
