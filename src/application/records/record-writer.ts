import { isDeepStrictEqual } from 'node:util';
import { AppError, DuplicateValue, notFound, PreconditionFailed, versionRequired } from '../../domain/errors.js';
import { type FieldSpecs, uniqueFields } from '../../domain/fields.js';
import type { Id, Instant, Versioned } from '../../domain/record.js';
import type { MaybePromise } from '../../shared/promises.js';
import { Slices, type Task } from '../../shared/task-scheduler.js';
import type { Backoff, Clock } from '../ports/clock.js';
import type { IdempotencyStore, Reservation } from '../ports/idempotency-store.js';
import type { Value } from '../ports/list-query.js';
import type { Repository } from '../ports/repository.js';
import { isDryRunId } from './dry-run-repository.js';
import type { IdPool } from './id-allocator.js';
import { fieldValue, foldedValue } from './query-semantics.js';
import { type Draft, type RecordRules, validateAll } from './record-format.js';
import { StoredRecord } from './record-json.js';
import {
  ANY_VERSION,
  type IdempotentRequest,
  isMet,
  keyReused,
  MAX_ATTEMPTS,
  nextVersion,
  type Precondition,
  timeOfDeletion,
  tooManyRaces,
} from './write-conditions.js';

/*
 * A write takes these steps. No step needs a transaction over several records, in any store.
 *
 * | step      | what decides                                                                                       |
 * |-----------|----------------------------------------------------------------------------------------------------|
 * | 1 look up | the value of the unique field; the reservation under the idempotency key, whose id may be used     |
 * | 2 plan    | the precondition, then the rules; who is refused under an idempotency key looks for a rival again  |
 * | 3 reserve | the store: all attempts under one idempotency key get one id                                       |
 * | 4 write   | the unique indexes for a new record, the version for one that exists                               |
 *
 * Who loses a race in step 4 begins again after a pause, until MAX_ATTEMPTS are lost. A write that pauses holds up only
 * later writes of the same values.
 *
 * An id is never used twice, not even after a deletion. So under an idempotency key the insertion alone decides which
 * attempt creates the record, and nothing has to be done after it. A process may die between any two steps: another
 * attempt with the same key finds the reservation and ends with the same id.
 */

/** How the records of writes are found. */
export interface Finding {
  /** `id`, or a unique field. */
  readonly field: string;
  /** Absent if a write need not say which version of a record its client has seen. */
  readonly versionNeeded?: VersionNeed | undefined;
}

/** Which writes have to say which version of a record their client has seen. */
export interface VersionNeed {
  /** What says it, for a message: `If-Match`. */
  readonly in: string;
  /** Those that change the record, or all that find one. */
  readonly by: 'changes' | 'all';
}

/** A record to create, to change or to delete. */
export interface RecordWrite<Fields> {
  /** The value of the field by which the record is found. It is a valid one. Absent: the record is a new one. */
  readonly key?: Value;
  /** Absent: each write without a key creates its own record. */
  readonly idempotency?: IdempotentRequest | undefined;
  /** Absent: it is met. */
  readonly precondition?: Precondition;
  /** Whether a record must have the key. */
  readonly mustExist?: boolean;
  /** Whether the record is deleted, whatever the draft is. */
  readonly isDeletion?: boolean;
  /**
   * @param current the record that has the key; undefined for a new record
   * @returns undefined: the record stays as it is
   */
  draft(current?: Versioned<Fields>): Draft<Fields> | undefined;
  /** Returns the valid fields of a change with what only the service sets, or throws an AppError. */
  complete?(fields: Fields, current: Versioned<Fields>): Promise<Fields>;
  /** The length of what was sent, in bytes. */
  readonly bytes?: number;
}

export type WriteOutcome<Fields> =
  /** `deleted`: as it was. `replayed`: another attempt created it; its times are those of the reservation. */
  | {
      readonly kind: 'created' | 'replayed' | 'changed' | 'unchanged' | 'deleted';
      readonly record: Versioned<Fields>;
    }
  /** There was nothing to delete. */
  | { readonly kind: 'absent' }
  /**
   * `not_found`, `precondition_failed`, `precondition_required`, `validation_failed`, `duplicate_value`,
   * `idempotency_key_reused`, or `unavailable` after too many lost races. It is not stored: a repeat may succeed.
   */
  | AppError;

