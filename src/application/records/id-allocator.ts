import type { Id } from '../../domain/record.js';
import type { Repository } from '../ports/repository.js';

type IdSource = Pick<Repository<never>, 'reserveIds' | 'releaseIds'>;

/** The source of new ids. */
export interface IdPool {
  /** Returns ids that belong to the caller, in ascending order. */
  take(count: number): Promise<Id[]>;
  /** Takes back ids under which an insertion was refused, in ascending order. Absent if such ids stay unused. */
  giveBack?(ids: readonly Id[]): void;
}

/** The default number of ids in a block. Because of the block, most creations cost the store no second write. */
const BLOCK = 32;

/**
 * Allocates ids in ascending order from blocks that it reserves in the store (hi/lo allocation). If the process dies,
 * the rest of its block stays unused permanently; if it stops, the rest is released. An id under which an insertion was
 * refused stays unused, because using it later would break the ascending order.
 */
export class IdAllocator implements IdPool {
  private next: Id = 0;
  private end: Id = 0;
  private renewal: Promise<void> | undefined;
  /** The number of ids that creations wait for. */
  private awaited = 0;

  /** @param block the least number of ids that it reserves at once */
  constructor(
    private readonly source: IdSource,
    private readonly block = BLOCK,
  ) {}

  async take(count: number): Promise<Id[]> {
    const allocated = this.takeFromBlock(count);
    while (allocated.length < count) {
      while (this.next === this.end) await this.awaitRenewal(count - allocated.length);
      allocated.push(...this.takeFromBlock(count - allocated.length));
    }
    return allocated;
  }

  /** @returns at most `count` ids */
  private takeFromBlock(count: number): Id[] {
    const allocated: Id[] = [];
    while (this.next < this.end && allocated.length < count) allocated.push(this.next++);
    return allocated;
  }

  async release(): Promise<void> {
    const { next, end } = this;
    this.next = this.end;
    if (next < end) await this.source.releaseIds(next, end);
  }

  private async awaitRenewal(wanted: number): Promise<void> {
    this.awaited += wanted;
    // Enough for all that wait, because a block after the other would take as many commits.
    this.renewal ??= this.renew(Math.max(this.block, this.awaited)).finally(() => {
      this.renewal = undefined;
    });
    try {
      await this.renewal;
    } finally {
      this.awaited -= wanted;
    }
  }

  private async renew(count: number): Promise<void> {
    const first = await this.source.reserveIds(count);
    this.next = first;
    this.end = first + count;
  }
}

/**
 * Ids for one writer whose records are often refused. The id of a refused record is used for the next record.
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

  /** Returns to the store the ids that it accepts: those that were reserved last, without a gap. */
  async release(): Promise<void> {
    const end = (this.spare.at(-1) ?? 0) + 1;
    let first = end;
    while (this.spare.length > 0 && this.spare.at(-1) === first - 1) first = this.spare.pop() ?? first;
    if (first < end) await this.source.releaseIds(first, end);
  }
}
