import { isDeepStrictEqual } from 'node:util';
import {
  AppError,
  DuplicateValue,
  notFound,
  PreconditionFailed,
  versionRequired,
} from '../../domain/errors.js';
import { type FieldSpecs, uniqueFields } from '../../domain/fields.js';
import type { Id, Versioned } from '../../domain/record.js';
import type { MaybePromise } from '../../shared/maybe-promise.js';
import { Slices, type Turn } from '../../shared/turn.js';
import type { Backoff } from '../ports/backoff.js';
import type { Clock } from '../ports/clock.js';
import type { Value } from '../ports/list-query.js';
import type { Repository } from '../ports/repository.js';
import { type RefusedRecord, withOwners } from './duplicate-owners.js';
import type { IdPool } from './id-allocator.js';
import { comparedUniqueValue } from './query-semantics.js';
import {
  changedDraft,
  type Draft,
  isWithoutEffect,
  type MergeOrReplacement,
  newDraft,
  type RecordFormat,
  type SentRecord,
  untouchedDraft,
  withIssuesOfText,
} from './record-format.js';
import { StoredRecord } from './record-json.js';
import { type RecordRules, validateAll } from './record-validator.js';
import {
  isMet,
  MAX_ATTEMPTS,
  nextVersion,
  type Precondition,
  timeOfDeletion,
  tooManyRaces,
} from './versions.js';

/*
 * A write by key takes these steps. No step needs a transaction over several records, in any store.
 *
 * | step       | what decides                            | who loses a race                                       |
 * |------------|-----------------------------------------|--------------------------------------------------------|
 * | 1 look up  | the value of the unique field           |                                                        |
 * | 2 plan     | precondition, then the rules            |                                                        |
 * | 3 write    | the unique index for a new record, the  | begins again with step 1 after a pause, until          |
 * |            | version for one that exists             | MAX_ATTEMPTS are lost; then it is `unavailable`        |
 *
 * A write that pauses holds up only later writes of the same values.
 */

/** How records are found, and what happens to those that are. */
export interface MatchPolicy {
  /** `id`, or a unique field. */
  readonly field: string;
  /** What a write does to a record that has its key: RFC 7396, a replacement as by PUT, or nothing. */
  readonly existing: 'merge' | 'replace' | 'skip';
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

/** What is written under a key. */
export interface KeyedWrite {
  /** The value of the field by which records are found. It is a valid one. */
  readonly key: Value;
  readonly precondition: Precondition;
  /** Whether a record must have the key. */
  readonly mustExist: boolean;
  /**
   * Returns the record as it was sent.
   * @param stored the record that has the key
   */
  readonly sent: (stored?: Versioned<unknown>) => SentRecord;
  /** Whether the record is deleted, whatever else was sent. */
  readonly isDeletion: boolean;
  /** The length of what was sent, in bytes. */
  readonly bytes: number;
}

export type MatchOutcome<Fields> =
  | { readonly kind: 'created' | 'changed' | 'unchanged'; readonly record: Versioned<Fields> }
  /** `absent`: there was nothing to delete. */
  | { readonly kind: 'deleted' | 'absent' }
  /**
   * `not_found`, `precondition_failed`, `precondition_required`, `validation_failed`, `duplicate_value`, or
   * `unavailable` after too many lost races
   */
  | AppError;

export interface MatchDependencies<Fields> {
  readonly records: Pick<
    Repository<Fields>,
    'findAllByUnique' | 'insertAll' | 'replaceAll' | 'removeAll' | 'confirmAll'
  > & {
    /** Why a write by a key is refused without a look at the record. Absent: none is. */
    refusal?(field: string, key: Value): AppError | undefined;
  };
  readonly ids: IdPool;
  readonly clock: Clock;
  readonly backoff: Backoff;
  /** The version of the API whose clients are served. */
  readonly view: RecordFormat<Fields>;
  readonly rules: RecordRules<Fields>;
  /** The indexed fields. */
  readonly fields: FieldSpecs;
}

/** Creates, changes and deletes records that are found by the value of a unique field. */
export class RecordMatcher<Fields> {
  private readonly uniqueFields: readonly string[];
  /** The last of the writes that wait for a value, by the value. */
  private readonly waiting = new Map<Value, Attempt<Fields>>();
  private begun = 0;