export interface WriterDependencies<Fields> {
  readonly records: Pick<
    Repository<Fields>,
    'find' | 'findAllByUnique' | 'findUsedIds' | 'insertAll' | 'replaceAll' | 'removeAll' | 'confirmAll'
  > & {
    /** Why a write by a key is refused without a look at the record. Absent: none is. */
    refusal?(field: string, key: Value): AppError | undefined;
  };
  readonly reservations: IdempotencyStore;
  readonly ids: IdPool;
  readonly clock: Clock;
  readonly backoff: Backoff;
  readonly rules: RecordRules<Fields>;
  /** The indexed fields. */
  readonly fields: FieldSpecs;
}

/** Creates, changes and deletes records. */
export class RecordWriter<Fields> {
  /** The last of the writes that wait for a value, by the value. */
  private readonly waiting = new Map<Value, Attempt<Fields>>();
  private begun = 0;
  private uniqueFields: readonly string[] | undefined;

  /** @param by absent: each write creates a record */
  constructor(
    private readonly deps: WriterDependencies<Fields>,
    private readonly by?: Finding,
  ) {}

  /**
   * Carries out the writes as if one after the other. Each is one atomic compare-and-write: none loses the update of
   * another writer, and no two records get one key. A refused one stops no other.
   * @param writes so many as one commit may hold
   * @param task whose work it is, which gives way to other work in between; absent: it does not
   * @returns the outcomes, in order
   * @throws AppError `unavailable`: some of them may have been carried out
   */
  async writeAll(writes: readonly RecordWrite<Fields>[], task?: Task): Promise<readonly WriteOutcome<Fields>[]> {
    return Promise.all(await this.startAll(writes, task));
  }

  /**
   * As {@link writeAll}, but does not wait for writes that have lost a race, nor for those that must follow them. Await
   * each call before the next one, whose writes follow.
   */
  async startAll(
    writes: readonly RecordWrite<Fields>[],
    task?: Task,
  ): Promise<readonly MaybePromise<WriteOutcome<Fields>>[]> {
    const attempts = writes.map((write) => new Attempt(write, this.begun++));
    try {
      for (const part of this.withoutRepetition(attempts)) await this.settle(part, task);
    } catch (error) {
      for (const attempt of attempts) attempt.fail(error);
      throw error;
    }
    return attempts.map((attempt) => attempt.result());
  }

  /** @param attempts with different keys */
  private async settle(attempts: Attempts<Fields>, task?: Task): Promise<void> {
    const free = this.freeOf(attempts, task);
    if (free.length === 0) return;
    const keyed = free.filter(isKeyed);
    if (this.by) {
      const { field } = this.by;
      each(free, await this.found(free, this.by), (attempt, record) => {
        attempt.begin(record);
        attempt.outcome = this.deps.records.refusal?.(field, attempt.write.key as Value);
      });
    }
    if (keyed.length > 0) await this.findReservations(keyed);
    await this.plan(free.filter(isOpen), task);
    if (keyed.length > 0) await this.reserve(keyed);
    for (const part of this.withoutRepetition(free.filter(isOpen))) {
      const ready = this.freeOf(part, task);
      await this.write(ready);
      this.repeat(ready.filter(isOpen), task);
    }
  }

  /** Leaves out the attempts that follow one which waits, and settles them after it. */
  private freeOf(attempts: Attempts<Fields>, task?: Task): Attempts<Fields> {
    if (this.waiting.size === 0) return attempts.filter(isOpen);
    return attempts.filter(isOpen).filter((attempt) => {
      const earlier = this.valuesTouchedBy(attempt)
        .map((value) => this.waiting.get(value))
        .filter((other) => other !== undefined && isOpen(other) && other.number < attempt.number);
      if (earlier.length === 0) return true;
      this.settleAfter(Promise.allSettled(earlier.map((other) => other?.rest)), [attempt], task);
      return false;
    });
  }

