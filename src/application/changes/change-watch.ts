import type { MaybePromise } from '../../shared/promises.js';
import type { Task } from '../../shared/task-scheduler.js';
import type { ChangeFeed, FeedPosition } from '../ports/change-feed.js';
import type { Timer } from '../ports/clock.js';
import { FeedPoll } from './feed-poll.js';

/** The pause between two polls of the store. */
const POLL_MS = 250;
/** How often {@link Wait.check} is called: a key that another process revoked ends a wait within five seconds. */
const CHECK_MS = 3_000;

export interface Wait {
  readonly ms: number;
  /** Whose wait it is: after a change, those who waited read in turns. */
  readonly task: Task;
  /** Called every three seconds. If it throws, the wait throws the same. */
  readonly check: () => MaybePromise<void>;
  /** Called once, with what ends the wait early. */
  readonly onEnd: (end: () => void) => void;
}

/**
 * Lets requests wait for the changes of one table. However many wait, it polls the feed four times a second, and not at
 * all if nobody waits.
 */
export class ChangeWatch {
  private readonly seats = new Set<Seat>();
  /** Resolves when the poll has a position. Undefined: it does not run. */
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

  /** Ends all waits, and lets none begin. */
  stop(): void {
    this.isStopped = true;
    for (const seat of this.seats) seat.end();
  }

  /** Resolves when the poll runs. */
  private poll(): Promise<void> {
    if (this.polling) return this.polling;
    const poll = new FeedPoll(this.feed);
    this.polling = poll.hasNews().then(
      () => this.pollOn(poll),
      (error: unknown) => {
        this.polling = undefined;
        throw error;
      },
    );
    return this.polling;
  }

  /** Polls again and again, as long as somebody waits. */
  private pollOn(poll: FeedPoll): void {
    this.timer.after(POLL_MS, () => {
      if (this.seats.size === 0) this.polling = undefined;
      else
        poll.hasNews().then(
          (hasNews) => {
            if (hasNews) for (const seat of this.seats) seat.wake();
            this.pollOn(poll);
          },
          (error: unknown) => {
            this.polling = undefined;
            for (const seat of this.seats) seat.end(error);
          },
        );
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

/** One who waits. */
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
