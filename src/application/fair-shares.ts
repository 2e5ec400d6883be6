import { afterReading } from './in-time.js';

export interface ShareLimits {
  /** What all clients together may hold. */
  readonly total: number;
  /** What one client may hold; below the total, so that one client never holds everything. */
  readonly perClient: number;
  /** Beyond the total, for clients that hold nothing yet: others may have taken the total. Absent: 0. */
  readonly reserve?: number;
  /** Requests of one client that may wait at the same time. */
  readonly maxWaiting: number;
  /** Milliseconds after which a waiting request is given up. */
  readonly patienceMs: number;
}

/** What one request holds of something bounded. */
export interface Share {
  readonly size: number;
  /** Gives a part back. Growing is not possible. */
  shrinkTo(size: number): void;
  /** Gives all back; a second call does nothing. */
  release(): void;
}

interface Waiter {
  readonly size: number;
  grant(): void;
}

/**
 * Bounds what is under way, for all clients together and for each. A request beyond a bound waits. Waiting clients are
 * served in rotation, so that the queue of one client never delays the request of another.
 */
export class FairShares {
  private readonly held = new Map<string, number>();
  /** By client, the one whose turn is next first. */
  private readonly waiting = new Map<string, Waiter[]>();
  private heldByAll = 0;

  constructor(private readonly limits: ShareLimits) {}

  /**
   * @param client whose bound counts: a principal, else an address
   * @param size what the request needs; at most what one client may hold
   * @returns undefined if too many requests of this client wait, or the wait was too long
   */
  take(client: string, size = 1): Promise<Share | undefined> {
    const { perClient, maxWaiting, patienceMs } = this.limits;
    const needed = Math.min(size, perClient);
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      let isGranted = false;
      const waiter: Waiter = {
        size: needed,
        grant: () => {
          isGranted = true;
          clearTimeout(timer);
          resolve(this.share(client, needed));
        },
      };
      const queue = this.waiting.get(client) ?? [];
      if (queue.push(waiter) === 1) this.waiting.set(client, queue);
      this.admit();
      if (isGranted) return;
      const giveUp = () => {
        if (isGranted) return;
        this.leave(client, waiter);
        resolve(undefined);
      };
      if (queue.length > maxWaiting) giveUp();
      else timer = afterReading(patienceMs, giveUp);
    });
  }

  private share(client: string, size: number): Share {
    let left = size;
    this.hold(client, left);
    const shrinkTo = (rest: number) => {
      if (rest >= left) return;
      this.hold(client, rest - left);
      left = rest;
      this.admit();
    };
    return {
      get size() {
        return left;
      },
      shrinkTo,
      release: () => shrinkTo(0),
    };
  }

  private hold(client: string, size: number): void {
    const held = (this.held.get(client) ?? 0) + size;
    this.heldByAll += size;
    if (held > 0) this.held.set(client, held);
    else this.held.delete(client);
  }

  private admit(): void {
    for (let next = this.nextInTurn(); next; next = this.nextInTurn()) {
      const [client, waiter] = next;
      this.leave(client, waiter);
      this.toTheEnd(client);
      waiter.grant();
    }
  }

  /**
   * Clients at their own bound are passed over. A request that waits for the total is not, so that it gets its turn; only a client that
   * holds nothing goes before it, for which there is a reserve.
   */
  private nextInTurn(): [string, Waiter] | undefined {
    const { total, perClient, reserve = 0 } = this.limits;
    let isTotalAwaited = false;
    for (const [client, [first]] of this.waiting) {
      const held = this.held.get(client) ?? 0;
      if (!first || held + first.size > perClient) continue;
      const isFirst = held === 0 && reserve > 0;
      if (isTotalAwaited && !isFirst) continue;
      if (this.heldByAll + first.size <= total + (isFirst ? reserve : 0)) return [client, first];
      isTotalAwaited = true;
    }
    return undefined;
  }

  private leave(client: string, waiter: Waiter): void {
    const queue = this.waiting.get(client) ?? [];
    queue.splice(queue.indexOf(waiter), 1);
    if (queue.length === 0) this.waiting.delete(client);
  }

  private toTheEnd(client: string): void {
    const queue = this.waiting.get(client);
    if (!queue) return;
    this.waiting.delete(client);
    this.waiting.set(client, queue);
  }
}