  private repeat(lost: Attempts<Fields>, task?: Task): void {
    for (const attempt of lost) if (++attempt.losses === MAX_ATTEMPTS) attempt.outcome = tooManyRaces();
    const open = lost.filter(isOpen);
    const losses = Math.max(...open.map((attempt) => attempt.losses));
    if (open.length > 0) this.settleAfter(this.deps.backoff.pause(losses), open, task);
  }

  private settleAfter(pause: Promise<unknown>, attempts: Attempts<Fields>, task?: Task): void {
    for (const attempt of attempts)
      for (const value of this.valuesTouchedBy(attempt)) {
        const other = this.waiting.get(value);
        if (!other || other.number < attempt.number) this.waiting.set(value, attempt);
      }
    const round = pause
      .then(() => this.settle(attempts, task))
      .catch((error) => {
        for (const attempt of attempts) attempt.fail(error);
      })
      .then(() => {
        for (const [value, attempt] of this.waiting) if (!isOpen(attempt)) this.waiting.delete(value);
      });
    for (const attempt of attempts) attempt.awaitRest(round);
  }

  /** Cuts a sequence before each attempt that touches a value of an earlier one of the same part. */
  private withoutRepetition(attempts: Attempts<Fields>): Attempts<Fields>[] {
    if (attempts.length < 2 || !this.by) return attempts.length === 0 ? [] : [attempts];
    const parts: Attempt<Fields>[][] = [];
    let seen = new Set<Value>();
    for (const attempt of attempts) {
      const values = this.valuesTouchedBy(attempt);
      if (parts.length === 0 || values.some((value) => seen.has(value))) {
        parts.push([]);
        seen = new Set();
      }
      for (const value of values) seen.add(value);
      parts.at(-1)?.push(attempt);
    }
    return parts;
  }

  /**
   * The unique values that a write takes or gives up, and its key. A write that takes what an earlier one gives up has
   * to come after it, and the other way round.
   */
  private valuesTouchedBy({ write, current, fields }: Attempt<Fields>): Value[] {
    if (!this.by) return [];
    const touched = [foldedValue(this.deps, this.by.field, write.key as Value)];
    this.uniqueFields ??= uniqueFields(this.deps.fields);
    for (const field of this.uniqueFields)
      for (const holder of [current?.fields, fields]) {
        const value = (holder as Readonly<Record<string, Value>> | undefined)?.[field];
        // An id is a number, and other unique values are texts.
        if (value !== undefined) touched.push(foldedValue(this.deps, field, value));
      }
    return touched;
  }

  /** @returns for each attempt, in order, the record that has its key */
  private found(attempts: Attempts<Fields>, { field }: Finding) {
    const { records } = this.deps;
    const keys = attempts.map(({ write }) => write.key as Value);
    const [id] = keys;
    // Stores are faster with one id, or share its statement with other requests.
    if (field === 'id' && typeof id === 'number' && keys.length === 1)
      return records.find(id).then((record) => [record]);
    return records.findAllByUnique(field, keys);
  }

  /** It comes before validation, because the same body may be invalid by now. */
  private async findReservations(keyed: readonly Keyed<Fields>[]): Promise<void> {
    if (keyed.length === 0) return;
    const existing = await this.deps.reservations.find(keyed.map(({ write }) => write.idempotency.key));
    for (const attempt of keyed) attempt.attach(existing.get(attempt.write.idempotency.key));
    const reserved = keyed.filter(isOpen).filter(isReserved);
    if (reserved.length === 0) return;
    const used = await this.deps.records.findUsedIds(reserved.map(({ reservation }) => reservation.id));
    for (const attempt of reserved) if (used.has(attempt.reservation.id)) attempt.replay(attempt.reservation);
  }

