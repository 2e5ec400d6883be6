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

  async take(): Promise<Id> {
    while (this.next === this.end) {
      this.renewal ??= this.renew().finally(() => {
        this.renewal = undefined;
      });
      await this.renewal;
    }
    return this.next++;
  }

  async release(): Promise<void> {
    const { next, end } = this;
    this.next = this.end;
    if (next < end) await this.source.releaseIds(next, end);
  }

  private async renew(): Promise<void> {
    const first = await this.source.reserveIds(LEASE);
    this.next = first;
    this.end = first + LEASE;
  }
}
