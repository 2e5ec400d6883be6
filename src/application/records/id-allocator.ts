import type { Id } from '../../domain/record.js';
import type { Repository } from '../ports/repository.js';

type IdSource = Pick<Repository<never>, 'reserveIds' | 'releaseIds'>;

/** Where new ids come from. */
export interface IdPool {
  /** Ids that belong to the caller, in ascending order. */
  take(count: number): Promise<Id[]>;
  /** Takes back ids under which an insertion was refused, in ascending order. Absent if such ids stay unused. */
  giveBack?(ids: readonly Id[]): void;
}

/** Ids that are reserved at once, so that most creations cost the store no second write. */
const LEASE = 32;

/**
 * Hands out ids in ascending order from blocks that it reserves in the store (hi/lo allocation). A process that dies
 * leaves the rest of its block unused for ever; one that stops gives it back. An id under which an insertion was
 * refused
 * stays unused: handed out again it would come out of order.
 */
export class IdAllocator implements IdPool {
  private next: Id = 0;
  private end: Id = 0;
  private renewal: Promise<void> | undefined;

  constructor(private readonly source: IdSource) {}

  async take(count: number): Promise<Id[]> {
    const taken: Id[] = [];
    while (taken.length < count) {
      while (this.next === this.end) await this.renewed(count - taken.length);
      while (this.next < this.end && taken.length < count) taken.push(this.next++);
    }
    return taken;
  }

  async release(): Promise<void> {
    const { next, end } = this;
    this.next = this.end;
    if (next < end) await this.source.releaseIds(next, end);
  }

  private async renewed(wanted: number): Promise<void> {
    this.renewal ??= this.renew(Math.max(LEASE, wanted)).finally(() => {
      this.renewal = undefined;
    });
    await this.renewal;
  }

  private async renew(count: number): Promise<void> {
    const first = await this.source.reserveIds(count);
    this.next = first;
    this.end = first + count;
  }
}

/**
 * Ids for records of which many may be refused. An id under which one was refused serves the next. For one writer
 * alone.
 */
export class ReservedIds implements IdPool {
  private spare: Id[] = [];

  constructor(private readonly source: IdSource) {}

  async take(count: number): Promise<Id[]> {
    const missing = count - this.spare.length;
    if (missing > 0) {
      const first = await this.source.reserveIds(missing);
      for (let id = first; id < first + missing; id++) this.spare.push(id);
    }
    return this.spare.splice(0, count);
  }

  giveBack(ids: readonly Id[]): void {
    this.spare = [...ids, ...this.spare];
  }

  /** Gives the store as many ids as it takes: those that were reserved last, without a gap. */
  async release(): Promise<void> {
    const end = (this.spare.at(-1) ?? 0) + 1;
    let first = end;
    while (this.spare.length > 0 && this.spare.at(-1) === first - 1) first = this.spare.pop() ?? first;
    if (first < end) await this.source.releaseIds(first, end);
  }
}