  /** Gives each attempt an outcome, or the step that is next. */
  private async plan(attempts: Attempts<Fields>, task: Task | undefined): Promise<void> {
    const slices = task && new Slices(task);
    const drafted: { readonly attempt: Attempt<Fields>; readonly draft: Draft<Fields> }[] = [];
    for (const attempt of attempts) {
      const pause = slices?.next(attempt.bytes);
      if (pause) await pause;
      const draft = this.draftOf(attempt);
      if (draft) drafted.push({ attempt, draft });
    }
    if (drafted.length === 0) return;
    const results = await validateAll(
      this.deps.rules,
      drafted.map(({ attempt: { current }, draft }) => ({ draft, ...(current && { previous: current }) })),
    );
    each(drafted, results, ({ attempt }, result) => {
      if (result instanceof AppError) attempt.refusal = result;
      else attempt.fields = result;
    });
    const refused = attempts.filter(({ refusal }) => refusal);
    // The record of a rival that succeeded meanwhile may refer to another that was deleted since.
    if (refused.length > 0) await this.findReservations(refused.filter(isKeyed));
    for (const attempt of refused) attempt.outcome ??= attempt.refusal;
    for (const attempt of attempts) {
      const { current, fields, write } = attempt;
      if (!current || fields === undefined) continue;
      if (write.complete) attempt.fields = await write.complete(fields, current);
      if (!isDeepStrictEqual(attempt.fields, current.fields)) this.change(attempt, 'replace');
    }
  }

  /** @returns undefined if the attempt needs none for its outcome, or its step */
  private draftOf(attempt: Attempt<Fields>): Draft<Fields> | undefined {
    const { current, write } = attempt;
    const { precondition = ANY_VERSION, mustExist, isDeletion } = write;
    const { field, versionNeeded } = this.by ?? {};
    if (!current) {
      if (isDeletion) attempt.outcome = { kind: 'absent' };
      else if (mustExist || field === 'id') attempt.outcome = notFound();
      else attempt.step = 'insert';
    } else if (!isMet(precondition, current.version)) attempt.outcome = new PreconditionFailed(current);
    else if (isDeletion || versionNeeded?.by === 'all') this.change(attempt, isDeletion ? 'remove' : 'confirm');
    else attempt.step = 'confirm';
    return isOpen(attempt) && !isDeletion ? write.draft(current) : undefined;
  }

  /** Refuses a write that has no version although it needs one. */
  private change(attempt: Attempt<Fields>, step: Step): void {
    const versionNeeded = this.by?.versionNeeded;
    if (!versionNeeded || attempt.write.mustExist) attempt.step = step;
    else attempt.outcome = versionRequired(versionNeeded.in);
  }

  /** An id whose reservation came too late is not used again: it would come out of order. */
  private async reserve(attempts: readonly Keyed<Fields>[]): Promise<void> {
    const keyed = attempts.filter((attempt) => isOpen(attempt) && !isReserved(attempt));
    if (keyed.length === 0) return;
    const ids = await this.deps.ids.take(keyed.length);
    const now = this.deps.clock.now();
    const own: Reservation[] = [];
    each(keyed, ids, ({ write, fields }, id) => {
      const { key, fingerprint, storesFields } = write.idempotency;
      const stored = storesFields && { fields: JSON.stringify(fields) };
      own.push({ key, fingerprint, id, reservedAt: now, ...stored });
    });
    const existing = await this.deps.reservations.reserve(own);
    for (const attempt of keyed) {
      const made = existing.get(attempt.write.idempotency.key);
      attempt.attach(made);
      attempt.reservedAt = made?.reservedAt;
    }
  }

  private async write(attempts: Attempts<Fields>): Promise<void> {
    const step = attempts[0]?.step;
    if (!step) return;
    const own = attempts.filter((attempt) => attempt.step === step);
    const others = attempts.filter((attempt) => attempt.step !== step);
    if (others.length === 0) await this[step](own);
    else await Promise.all([this[step](own), this.write(others)]);
    const refused = own.filter(isDuplicate);
    if (refused.length > 0) await this.nameOwners(refused);
  }