  constructor(
    private readonly deps: MatchDependencies<Fields>,
    private readonly policy: MatchPolicy,
  ) {
    this.uniqueFields = uniqueFields(deps.fields);
  }

  /**
   * Carries out the writes as if one after the other. Each is one atomic compare-and-write: none loses the update of
   * another writer, and no two records get one key.
   * @param writes so many as one commit may hold
   * @param turn whose work it is, which gives way to other work in between; absent for a single write
   * @returns the outcomes, in order
   * @throws AppError `unavailable`: some of them may have been carried out; a repeat is harmless
   */
  async writeAll(writes: readonly KeyedWrite[], turn?: Turn): Promise<readonly MatchOutcome<Fields>[]> {
    return Promise.all(await this.startAll(writes, turn));
  }

  /**
   * As {@link writeAll}, but does not wait for writes that have lost a race, nor for those that must follow them. Await
   * each call before the next one, whose writes follow.
   */
  async startAll(
    writes: readonly KeyedWrite[],
    turn?: Turn,
  ): Promise<readonly MaybePromise<MatchOutcome<Fields>>[]> {
    const attempts = writes.map((write) => new Attempt<Fields>(write, this.begun++));
    try {
      for (const part of withoutRepetition(attempts, ({ write }) => [this.comparedKey(write)]))
        await this.settle(part, turn);
    } catch (error) {
      for (const attempt of attempts) attempt.fail(error);
      throw error;
    }
    return attempts.map((attempt) => attempt.outcome ?? attempt.settled());
  }

  private comparedKey({ key }: KeyedWrite): Value {
    return this.compared(this.policy.field, key);
  }

  /** The value as the unique index compares it. */
  private compared(field: string, value: Value): Value {
    return comparedUniqueValue(this.deps, field, value);
  }

  /** @param attempts with different keys */
  private async settle(attempts: readonly Attempt<Fields>[], turn?: Turn): Promise<void> {
    const free = this.freeOf(attempts, turn);
    if (free.length === 0) return;
    const found = await this.deps.records.findAllByUnique(
      this.policy.field,
      free.map(({ write }) => write.key),
    );
    for (const [at, attempt] of free.entries()) {
      attempt.begin(found[at]);
      const refusal = this.deps.records.refusal?.(this.policy.field, attempt.write.key);
      if (refusal) attempt.outcome = refusal;
    }
    await this.plan(free.filter(isOpen), turn);
    for (const part of withoutRepetition(free.filter(isOpen), (attempt) => this.valuesTouchedBy(attempt))) {
      const lost = await this.write(this.freeOf(part, turn));
      if (lost.length > 0) this.repeat(lost, turn);
    }
  }

  /** Leaves out the attempts that follow one which waits, and settles them after it. */
  private freeOf(attempts: readonly Attempt<Fields>[], turn?: Turn): Attempt<Fields>[] {
    if (this.waiting.size === 0) return attempts.filter(isOpen);
    return attempts.filter(isOpen).filter((attempt) => {
      const earlier = this.valuesTouchedBy(attempt)
        .map((value) => this.waiting.get(value))
        .filter((other) => other !== undefined && isOpen(other) && other.number < attempt.number);
      if (earlier.length === 0) return true;
      this.settleAfter(Promise.allSettled(earlier.map((other) => other?.settled())), [attempt], turn);
      return false;
    });
  }

  private repeat(lost: readonly Attempt<Fields>[], turn?: Turn): void {
    for (const attempt of lost) if (++attempt.losses === MAX_ATTEMPTS) attempt.outcome = tooManyRaces();
    const open = lost.filter(isOpen);
    const losses = Math.max(...open.map((attempt) => attempt.losses));
    if (open.length > 0) this.settleAfter(this.deps.backoff.pause(losses), open, turn);
  }

