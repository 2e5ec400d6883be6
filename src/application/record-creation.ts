import { CatalogueError } from '../domain/errors.js';
import type { Id } from '../domain/record.js';
import { type Creation, CreationAttempt, type CreationOutcome } from './creation-attempt.js';
import type { Once } from './idempotency.js';
import type { Draft } from './judgement.js';
import type { Clock } from './ports/clock.js';
import type { IdempotencyStore, Reservation } from './ports/idempotency-store.js';
import type { Repository } from './ports/repository.js';

/** What a creation may use up. */
export interface IdPool {
  take(count: number): Promise<Id[]>;
  /** Takes back ids that an insertion was refused under, in ascending order. */
  giveBack(ids: readonly Id[]): void;
}

export interface CreationDependencies<Fields> {
  readonly records: Pick<Repository<Fields>, 'insertAll' | 'findUsedIds'>;
  readonly reservations: IdempotencyStore;
  readonly ids: IdPool;
  readonly clock: Clock;
  /** The fields that each draft gives, or all that is wrong with it. */
  readonly judge: (drafts: readonly Draft<Fields>[]) => Promise<readonly (Fields | CatalogueError)[]>;
}

type Keyed<Fields> = CreationAttempt<Fields> & { readonly once: Once };

/**
 * Creates records, those of a key exactly once, whatever is lost, killed or sent twice at any moment. A key reserves an
 * id; the record is created under it, and that an id is never taken twice, not even after a deletion, decides which attempt has
 * created it. There is nothing to do after that, hence nothing to lose: the reservation and the id say it all.
 */
export class RecordCreation<Fields> {
  constructor(private readonly deps: CreationDependencies<Fields>) {}

  /** Each for itself: one that is refused stops no other. */
  async all(creations: readonly Creation<Fields>[]): Promise<readonly CreationOutcome<Fields>[]> {
    const attempts = creations.map((creation) => new CreationAttempt(creation));
    const open = () => attempts.filter(({ isOpen }) => isOpen);
    await this.recall(attempts.filter(isKeyed));
    await this.judge(open());
    await this.refuse(open().filter(({ refusal }) => refusal));
    await this.reserve(open().filter(isKeyed));
    await this.insert(open());
    return attempts.map(({ outcome }) => sure(outcome, 'an outcome'));
  }

  /** What was asked before is answered before it is judged: by now it might be judged otherwise. */
  private async recall(attempts: readonly Keyed<Fields>[]): Promise<void> {
    if (attempts.length === 0) return;
    const { reservations, records } = this.deps;
    const standing = await reservations.find(attempts.map(({ once }) => once.key));
    for (const attempt of attempts) attempt.hold(standing.get(attempt.once.key));
    const held = attempts.filter(isHeld);
    if (held.length === 0) return;
    const taken = await records.findUsedIds(held.map(({ reservation }) => reservation.id));
    for (const attempt of held) if (taken.has(attempt.reservation.id)) attempt.replay(attempt.reservation);
  }

  private async judge(attempts: readonly CreationAttempt<Fields>[]): Promise<void> {
    if (attempts.length === 0) return;
    const verdicts = await this.deps.judge(attempts.map(({ draft }) => draft));
    attempts.forEach((attempt, at) => {
      attempt.judge(sure(verdicts[at], 'a verdict'));
    });
  }

  /** Unless another attempt succeeded in the meantime: what this one was found to refer to may be gone only since then. */
  private async refuse(attempts: readonly CreationAttempt<Fields>[]): Promise<void> {
    await this.recall(attempts.filter(isKeyed));
    for (const attempt of attempts) attempt.outcome ??= attempt.refusal;
  }

  /** An id whose reservation came too late is nobody's: it would come out of its order. */
  private async reserve(keyed: readonly Keyed<Fields>[]): Promise<void> {
    const attempts = keyed.filter((attempt) => !isHeld(attempt));
    if (attempts.length === 0) return;
    const ids = await this.deps.ids.take(attempts.length);
    const now = this.deps.clock.now();
    const wanted = attempts.map((attempt, at) =>
      attempt.reservationFor(attempt.once, sure(ids[at], 'an id'), now),
    );
    const standing = await this.deps.reservations.reserve(wanted);
    for (const attempt of attempts) attempt.reserved(sure(standing.get(attempt.once.key), 'a reservation'));
  }

  private async insert(attempts: readonly CreationAttempt<Fields>[]): Promise<void> {
    if (attempts.length === 0) return;
    const { ids, clock, records } = this.deps;
    const free = attempts.filter(({ reservation }) => !reservation);
    const own = (free.length > 0 ? await ids.take(free.length) : []).values();
    const wanted = attempts.map((attempt) => {
      const id = attempt.reservation?.id ?? sure(own.next().value, 'an id');
      return attempt.record(id, clock.now());
    });
    const inserted = await records.insertAll(wanted);
    const refused: Id[] = [];
    attempts.forEach((attempt, at) => {
      const record = sure(wanted[at], 'a record');
      attempt.conclude(record, sure(inserted[at], 'an outcome'));
      if (!attempt.reservation && attempt.outcome instanceof CatalogueError) refused.push(record.id);
    });
    ids.giveBack(refused);
  }
}

function isKeyed<Fields>(attempt: CreationAttempt<Fields>): attempt is Keyed<Fields> {
  return attempt.once !== undefined;
}

/** Whether the id of its record is known by its key. */
function isHeld<Attempt extends CreationAttempt<unknown>>(
  attempt: Attempt,
): attempt is Attempt & { readonly reservation: Reservation } {
  return attempt.isOpen && attempt.reservation !== undefined;
}

/** For what an adapter owes for each creation. */
function sure<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Error(`A creation is left without ${what}.`);
  return value;
}
