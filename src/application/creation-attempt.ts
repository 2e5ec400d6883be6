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
  /** With the fields that it was created with, whatever became of it since; of a replay the times are not those of then. */
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

  constructor({ draft, once }: Creation<Fields>) {
    this.draft = draft;
    this.once = once;
  }

  get isOpen(): boolean {
    return this.outcome === undefined;
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

  /** The record under `id`, with the first answer's own fields where they are kept: the same body may be written in another order. */
  record(id: Id, now: Instant): Versioned<Fields> {
    const kept = this.reservation?.fields;
    const fields = kept === undefined ? (this.judged ?? (this.draft.fields as Fields)) : JSON.parse(kept);
    return { id, version: 1, createdAt: now, updatedAt: now, fields };
  }

  /** Another attempt has created it. */
  replay(id: Id, now: Instant): void {
    this.outcome = { record: this.record(id, now), isReplay: true };
  }

  /** @param inserted what became of this record of its */
  conclude(record: Versioned<Fields>, inserted: InsertOutcome): void {
    if (inserted === 'inserted') this.outcome = { record, isReplay: false };
    else if (inserted !== 'taken') this.outcome = inserted;
    else if (this.reservation) this.replay(record.id, record.createdAt);
    else throw new Error(`The store gave out the id ${record.id} twice.`);
  }
}