  private settleAfter(pause: Promise<unknown>, attempts: readonly Attempt<Fields>[], turn?: Turn): void {
    for (const attempt of attempts)
      for (const value of this.valuesTouchedBy(attempt)) {
        const other = this.waiting.get(value);
        if (!other || other.number < attempt.number) this.waiting.set(value, attempt);
      }
    pause
      .then(() => this.settle(attempts, turn))
      .catch((error) => {
        for (const attempt of attempts) attempt.fail(error);
      })
      .then(() => {
        for (const [value, attempt] of this.waiting) if (!isOpen(attempt)) this.waiting.delete(value);
      });
  }

  /**
   * The unique values that a write takes or gives up, and its key. A write that takes what an earlier one gives up has
   * to come after it, and the other way round.
   */
  private valuesTouchedBy({ write, current, fields }: Attempt<Fields>): Value[] {
    const touched = [this.comparedKey(write)];
    for (const field of this.uniqueFields) {
      for (const holder of [current?.fields, fields]) {
        const value = (holder as Readonly<Record<string, Value>> | undefined)?.[field];
        // An id is a number, and other unique values are texts.
        if (value !== undefined) touched.push(this.compared(field, value));
      }
    }
    return touched;
  }

  /** Gives each attempt an outcome, or the step that is next. */
  private async plan(attempts: readonly Attempt<Fields>[], turn: Turn | undefined): Promise<void> {
    const slices = turn && new Slices(turn);
    const drafted: { readonly attempt: Attempt<Fields>; readonly draft: Draft<Fields> }[] = [];
    for (const attempt of attempts) {
      const pause = slices?.next(attempt.bytes);
      if (pause) await pause;
      const draft = attempt.current ? this.changeOf(attempt, attempt.current) : this.creationOf(attempt);
      if (draft) drafted.push({ attempt, draft });
    }
    if (drafted.length === 0) return;
    const results = await validateAll(
      this.deps.rules,
      drafted.map(({ attempt: { current }, draft }) => ({ draft, ...(current && { previous: current }) })),
    );
    for (const [at, { attempt }] of drafted.entries())
      this.validated(attempt, required(results[at], 'validation'));
  }

  /** @returns the draft of a new record, unless none is created */
  private creationOf(attempt: Attempt<Fields>): Draft<Fields> | undefined {
    const { isDeletion, mustExist, sent } = attempt.write;
    if (isDeletion) attempt.outcome = { kind: 'absent' };
    else if (mustExist || this.policy.field === 'id') attempt.outcome = notFound();
    else {
      const { body, issues } = sent();
      attempt.step = 'insert';
      return withIssuesOfText(newDraft(this.deps.view, body), issues);
    }
    return undefined;
  }

  /** @returns the draft of the changed record, unless it stays as it is or is deleted */
  private changeOf(attempt: Attempt<Fields>, current: Versioned<Fields>): Draft<Fields> | undefined {
    const { view } = this.deps;
    const { isDeletion, precondition, sent } = attempt.write;
    if (!isMet(precondition, current.version)) attempt.outcome = new PreconditionFailed(current);
    else if (this.policy.versionNeeded?.by === 'all' && this.isVersionMissing(attempt)) return undefined;
    else if (isDeletion) this.change(attempt, 'remove');
    else {
      const { body, issues } = sent(current);
      if (this.policy.existing === 'skip') return untouchedDraft(body, current);
      const change = this.changeTo(body);
      if (issues.size === 0 && isWithoutEffect(view, change, current)) attempt.step = 'confirm';
      else return withIssuesOfText(changedDraft(view, change, current), issues);
    }
    return undefined;
  }

  private changeTo(body: unknown): MergeOrReplacement {
    return { kind: this.policy.existing === 'replace' ? 'replacement' : 'merge-patch', body };
  }

