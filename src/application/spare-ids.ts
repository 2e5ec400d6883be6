import type { Id } from '../domain/record.js';
import type { Repository } from './ports/repository.js';

type IdSource = Pick<Repository<never>, 'reserveIds' | 'releaseIds'>;

/** Ids for records that may be refused: what one was refused under serves the next. */
export class SpareIds {
  private spare: Id[] = [];

  constructor(private readonly source: IdSource) {}

  /** Ids that are the caller's, in ascending order. */
  async take(count: number): Promise<Id[]> {
    const missing = count - this.spare.length;
    if (missing > 0) {
      const first = await this.source.reserveIds(missing);
      for (let id = first; id < first + missing; id++) this.spare.push(id);
    }
    return this.spare.splice(0, count);
  }

  /** Takes back, in ascending order, the lowest that were taken: no record has them. */
  giveBack(ids: readonly Id[]): void {
    this.spare = [...ids, ...this.spare];
  }

  /** Gives the store as many as it takes: those that were reserved last, without a gap. */
  async release(): Promise<void> {
    const end = (this.spare.at(-1) ?? 0) + 1;
    let first = end;
    while (this.spare.length > 0 && this.spare.at(-1) === first - 1) first = this.spare.pop() ?? first;
    if (first < end) await this.source.releaseIds(first, end);
  }
}
