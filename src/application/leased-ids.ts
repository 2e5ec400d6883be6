import type { Id } from '../domain/record.js';
import type { Repository } from './ports/repository.js';

type IdSource = Pick<Repository<never>, 'reserveIds' | 'releaseIds'>;

/** So many ids are taken from the store at once, so that most creations cost it no second write. */
const LEASE = 32;

/**
 * Hands out ids in ascending order from blocks that the store sets aside. A process that dies leaves the rest of its
 * block unused for ever; one that stops in good order gives it back.
 */
export class LeasedIds {
  private next: Id = 0;
  private end: Id = 0;
  private renewal: Promise<void> | undefined;

  constructor(private readonly source: IdSource) {}

  /** Ids that are the caller's, in ascending order. */
  async take(count: number): Promise<Id[]> {
    const taken: Id[] = [];
    while (taken.length < count) {
      while (this.next === this.end) await this.renewed(count - taken.length);
      while (this.next < this.end && taken.length < count) taken.push(this.next++);
    }
    return taken;
  }

  /** Ids that were taken and that no record will have: nobody gets them, since they would come out of their order. */
  giveBack(_ids: readonly Id[]): void {}

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