  private validated(attempt: Attempt<Fields>, result: Fields | AppError): void {
    if (result instanceof AppError) {
      attempt.outcome = result;
      return;
    }
    attempt.fields = result;
    if (attempt.step === 'insert') return;
    if (isDeepStrictEqual(result, attempt.current?.fields)) attempt.step = 'confirm';
    else this.change(attempt, 'replace');
  }

  private change(attempt: Attempt<Fields>, step: 'replace' | 'remove'): void {
    if (!this.isVersionMissing(attempt)) attempt.step = step;
  }

  /** Whether a write lacks the version that it needs. It is refused then. */
  private isVersionMissing(attempt: Attempt<Fields>): boolean {
    const { versionNeeded } = this.policy;
    if (!versionNeeded || attempt.write.mustExist) return false;
    attempt.outcome = versionRequired(versionNeeded.in);
    return true;
  }

  /** @returns the attempts that lost a race */
  private async write(attempts: readonly Attempt<Fields>[]): Promise<readonly Attempt<Fields>[]> {
    const of = (wanted: Step) => attempts.filter(({ step }) => step === wanted);
    const [refusedInsertions, refusedChanges] = await Promise.all([
      this.insert(of('insert')),
      this.replace(of('replace')),
      this.remove(of('remove')),
      this.confirm(of('confirm')),
    ]);
    await this.refuse([...refusedInsertions, ...refusedChanges]);
    return attempts.filter(isOpen);
  }

  /** A record with the key was not there when it was looked up. If it is now, the race is lost. */
  private async insert(attempts: readonly Attempt<Fields>[]): Promise<Refusals<Fields>> {
    if (attempts.length === 0) return [];
    const { ids, records, clock } = this.deps;
    const taken = await ids.take(attempts.length);
    const created = attempts.map(({ fields }, at) => {
      const now = clock.now();
      const id = required(taken[at], 'id');
      return StoredRecord.of({ id, version: 1, createdAt: now, updatedAt: now, fields: fields as Fields });
    });
    const outcomes = await records.insertAll(created);
    const refusals: Refusal<Fields>[] = [];
    const unused: Id[] = [];
    for (const [at, attempt] of attempts.entries()) {
      const record = required(created[at], 'record');
      const outcome = required(outcomes[at], 'outcome');
      if (outcome === 'id_conflict') throw new Error(`The store assigned the id ${record.id} twice.`);
      if (outcome === 'inserted') attempt.outcome = { kind: 'created', record };
      else {
        unused.push(record.id);
        if (!(outcome instanceof DuplicateValue && outcome.field === this.policy.field))
          refusals.push({ attempt, record, error: outcome });
      }
    }
    ids.giveBack?.(unused);
    return refusals;
  }

  private async replace(attempts: readonly Attempt<Fields>[]): Promise<Refusals<Fields>> {
    if (attempts.length === 0) return [];
    const { records, clock } = this.deps;
    const replacements = attempts.map(({ current, fields }) => {
      const old = required(current, 'record');
      const record = nextVersion(old, fields as Fields, clock.now());
      return { record, expected: old.version, before: old.fields };
    });
    const outcomes = await records.replaceAll(replacements);
    const refusals: Refusal<Fields>[] = [];
    for (const [at, attempt] of attempts.entries()) {
      const { record } = required(replacements[at], 'record');
      const outcome = required(outcomes[at], 'outcome');
      if (outcome === 'replaced') attempt.outcome = { kind: 'changed', record };
      else if (outcome !== 'version_conflict') refusals.push({ attempt, record, error: outcome });
    }
    return refusals;
  }

  private async remove(attempts: readonly Attempt<Fields>[]): Promise<void> {
    if (attempts.length === 0) return;
    const { records, clock } = this.deps;
    const removed = await records.removeAll(
      attempts.map(({ current }) => {
        const old = required(current, 'record');
        return { id: old.id, expected: old.version, at: timeOfDeletion(old, clock.now()) };
      }),
    );
    for (const [at, attempt] of attempts.entries()) if (removed[at]) attempt.outcome = { kind: 'deleted' };
  }

