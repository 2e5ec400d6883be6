import type { MaybePromise } from '../../shared/promises.js';
import type { Task } from '../../shared/task-scheduler.js';
import type { ChangeFeed, FeedPosition } from '../ports/change-feed.js';
import type { Timer } from '../ports/clock.js';

/** The pause between two polls of the store. */
const POLL_MS = 250;
/** How often {@link Wait.check} is called: a key that another process revoked ends a wait within five seconds. */
const CHECK_MS = 3_000;

export interface Wait {
  readonly ms: number;
  /** Of the client that waits: after a change, clients read in turns. */
  readonly task: Task;
  /** Called every three seconds. If it throws, the wait throws the same. */
  readonly check: () => MaybePromise<void>;
  /** Called once, with what ends the wait early. */
  readonly onEnd: (end: () => void) => void;
}

/**
 * Polls the feed of one table four times a second, for all that wait for its changes or follow them, and not at all if
 * there are none.
 */
export class ChangeWatch {
  private readonly seats = new Set<Seat>();
  private readonly followers = new Set<() => void>();
  /** Resolves when the poll has a position: it reports what a reader who begins then does not find. Undefined: no poll. */
  private polling: Promise<void> | undefined;
  private isStopped = false;

  constructor(
    private readonly feed: Pick<ChangeFeed<unknown>, 'end' | 'read'>,
    private readonly timer: Timer,
  ) {}

  /**
   * Waits until there is a change behind a position, or changes behind it may be missing, or the time is over.
   * @throws AppError `unavailable`; whatever `wait.check` throws
   */
  async wait(after: FeedPosition, { ms, task, check, onEnd }: Wait): Promise<void> {
    const seat = new Seat();
    this.seats.add(seat);
    const cancelEnd = this.timer.after(ms, () => seat.end());
    const cancelChecks = this.repeat(CHECK_MS, check, seat);
    onEnd(() => seat.end());
    try {
      while (!seat.isOver && !this.isStopped) {
        // First, so that a change is seen by the read or by the poll: the poll begins before the read.
        const signal = seat.signal();
        await this.poll();
        const page = await this.feed.read(after, 1);
        if (!page || page.changes.length > 0) return;
        await signal;
        // Not all at once: their next requests would come at once too.
        if (!seat.isOver) await task.yield();
      }
      if (seat.failure !== undefined) throw seat.failure;
    } finally {
      cancelEnd();
      cancelChecks();
      this.seats.delete(seat);
    }
  }

  /**
   * Calls `wake` after each change from now on, until {@link unfollow}. A failed poll begins anew at the next call.
   * @throws AppError `unavailable`
   */
  follow(wake: () => void): Promise<void> {
    this.followers.add(wake);
    return this.poll();
  }

  unfollow(wake: () => void): void {
    this.followers.delete(wake);
  }

  /** Ends all waits, and lets none begin. */
  stop(): void {
    this.isStopped = true;
    for (const seat of this.seats) seat.end();
  }

  private poll(): Promise<void> {
    this.polling ??= this.begin();
    return this.polling;
  }

  private async begin(): Promise<void> {
    try {
      this.pollOn(await this.feed.end());
      // There may have been changes while there was no poll.
      for (const wake of this.followers) wake();
    } catch (error) {
      this.polling = undefined;
      throw error;
    }
  }

  /** Polls again and again, as long as there is somebody. */
  private pollOn(from: FeedPosition): void {
    this.timer.after(POLL_MS, async () => {
      if (this.isStopped || this.seats.size + this.followers.size === 0) {
        this.polling = undefined;
        return;
      }
      try {
        const page = await this.feed.read(from, 1);
        const isQuiet = page?.changes.length === 0;
        // Before others read: they find what is not behind this position.
        const next = isQuiet ? page.next : await this.feed.end();
        if (!isQuiet) {
          for (const seat of this.seats) seat.wake();
          for (const wake of this.followers) wake();
        }
        this.pollOn(next);
      } catch (error) {
        this.polling = undefined;
        for (const seat of this.seats) seat.end(error);
      }
    });
  }

  private repeat(ms: number, check: Wait['check'], seat: Seat): () => void {
    let cancel = () => {};
    const plan = () => {
      cancel = this.timer.after(ms, () => {
        Promise.resolve()
          .then(check)
          .then(
            () => !seat.isOver && plan(),
            (error: unknown) => seat.end(error),
          );
      });
    };
    plan();
    return () => cancel();
  }
}

/** A request that waits. */
class Seat {
  isOver = false;
  failure: unknown;
  wake = () => {};

  /** Resolves at the next {@link wake}. */
  signal(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  end(failure?: unknown): void {
    this.isOver = true;
    this.failure ??= failure;
    this.wake();
  }
}
