import type { MaybePromise } from '../../shared/maybe-promise.js';
import type { FeedState } from '../ports/change-feed.js';
import type { Clock } from '../ports/clock.js';

/** How long a process uses the generation that it has read, in milliseconds. A reset of the store takes as long. */
export const GENERATION_MS = 500;

/** The generation of the store, as this process knows it; see {@link FeedState.generation}. */
export class Generation {
  private last: { readonly at: number; value: MaybePromise<string | undefined> } | undefined;

  constructor(
    private readonly state: Pick<FeedState, 'generation'>,
    private readonly clock: Pick<Clock, 'elapsed'>,
  ) {}

  /**
   * Returns a generation that was read in the last {@link GENERATION_MS}, or is read now; undefined if the store has
   * none. Call it before a record is read: the tag of an older record must not have a newer generation.
   * @throws AppError `unavailable`
   */
  current(): MaybePromise<string | undefined> {
    const at = this.clock.elapsed();
    if (this.last && at - this.last.at < GENERATION_MS) return this.last.value;
    const read = { at, value: this.state.generation() as MaybePromise<string | undefined> };
    this.last = read;
    if (read.value instanceof Promise)
      read.value.then(
        (value) => {
          read.value = value;
        },
        () => {
          if (this.last === read) this.last = undefined;
        },
      );
    return read.value;
  }
}