  private async confirm(attempts: readonly Attempt<Fields>[]): Promise<void> {
    if (attempts.length === 0) return;
    const current = attempts.map((attempt) => required(attempt.current, 'record'));
    const confirmed = await this.deps.records.confirmAll(current);
    for (const [at, attempt] of attempts.entries())
      if (confirmed[at]) attempt.outcome = { kind: 'unchanged', record: required(current[at], 'record') };
  }

  private async refuse(refusals: Refusals<Fields>): Promise<void> {
    for (const { attempt, error } of refusals) attempt.outcome = error;
    const duplicates = refusals.filter(
      (refusal): refusal is Refusal<Fields> & RefusedRecord => refusal.error instanceof DuplicateValue,
    );
    const named = await withOwners(this.deps.records, duplicates);
    for (const [at, { attempt }] of duplicates.entries()) attempt.outcome = required(named[at], 'error');
  }
}

/**
 * What a write does in the store. `confirm`: the record stays as it is, and the store confirms that it is the newest
 * version.
 */
type Step = 'insert' | 'replace' | 'remove' | 'confirm';

/** One write on its way to an outcome. */
class Attempt<Fields> {
  /** How many races it has lost. */
  losses = 0;
  /** The record that has the key. */
  current: Versioned<Fields> | undefined;
  step: Step | undefined;
  /** The fields to store. */
  fields: Fields | undefined;

  private result: MatchOutcome<Fields> | undefined;
  private failure: Promise<never> | undefined;
  private end: Promise<MatchOutcome<Fields>> | undefined;
  private announce: ((end: MaybePromise<MatchOutcome<Fields>>) => void) | undefined;

  /** @param number its place among all writes of the matcher */
  constructor(
    readonly write: KeyedWrite,
    readonly number: number,
  ) {}

  get outcome(): MatchOutcome<Fields> | undefined {
    return this.result;
  }

  set outcome(outcome: MatchOutcome<Fields>) {
    this.result = outcome;
    this.announce?.(outcome);
  }

  get isOpen(): boolean {
    return this.result === undefined && this.failure === undefined;
  }

  /** Returns the outcome, once there is one. */
  settled(): Promise<MatchOutcome<Fields>> {
    if (this.failure) return this.failure;
    this.end ??= new Promise((resolve) => {
      this.announce = resolve;
    });
    return this.end;
  }

  /** An error of the store is the outcome of a write that is still open. */
  fail(error: unknown): void {
    if (!this.isOpen) return;
    if (error instanceof AppError) this.outcome = error;
    else {
      this.failure = Promise.reject(error);
      this.failure.catch(() => {});
      this.announce?.(this.failure);
    }
  }

  /** What is read to plan the write, in bytes: a short line may change a long record. */
  get bytes(): number {
    return this.write.bytes + (this.current ? StoredRecord.of(this.current).fieldsBytes : 0);
  }

  /** Begins a round. */
  begin(found: Versioned<Fields> | undefined): void {
    this.current = found;
    this.step = undefined;
    this.fields = undefined;
  }
}

function isOpen({ isOpen }: Pick<Attempt<unknown>, 'isOpen'>): boolean {
  return isOpen;
}

interface Refusal<Fields> {
  readonly attempt: Attempt<Fields>;
  readonly record: Versioned<Fields>;
  readonly error: AppError;
}

type Refusals<Fields> = readonly Refusal<Fields>[];

/** Cuts a sequence before each item that has a value of an earlier one of the same part. */
function withoutRepetition<Item>(
  items: readonly Item[],
  valuesOf: (item: Item) => readonly Value[],
): Item[][] {
  const parts: Item[][] = [];
  let part: Item[] = [];
  let seen = new Set<Value>();
  for (const item of items) {
    const values = valuesOf(item);
    if (values.some((value) => seen.has(value))) {
      parts.push(part);
      part = [];
      seen = new Set();
    }
    part.push(item);
    for (const value of values) seen.add(value);
  }
  if (part.length > 0) parts.push(part);
  return parts;
}

/** @throws Error if an adapter returned no result for a write */
function required<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Error(`A write has no ${what}.`);
  return value;
}
