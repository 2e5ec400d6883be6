import { AppError } from '../../domain/errors.js';
import type { Instant } from '../../domain/record.js';
import { HOUR_MS } from '../maintenance/retention.js';
import type { ChangeFeed, ChangePage, FeedPosition, RecordChange } from '../ports/change-feed.js';
import type { Clock } from '../ports/clock.js';
import type { ChangeWatch, Wait } from './change-watch.js';

/** How long a position is good. Tombstones are kept longer. */
export const POSITION_MS = 50 * HOUR_MS;

/** The most changes of a slice: few, so that a stream neither delays others nor fills the memory. */
const SLICE_CHANGES = 64;

/** A position in a feed that a client knows. */
export interface ChangePosition {
  readonly position: FeedPosition;
  /** When it was given out, or earlier. */
  readonly at: Instant;
}

export interface ChangesRead<Fields> {
  /** Oldest change first; a record occurs once. */
  readonly changes: readonly RecordChange<Fields>[];
  readonly next: ChangePosition;
}

export interface ChangeReaderDependencies<Fields> {
  readonly feed: ChangeFeed<Fields>;
  readonly watch: Pick<ChangeWatch, 'wait'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** The use cases of those who follow the changes of a resource. Every method may throw an AppError `unavailable`. */
export class ChangeReader<Fields> {
  constructor(private readonly deps: ChangeReaderDependencies<Fields>) {}

  /** Returns a position that is before all changes from now on. */
  async end(): Promise<ChangePosition> {
    const { feed, clock } = this.deps;
    // Before the position is read, so that it is never taken for younger than it is.
    const at = clock.now();
    return { position: await feed.end(), at };
  }

  /**
   * Waits until there is a change behind a position.
   * @throws AppError `cursor_expired` if the position is too old; whatever `wait.check` throws
   */
  async wait(from: ChangePosition, wait: Wait): Promise<void> {
    this.requireYoung(from);
    await this.deps.watch.wait(from.position, wait);
  }

  /**
   * Reads the changes behind a position. Fewer than `limit` need not be all: only behind an empty page are there no more.
   * @param limit from 1 to 1,000
   * @throws AppError `cursor_expired`
   */
  async page(from: ChangePosition, limit: number): Promise<ChangesRead<Fields>> {
    const at = this.deps.clock.now();
    const { changes, next } = await this.slice(from, limit);
    return { changes, next: { position: next, at } };
  }

  /**
   * Yields the changes between two positions, slice by slice; an empty one is the last.
   * @param until from {@link end}
   * @throws AppError `cursor_expired`
   */
  async *slices(
    from: ChangePosition,
    until: ChangePosition,
  ): AsyncGenerator<readonly RecordChange<Fields>[], void, void> {
    for (let position = from; ; ) {
      const { changes, next } = await this.slice(position, SLICE_CHANGES, until.position);
      yield changes;
      if (changes.length === 0) return;
      position = { ...position, position: next };
    }
  }

  private async slice(after: ChangePosition, limit: number, until?: FeedPosition): Promise<ChangePage<Fields>> {
    this.requireYoung(after);
    const page = await this.deps.feed.read(after.position, limit, until);
    if (!page) throw cursorExpired();
    return page;
  }

  private requireYoung({ at }: ChangePosition): void {
    if (this.deps.clock.now() - at > POSITION_MS) throw cursorExpired();
  }
}

function cursorExpired(): AppError {
  return new AppError('cursor_expired', 'Changes behind this cursor may be missing. Take a new cursor and list again.');
}
