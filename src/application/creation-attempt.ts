import { CatalogueError } from '../domain/errors.js';
import type { Id, Instant, Versioned } from '../domain/record.js';
import { keyReused, type Once } from './idempotency.js';
import type { Draft } from './judgement.js';
import type { Reservation } from './ports/idempotency-store.js';
import type { InsertOutcome } from './ports/repository.js';

/** A record to be, and how it is told from another that is asked for in the same words. */
export interface Creation<Fields> {
  readonly draft: Draft<Fields>;
  /** Absent: each request makes a record of its own. */
  readonly once?: Once | undefined;
}

export interface Created<Fields> {
  /** With the fields that it was created with, whatever became of it since. The times of a replay are those of the reservation. */
  readonly record: Versioned<Fields>;
  /** Whether another attempt, or another request, created it. */
  readonly isReplay: boolean;
}

/** What refused it is kept nowhere: another attempt may succeed. */
export type CreationOutcome<Fields> = Created<Fields> | CatalogueError;

/** One creation on its way to an outcome. */
export class CreationAttempt<Fields> {
  readonly draft: Draft<Fields>;
  readonly once: Once | undefined;
  outcome: CreationOutcome<Fields> | undefined;
  /** What stands under its key. */
  reservation: Reservation | undefined;
  /** What is wrong with the draft. */
  refusal: CatalogueError | undefined;
  private judged: Fields | undefined;
  /** When its key was reserved, where that was just now. */
  private reservedAt: Instant | undefined;

  constructor({ draft, once }: Creation<Fields>) {
    this.draft = draft;
    this.once = once;
  }

  get isOpen(): boolean {
    return this.outcome === undefined;
  }

  /** Takes what it has just put under its key, or another attempt before it. */
  reserved(standing: Reservation): void {
    this.hold(standing);
    this.reservedAt = standing.reservedAt;
  }

  /** Takes what stands under its key; where that is of another body, that is the outcome. */
  hold(standing: Reservation | undefined): void {
    if (!standing) return;
    if (standing.fingerprint === this.once?.fingerprint) this.reservation = standing;
    else this.outcome = keyReused();
  }

  judge(verdict: Fields | CatalogueError): void {
    if (verdict instanceof CatalogueError) this.refusal = verdict;
    else this.judged = verdict;
  }

  /** To be put under its key, unless something stands there. */
  reservationFor(once: Once, id: Id, reservedAt: Instant): Reservation {
    const { key, fingerprint, showsFields } = once;
    return { key, fingerprint, id, reservedAt, ...(showsFields && { fields: JSON.stringify(this.judged) }) };
  }

  /** The record to be, of the time of its reservation where that was just now: so a replay can tell it. */
  record(id: Id, now: Instant): Versioned<Fields> {
    return this.recordOf(id, this.reservedAt ?? now);
  }

  /** Another attempt has created the record of this reservation. */
  replay({ id, reservedAt }: Reservation): void {
    this.outcome = { record: this.recordOf(id, reservedAt), isReplay: true };
  }

  /** @param inserted what became of this record of its */
  conclude(record: Versioned<Fields>, inserted: InsertOutcome): void {
    if (inserted === 'inserted') this.outcome = { record, isReplay: false };
    else if (inserted !== 'id_conflict') this.outcome = inserted;
    else if (this.reservation) this.replay(this.reservation);
    else throw new Error(`The store gave out the id ${record.id} twice.`);
  }

  /** With the first answer's own fields where they are kept: the same body may be written in another order. */
  private recordOf(id: Id, createdAt: Instant): Versioned<Fields> {
    const kept = this.reservation?.fields;
    const fields = kept === undefined ? (this.judged ?? (this.draft.fields as Fields)) : JSON.parse(kept);
    return { id, version: 1, createdAt, updatedAt: createdAt, fields };
  }
}
