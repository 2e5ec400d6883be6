import { CatalogueError } from '../domain/errors.js';
import type { Id, Instant, Versioned } from '../domain/record.js';
import { keyReused, type Once } from './idempotency.js';
import type { Draft } from './judgement.js';
import type { Clock } from './ports/clock.js';
import type { IdempotencyStore, Reservation } from './ports/idempotency-store.js';
import type { InsertOutcome, Repository } from './ports/repository.js';

/** A record to be, and how it is told from another that is asked for in the same words. */
export interface Creation<Fields> {
  readonly draft: Draft<Fields>;
  /** Absent: each request makes a record of its own. */
  readonly once?: Once | undefined;
}

export interface Created<Fields> {
  /** As it was created, whatever became of it since. */
  readonly record: Versioned<Fields>;
  /** Whether another attempt, or another request, created it. */
  readonly isReplay: boolean;
}

/** What refused it is kept nowhere: another attempt may succeed. */
export type CreationOutcome<Fields> = Created<Fields> | CatalogueError;

/** What a creation may use up. */
export interface IdPool {
  take(count: number): Promise<Id[]>;
  giveBack(ids: readonly Id[]): void;
}

export interface CreationDependencies<Fields> {
  readonly records: Pick<Repository<Fields>, 'insertAll' | 'taken'>;
  readonly reservations: IdempotencyStore;
  readonly ids: IdPool;
  readonly clock: Clock;
  /** The fields that each draft gives, or all that is wrong with it. */
  readonly judge: (drafts: readonly Draft<Fields>[]) => Promise<readonly (Fields | CatalogueError)[]>;
}

/** One creation on its way to an outcome. */
interface Attempt<Fields> extends Creation<Fields> {
  reservation?: Reservation;
  /** When its key was reserved, where that was just now. */
  reservedAt?: Instant;
  fields?: Fields;
  /** What was found wrong with the draft. */
  refusal?: CatalogueError;
  outcome?: CreationOutcome<Fields>;
}

/**
 * Creates records, those of a key exactly once, whatever is lost, killed or sent twice at any moment. A key reserves an
 * id; the record is created under it, and that an id is never taken twice, not even after a deletion, decides which attempt has
 * created it. There is nothing to do after that, hence nothing to lose: the reservation and the id say it all.
 */
export class RecordCreation<Fields> {
  constructor(private readonly deps: CreationDependencies<Fields>) {}

  /** Each for itself: one that is refused stops no other. */
  async all(creations: readonly Creation<Fields>[]): Promise<readonly CreationOutcome<Fields>[]> {
    const attempts: Attempt<Fields>[] = creations.map((creation) => ({ ...creation }));
    await this.recall(attempts.filter(({ once }) => once));
    await this.judge(attempts.filter(isOpen));
    await this.refuse(attempts.filter(({ refusal }) => refusal));
    await this.reserve(attempts.filter((attempt) => isOpen(attempt) && attempt.once && !attempt.reservation));
    await this.insert(attempts.filter(isOpen));
    return attempts.map(({ outcome }) => outcome ?? never());
  }

  /** What was asked before is answered before it is judged: by now it might be judged otherwise. */
  private async recall(attempts: readonly Attempt<Fields>[]): Promise<void> {
    if (attempts.length === 0) return;
    this.hold(attempts, await this.deps.reservations.find(attempts.map(keyOf)));
    const held = attempts.filter((attempt) => isOpen(attempt) && attempt.reservation);
    if (held.length === 0) return;
    const taken = await this.deps.records.taken(held.map(idOf));
    for (const attempt of held) if (taken.has(idOf(attempt))) attempt.outcome = this.replayed(attempt);
  }

  private async judge(attempts: readonly Attempt<Fields>[]): Promise<void> {
    if (attempts.length === 0) return;
    const judged = await this.deps.judge(attempts.map(({ draft }) => draft));
    attempts.forEach((attempt, at) => {
      const fields = judged[at] ?? never();
      if (fields instanceof CatalogueError) attempt.refusal = fields;
      else attempt.fields = fields;
    });
  }

