import { AppError, DuplicateValue } from '../../domain/errors.js';
import type { Id, Instant, Versioned } from '../../domain/record.js';
import type { Clock } from '../ports/clock.js';
import type { IdempotencyStore, Reservation } from '../ports/idempotency-store.js';
import type { InsertOutcome, Repository } from '../ports/repository.js';
import { withOwners } from './duplicate-owners.js';
import type { IdPool } from './id-allocator.js';
import { type IdempotentRequest, keyReused } from './idempotency.js';
import type { Draft } from './record-format.js';
import { StoredRecord } from './record-json.js';

/*
 * Creating a record takes five steps. Each step handles the attempts without an outcome that match its second column.
 *
 * | step                | for          | afterwards the attempt knows   | the attempt ends as                     |
 * |---------------------|--------------|--------------------------------|-----------------------------------------|
 * | 1 find reservations | with a key   | an earlier try's reservation   | replay (its id is used), key reused     |
 * | 2 validate          | all          | its fields, or its refusal     |                                         |
 * | 3 refuse            | with refusal |                                | as in step 1, else the refusal          |
 * | 4 reserve           | key, no id   | its own or a rival reservation | key reused                              |
 * | 5 insert            | all          |                                | created, replay (the id is used), error |
 *
 * A key reserves an id, and the record is created under that id. An id is never used twice, not even after a deletion.
 * So the insertion alone decides which attempt creates the record, and nothing has to be done after it. A process may
 * die between any two steps: another attempt with the same key finds the reservation and ends with the same id.
 */

/** A record to create, and the idempotency of its request. */
export interface Creation<Fields> {
  readonly draft: Draft<Fields>;
  /** Absent if each request creates its own record. */
  readonly idempotency?: IdempotentRequest | undefined;
}

export interface Created<Fields> {
  /** With the fields that it was created with. The times of a replay are those of the reservation. */
  readonly record: Versioned<Fields>;
  /** Whether another attempt, or another request, created the record. */
  readonly isReplay: boolean;
}

/** A refusal is not stored: another attempt with the same key may succeed. */
export type CreationOutcome<Fields> = Created<Fields> | AppError;

export interface CreationDependencies<Fields> {
  readonly records: Pick<Repository<Fields>, 'insertAll' | 'findUsedIds' | 'findAllByUnique'>;
  readonly reservations: IdempotencyStore;
  readonly ids: IdPool;
  readonly clock: Clock;
  /** Returns for each draft the fields to store, or an error with every issue. */
  readonly validate: (drafts: readonly Draft<Fields>[]) => Promise<readonly (Fields | AppError)[]>;
}

/**
 * Creates records. Those under an idempotency key are created exactly once, even if a request is sent twice or a
 * process dies at any moment.
 */
export class RecordCreator<Fields> {
  constructor(private readonly deps: CreationDependencies<Fields>) {}

  /** Each creation is independent: one that is refused stops no other. */
  async createAll(creations: readonly Creation<Fields>[]): Promise<readonly CreationOutcome<Fields>[]> {
    const attempts = creations.map((creation) => new Attempt(creation));
    const open = () => attempts.filter(({ outcome }) => outcome === undefined);
    const keyed = attempts.filter(isKeyed);
    if (keyed.length > 0) await this.findReservations(keyed);
    await this.validate(open());
    if (attempts.some(({ refusal }) => refusal)) await this.refuse(open().filter(({ refusal }) => refusal));
    if (keyed.length > 0) await this.reserve(open().filter(isKeyed));
    await this.insert(open());
    return attempts.map(({ outcome }) => required(outcome, 'outcome'));
  }

  /** Step 1. It comes before validation, because the same body may be invalid by now. */
  private async findReservations(attempts: readonly Keyed<Fields>[]): Promise<void> {
    if (attempts.length === 0) return;
    const { reservations, records } = this.deps;
    const existing = await reservations.find(attempts.map(({ idempotency }) => idempotency.key));
    for (const attempt of attempts) attempt.attach(existing.get(attempt.idempotency.key));
    const reserved = attempts.filter(isReserved);
    if (reserved.length === 0) return;
    const used = await records.findUsedIds(reserved.map(({ reservation }) => reservation.id));
    for (const attempt of reserved) if (used.has(attempt.reservation.id)) attempt.replay(attempt.reservation);
  }

  /** Step 2 */
  private async validate(attempts: readonly Attempt<Fields>[]): Promise<void> {
    if (attempts.length === 0) return;
    const results = await this.deps.validate(attempts.map(({ draft }) => draft));
    for (const [at, attempt] of attempts.entries()) attempt.validated(required(results[at], 'validation'));
  }

  /**
   * Step 3. Looks again for a rival that succeeded meanwhile: its record may refer to another that was deleted since,
   * which is why this attempt is refused.
   */
  private async refuse(attempts: readonly Attempt<Fields>[]): Promise<void> {
    await this.findReservations(attempts.filter(isKeyed));
    for (const attempt of attempts) attempt.outcome ??= attempt.refusal;
  }