  /** A record with the key was not there when it was looked up. If it is now, the race is lost. */
  private async insert(attempts: Attempts<Fields>): Promise<void> {
    const { ids, records, clock } = this.deps;
    const unreserved = attempts.filter((attempt) => !isReserved(attempt));
    const free = unreserved.length > 0 ? await ids.take(unreserved.length) : [];
    each(unreserved, free, (attempt, id) => attempt.makeRecord(id, clock.now()));
    for (const attempt of attempts.filter(isReserved)) attempt.makeRecord(attempt.reservation.id, clock.now());
    const created = attempts.map(recordOf);
    const outcomes = await records.insertAll(created);
    const unused: Id[] = [];
    each(attempts, outcomes, (attempt, outcome) => {
      const record = recordOf(attempt);
      if (outcome === 'inserted') attempt.outcome = { kind: 'created', record };
      else if (outcome instanceof AppError) {
        if (!isReserved(attempt)) unused.push(record.id);
        const isLostRace = outcome instanceof DuplicateValue && outcome.field === this.by?.field;
        if (!isLostRace) attempt.outcome = outcome;
      } else if (isReserved(attempt)) attempt.replay(attempt.reservation);
      else throw new Error(`The store assigned the id ${record.id} twice.`);
    });
    ids.giveBack?.(unused);
  }

  private async replace(attempts: Attempts<Fields>): Promise<void> {
    const { records, clock } = this.deps;
    const replacements = attempts.map((attempt) => {
      const { version: expected, fields: before } = currentOf(attempt);
      attempt.record = nextVersion(currentOf(attempt), attempt.fields as Fields, clock.now());
      return { record: attempt.record, expected, before };
    });
    each(attempts, await records.replaceAll(replacements), (attempt, outcome) => {
      if (outcome === 'replaced') attempt.outcome = { kind: 'changed', record: recordOf(attempt) };
      else if (outcome !== 'version_conflict') attempt.outcome = outcome;
    });
  }

  private async remove(attempts: Attempts<Fields>): Promise<void> {
    const { records, clock } = this.deps;
    const removals = attempts.map(currentOf).map((current) => {
      const at = timeOfDeletion(current, clock.now());
      return { id: current.id, expected: current.version, at };
    });
    each(attempts, await records.removeAll(removals), (attempt, isRemoved) => {
      if (isRemoved) attempt.outcome = { kind: 'deleted', record: currentOf(attempt) };
    });
  }

  private async confirm(attempts: Attempts<Fields>): Promise<void> {
    const confirmed = await this.deps.records.confirmAll(attempts.map(currentOf));
    each(attempts, confirmed, (attempt, isNewest) => {
      if (isNewest) attempt.outcome = { kind: 'unchanged', record: currentOf(attempt) };
    });
  }

  /** Names in each error the other record, unless it has lost the value meanwhile, or is that of a dry run. */
  private async nameOwners(refused: readonly Duplicate<Fields>[]): Promise<void> {
    for (const field of new Set(refused.map(({ outcome }) => outcome.field))) {
      const rivals = refused.filter(({ outcome }) => outcome.field === field);
      const values = rivals.map((rival) => fieldValue(recordOf(rival), field) as Value);
      each(rivals, await this.deps.records.findAllByUnique(field, values), (rival, owner) => {
        const isOther = owner && owner.id !== recordOf(rival).id && !isDryRunId(owner.id);
        if (isOther) rival.outcome = rival.outcome.ownedBy(owner.id);
      });
    }
  }
}

/**
 * What a write does in the store. `confirm`: the record stays as it is, and the store confirms that it is the newest
 * version.
 */
type Step = 'insert' | 'replace' | 'remove' | 'confirm';

type Attempts<Fields> = readonly Attempt<Fields>[];

/** One write on its way to an outcome. */
class Attempt<Fields> {
  /** How many races it has lost. */
  losses = 0;
  /** The record that has the key. */
  current: Versioned<Fields> | undefined;
  step: Step | undefined;
  /** The valid fields. */
  fields: Fields | undefined;
  /** Why the fields are not valid. */
  refusal: AppError | undefined;
  /** The reservation under its idempotency key. */
  reservation: Reservation | undefined;
  /** The record to store. */
  record: Versioned<Fields> | undefined;
  outcome: WriteOutcome<Fields> | undefined;
  /** The outcome of an attempt that others hold up. */
  rest: Promise<WriteOutcome<Fields>> | undefined;
  private failure: { readonly error: unknown } | undefined;
  /** The time of the reservation, if this attempt or a rival has just made it. */
  reservedAt: Instant | undefined;

  /** @param number its place among all writes of the writer */
  constructor(
    readonly write: RecordWrite<Fields>,
    readonly number: number,
  ) {}

