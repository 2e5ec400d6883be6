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
import { isMet, nextVersion, type Precondition, timeOfDeletion, tooManyRaces } from './versions.js';

/*
 * A write by key takes these steps. No step needs a transaction over several records, in any store.
 *
 * | step       | what decides                            | who loses a race                                       |
 * |------------|-----------------------------------------|--------------------------------------------------------|
 * | 1 look up  | the value of the unique field           |                                                        |
 * | 2 plan     | precondition, then the rules            |                                                        |
 * | 3 write    | the unique index for a new record, the  | begins again with step 1, at most MAX_ROUNDS times,    |
 * |            | version for one that exists             | then it is `unavailable`                               |
 */

/** A write by key is given up after it loses this many races in a row. Nothing is written then. */
export const MAX_ROUNDS = 8;

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
  >;
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
    const attempts = writes.map((write) => new Attempt<Fields>(write));
    for (const part of withoutRepetition(attempts, ({ write }) => [this.comparedKey(write)]))
      await this.settle(part, turn);
    return attempts.map(({ outcome }) => required(outcome, 'outcome'));
  }

  private comparedKey({ key }: KeyedWrite): Value {
    return this.compared(this.policy.field, key);
  }

  /** The value as the unique index compares it. */
  private compared(field: string, value: Value): Value {
    return comparedUniqueValue(this.deps, field, value);
  }

  /** @param attempts with different keys */
  private async settle(attempts: readonly Attempt<Fields>[], turn?: Turn, round = 1): Promise<void> {
    if (round > MAX_ROUNDS) {
      for (const attempt of attempts) attempt.outcome = tooManyRaces();
      return;
    }
    if (round > 1) await this.deps.backoff.pause(round - 1);
    const found = await this.deps.records.findAllByUnique(
      this.policy.field,
      attempts.map(({ write }) => write.key),
    );
    for (const [at, attempt] of attempts.entries()) attempt.begin(found[at]);
    await this.plan(attempts, turn);
    const open = attempts.filter(({ outcome }) => outcome === undefined);
    for (const part of withoutRepetition(open, (attempt) => this.valuesTouchedBy(attempt))) {
      const lost = await this.write(part);
      if (lost.length > 0) await this.settle(lost, turn, round + 1);
    }
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
    return attempts.filter(({ outcome }) => outcome === undefined);
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
  outcome: MatchOutcome<Fields> | undefined;
  /** The record that has the key. */
  current: Versioned<Fields> | undefined;
  step: Step | undefined;
  /** The fields to store. */
  fields: Fields | undefined;

  constructor(readonly write: KeyedWrite) {}

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