  /** Unless another attempt succeeded in the meantime: what this one was found to refer to may be gone only since then. */
  private async refuse(attempts: readonly Attempt<Fields>[]): Promise<void> {
    await this.recall(attempts.filter(({ once }) => once));
    for (const attempt of attempts.filter(isOpen)) attempt.outcome = attempt.refusal ?? never();
  }

  private async reserve(attempts: readonly Attempt<Fields>[]): Promise<void> {
    if (attempts.length === 0) return;
    const ids = await this.deps.ids.take(attempts.length);
    const reservedAt = this.deps.clock.now();
    const wanted = attempts.map(({ once = never(), fields }, at) => ({
      key: once.key,
      fingerprint: once.fingerprint,
      id: ids[at] ?? never(),
      reservedAt,
      ...(once.showsFields && { fields: JSON.stringify(fields) }),
    }));
    this.hold(attempts, await this.deps.reservations.reserve(wanted));
    for (const attempt of attempts.filter(isOpen)) {
      attempt.reservedAt = (attempt.reservation ?? never()).reservedAt;
    }
  }

  private async insert(attempts: readonly Attempt<Fields>[]): Promise<void> {
    if (attempts.length === 0) return;
    const free = attempts.filter(({ reservation }) => !reservation);
    const ids = free.length > 0 ? await this.deps.ids.take(free.length) : [];
    const ownIds = new Map(free.map((attempt, at) => [attempt, ids[at] ?? never()]));
    const records = attempts.map((attempt) => this.record(attempt, ownIds.get(attempt) ?? idOf(attempt)));
    const outcomes = await this.deps.records.insertAll(records);
    attempts.forEach((attempt, at) => {
      attempt.outcome = this.outcome(attempt, records[at] ?? never(), outcomes[at] ?? never());
    });
    const refused = free.filter(({ outcome }) => outcome instanceof CatalogueError);
    this.deps.ids.giveBack(refused.map((attempt) => ownIds.get(attempt) ?? never()));
  }

  private outcome(
    attempt: Attempt<Fields>,
    record: Versioned<Fields>,
    outcome: InsertOutcome,
  ): CreationOutcome<Fields> {
    if (outcome === 'inserted') return { record, isReplay: false };
    if (outcome !== 'taken') return outcome;
    if (attempt.reservation) return this.replayed(attempt);
    throw new Error(`The store gave out the id ${record.id} twice.`);
  }

  /** Lays what stands under their keys to the attempts. */
  private hold(attempts: readonly Attempt<Fields>[], standing: ReadonlyMap<string, Reservation>): void {
    for (const attempt of attempts) {
      const reservation = standing.get(keyOf(attempt));
      if (!reservation) continue;
      if (reservation.fingerprint === attempt.once?.fingerprint) attempt.reservation = reservation;
      else attempt.outcome = keyReused();
    }
  }

  private replayed(attempt: Attempt<Fields>): Created<Fields> {
    const reservedAt = attempt.reservation?.reservedAt ?? never();
    return { record: this.record({ ...attempt, reservedAt }, idOf(attempt)), isReplay: true };
  }

  /** The first answer's own fields where they are kept: the same body may be written in another order. */
  private record({ reservation, reservedAt, fields, draft }: Attempt<Fields>, id: Id): Versioned<Fields> {
    const now = reservedAt ?? this.deps.clock.now();
    const kept = reservation?.fields;
    const own = kept === undefined ? (fields ?? (draft.fields as Fields)) : (JSON.parse(kept) as Fields);
    return { id, version: 1, createdAt: now, updatedAt: now, fields: own };
  }
}

function isOpen({ outcome }: Attempt<unknown>): boolean {
  return outcome === undefined;
}

function keyOf({ once }: Pick<Attempt<unknown>, 'once'>): string {
  return once?.key ?? never();
}

function idOf({ reservation }: Pick<Attempt<unknown>, 'reservation'>): Id {
  return reservation?.id ?? never();
}

function never(): never {
  throw new Error('A creation lost its way.');
}