  get isOpen(): boolean {
    return this.outcome === undefined && this.failure === undefined;
  }

  /** What is read to plan the write, in bytes: a short line may change a long record. */
  get bytes(): number {
    return (this.write.bytes ?? 0) + (this.current ? StoredRecord.of(this.current).fieldsBytes : 0);
  }

  begin(found: Versioned<Fields> | undefined): void {
    this.current = found;
    this.step = undefined;
    this.fields = undefined;
    this.refusal = undefined;
  }

  /** @throws what {@link fail} got */
  result(): MaybePromise<WriteOutcome<Fields>> {
    if (this.failure) throw this.failure.error;
    const result = this.outcome ?? this.rest;
    if (!result) throw new Error('A write has no outcome.');
    return result;
  }

  /** @param round resolves when the next round ends */
  awaitRest(round: Promise<void>): void {
    this.rest = round.then(() => this.result());
    this.rest.catch(() => {});
  }

  /** An error of the store is the outcome of a write that is still open. */
  fail(error: unknown): void {
    if (!this.isOpen) return;
    if (error instanceof AppError) this.outcome = error;
    else this.failure = { error };
  }

  /** Takes the reservation under its key. A reservation of another body ends the attempt. */
  attach(existing: Reservation | undefined): void {
    if (!existing) return;
    if (existing.fingerprint === this.write.idempotency?.fingerprint) this.reservation = existing;
    else this.outcome = keyReused();
  }

  /**
   * A record has the time of its reservation if that was just made, so a replay shows the same time. It is never older
   * than its reservation, so that its tombstone outlives the reservation even if the clock was set back between.
   */
  makeRecord(id: Id, now: Instant): void {
    this.record = this.recordWith(id, this.reservedAt ?? Math.max(now, this.reservation?.reservedAt ?? now));
  }

  /** Another attempt has created the record of this reservation. */
  replay({ id, reservedAt }: Reservation): void {
    this.outcome = { kind: 'replayed', record: this.recordWith(id, reservedAt) };
  }

  /**
   * With the fields of the first response if the reservation has them: the same body may have another order of members.
   */
  private recordWith(id: Id, createdAt: Instant): Versioned<Fields> {
    const stored = this.reservation?.fields;
    if (stored !== undefined) return StoredRecord.fromJson(id, 1, createdAt, createdAt, stored);
    const fields = this.fields ?? (this.write.draft()?.fields as Fields);
    return StoredRecord.of({ id, version: 1, createdAt, updatedAt: createdAt, fields });
  }
}

type Keyed<Fields> = Attempt<Fields> & { readonly write: { readonly idempotency: IdempotentRequest } };
type Duplicate<Fields> = Attempt<Fields> & { outcome: DuplicateValue };

function isOpen({ isOpen }: Pick<Attempt<unknown>, 'isOpen'>): boolean {
  return isOpen;
}

function isKeyed<Fields>(attempt: Attempt<Fields>): attempt is Keyed<Fields> {
  return attempt.write.idempotency !== undefined;
}

/** Whether a reservation determines the id of the record. */
function isReserved<Each extends Pick<Attempt<unknown>, 'reservation'>>(
  attempt: Each,
): attempt is Each & { readonly reservation: Reservation } {
  return attempt.reservation !== undefined;
}

function isDuplicate<Fields>(attempt: Attempt<Fields>): attempt is Duplicate<Fields> {
  return attempt.outcome instanceof DuplicateValue;
}

function currentOf<Fields>({ current }: Attempt<Fields>): Versioned<Fields> {
  return current as Versioned<Fields>;
}

function recordOf<Fields>({ record }: Attempt<Fields>): Versioned<Fields> {
  return record as Versioned<Fields>;
}

/** @throws Error if an adapter returned another number of results */
function each<Item, Result>(
  items: readonly Item[],
  results: readonly Result[],
  use: (item: Item, result: Result) => void,
): void {
  if (results.length !== items.length)
    throw new Error(`A store returned ${results.length} results for ${items.length} writes.`);
  for (const [at, item] of items.entries()) use(item, results[at] as Result);
}
