import { type MaybePromise, setTimeoutAfterIo } from './promises.js';
import { RotatingQueues } from './task-scheduler.js';

export interface SemaphoreLimits {
  /** The limit of all clients together. */
  readonly total: number;
  /** The limit of one client. Below the total, so that one client never holds everything. */
  readonly perClient: number;
  /** An addition to the total for clients that hold nothing yet, because others may hold the total. Default: 0. */
  readonly reserve?: number;
  /** The number of requests of one client that may wait at the same time. */
  readonly maxWaiting: number;
  /** A waiting request is given up after this time. */
  readonly patienceMs: number;
}

/** How much of a limited resource is in use. */
export interface SemaphoreFigures {
  readonly inUse: number;
  /** The number of requests that wait. */
  readonly waiting: number;
  /** The number of requests that were refused until now. */
  readonly refused: number;
}

/** The part of a limited resource that one request holds. */
export interface Permit {
  readonly size: number;
  /** Releases a part. A permit never grows. */
  shrink(size: number): void;
  /** Releases everything. A second call does nothing. */
  release(): void;
}

interface Waiter {
  readonly size: number;
  grant(): void;
}

/**
 * A semaphore with a limit for all clients together and one for each client. A request beyond a limit waits. Waiting
 * clients are served in rotation.
 * By hand: libraries such as p-limit have one queue and do not distinguish clients.
 */
export class FairSemaphore {
  private readonly inUse = new Map<string, number>();
  private readonly waiting = new RotatingQueues<Waiter>();
  private inUseByAll = 0;
  private refused = 0;

  constructor(private readonly limits: SemaphoreLimits) {}

  get figures(): SemaphoreFigures {
    return { inUse: this.inUseByAll, waiting: this.waiting.length, refused: this.refused };
  }

  /**
   * @param client the client whose limit counts: a principal, else an IP address
   * @param size the need of the request; reduced to the limit of one client
   * @returns undefined if too many requests of this client wait, or the wait was too long. A promise only if it waits
   */
  acquire(client: string, size = 1): MaybePromise<Permit | undefined> {
    const needed = Math.min(size, this.limits.perClient);
    return this.waiting.isEmpty && this.fits(client, needed) ? this.grant(client, needed) : this.wait(client, needed);
  }

  private wait(client: string, needed: number): Promise<Permit | undefined> {
    const { maxWaiting, patienceMs } = this.limits;
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      let isGranted = false;
      const waiter: Waiter = {
        size: needed,
        grant: () => {
          isGranted = true;
          clearTimeout(timer);
          resolve(this.grant(client, needed));
        },
      };
      const length = this.waiting.add(client, waiter);
      this.admit();
      if (isGranted) return;
      const giveUp = () => {
        if (isGranted) return;
        this.waiting.remove(client, waiter);
        this.refused++;
        resolve(undefined);
        // It may have inUse up smaller requests behind it.
        this.admit();
      };
      if (length > maxWaiting) giveUp();
      else timer = setTimeoutAfterIo(patienceMs, giveUp);
    });
  }

  private grant(client: string, size: number): Permit {
    this.hold(client, size);
    return new GrantedPermit(size, (returned) => {
      this.hold(client, -returned);
      this.admit();
    });
  }

  private hold(client: string, size: number): void {
    const inUse = (this.inUse.get(client) ?? 0) + size;
    this.inUseByAll += size;
    if (inUse > 0) this.inUse.set(client, inUse);
    else this.inUse.delete(client);
  }

  private admit(): void {
    if (this.waiting.isEmpty) return;
    for (let next = this.nextInTurn(); next; next = this.nextInTurn()) {
      const [client, waiter] = next;
      this.waiting.serve(client, waiter);
      waiter.grant();
    }
  }

  /**
   * Skips clients at their own limit. A request that waits for the total is not overtaken, so that it gets its turn,
   * except by a client that holds nothing and takes from the reserve.
   */
  private nextInTurn(): readonly [string, Waiter] | undefined {
    const { perClient, reserve = 0 } = this.limits;
    let isTotalAwaited = false;
    for (const [client, first] of this.waiting) {
      const inUse = this.inUse.get(client) ?? 0;
      if (inUse + first.size > perClient) continue;
      if (isTotalAwaited && (inUse > 0 || reserve === 0)) continue;
      if (this.fits(client, first.size)) return [client, first];
      isTotalAwaited = true;
    }
    return undefined;
  }

  private fits(client: string, size: number): boolean {
    const { total, perClient, reserve = 0 } = this.limits;
    const inUse = this.inUse.get(client) ?? 0;
    return inUse + size <= perClient && this.inUseByAll + size <= total + (inUse === 0 ? reserve : 0);
  }
}

class GrantedPermit implements Permit {
  constructor(
    public size: number,
    private readonly giveBack: (returned: number) => void,
  ) {}

  shrink(size: number): void {
    if (size >= this.size) return;
    const returned = this.size - size;
    this.size = size;
    this.giveBack(returned);
  }

  release(): void {
    this.shrink(0);
  }
}