  /** Step 4. An id whose reservation came too late is not used again: it would come out of order. */
  private async reserve(keyed: readonly Keyed<Fields>[]): Promise<void> {
    const attempts = keyed.filter((attempt) => !isReserved(attempt));
    if (attempts.length === 0) return;
    const ids = await this.deps.ids.take(attempts.length);
    const now = this.deps.clock.now();
    const own = attempts.map((attempt, at) => attempt.newReservation(required(ids[at], 'id'), now));
    const existing = await this.deps.reservations.reserve(own);
    for (const attempt of attempts)
      attempt.reserved(required(existing.get(attempt.idempotency.key), 'reservation'));
  }

  /** Step 5 */
  private async insert(attempts: readonly Attempt<Fields>[]): Promise<void> {
    if (attempts.length === 0) return;
    const { ids, clock, records } = this.deps;
    const unreserved = attempts.filter(({ reservation }) => !reservation);
    const freeIds = (unreserved.length > 0 ? await ids.take(unreserved.length) : []).values();
    const created = attempts.map((attempt) =>
      attempt.newRecord(attempt.reservation?.id ?? required(freeIds.next().value, 'id'), clock.now()),
    );
    const inserted = await records.insertAll(created);
    const refused: Id[] = [];
    const duplicates: { attempt: Attempt<Fields>; record: Versioned<Fields>; error: DuplicateValue }[] = [];
    for (const [at, attempt] of attempts.entries()) {
      const record = required(created[at], 'record');
      attempt.inserted(record, required(inserted[at], 'outcome'));
      const { outcome: error } = attempt;
      if (!attempt.reservation && error instanceof AppError) refused.push(record.id);
      if (error instanceof DuplicateValue) duplicates.push({ attempt, record, error });
    }
    ids.giveBack?.(refused);
    if (duplicates.length === 0) return;
    const named = await withOwners(records, duplicates);
    for (const [at, { attempt }] of duplicates.entries()) attempt.outcome = required(named[at], 'error');
  }
}

type Keyed<Fields> = Attempt<Fields> & { readonly idempotency: IdempotentRequest };

function isKeyed<Fields>(attempt: Attempt<Fields>): attempt is Keyed<Fields> {
  return attempt.idempotency !== undefined;
}

/** Whether a reservation determines the id of the record. */
function isReserved<Each extends Attempt<unknown>>(
  attempt: Each,
): attempt is Each & { readonly reservation: Reservation } {
  return attempt.outcome === undefined && attempt.reservation !== undefined;
}

/** One creation on its way to an outcome. */
class Attempt<Fields> {
  readonly draft: Draft<Fields>;
  readonly idempotency: IdempotentRequest | undefined;
  outcome: CreationOutcome<Fields> | undefined;
  /** The reservation under its key. */
  reservation: Reservation | undefined;
  refusal: AppError | undefined;
  private fields: Fields | undefined;
  /** The time of the reservation, if step 4 made or found it. */
  private reservedAt: Instant | undefined;

  constructor({ draft, idempotency }: Creation<Fields>) {
    this.draft = draft;
    this.idempotency = idempotency;
  }

  /** Takes the reservation under its key. A reservation of another body ends the attempt. */
  attach(existing: Reservation | undefined): void {
    if (!existing) return;
    if (existing.fingerprint === this.idempotency?.fingerprint) this.reservation = existing;
    else this.outcome = keyReused();
  }

  validated(result: Fields | AppError): void {
    if (result instanceof AppError) this.refusal = result;
    else this.fields = result;
  }

  newReservation(this: Keyed<Fields>, id: Id, reservedAt: Instant): Reservation {
    const { key, fingerprint, storesFields } = this.idempotency;
    return { key, fingerprint, id, reservedAt, ...(storesFields && { fields: JSON.stringify(this.fields) }) };
  }

  /** Takes the reservation that this attempt, or a rival, has just made. */
  reserved(existing: Reservation): void {
    this.attach(existing);
    this.reservedAt = existing.reservedAt;
  }

  /**
   * A record has the time of its reservation if that was just made, so a replay shows the same time. It is never older
   * than its reservation, so that its tombstone outlives the reservation even if the clock was set back between.
   */
  newRecord(id: Id, now: Instant): Versioned<Fields> {
    return this.record(id, this.reservedAt ?? Math.max(now, this.reservation?.reservedAt ?? now));
  }

  /** Another attempt has created the record of this reservation. */
  replay({ id, reservedAt }: Reservation): void {
    this.outcome = { record: this.record(id, reservedAt), isReplay: true };
  }

  inserted(record: Versioned<Fields>, result: InsertOutcome): void {
    if (result === 'inserted') this.outcome = { record, isReplay: false };
    else if (result !== 'id_conflict') this.outcome = result;
    else if (this.reservation) this.replay(this.reservation);
    else throw new Error(`The store assigned the id ${record.id} twice.`);
  }

  /**
   * With the fields of the first response if the reservation has them: the same body may have another order of members.
   */
  private record(id: Id, createdAt: Instant): Versioned<Fields> {
    const stored = this.reservation?.fields;
    if (stored !== undefined) return StoredRecord.fromJson(id, 1, createdAt, createdAt, stored);
    const fields = this.fields ?? (this.draft.fields as Fields);
    return StoredRecord.of({ id, version: 1, createdAt, updatedAt: createdAt, fields });
  }
}

/** @throws Error if an adapter returned no result for a creation */
function required<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Error(`A creation has no ${what}.`);
  return value;
}
