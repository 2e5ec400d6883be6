import type { RateLimiter } from '../../../application/ports/rate-limiter.js';
import type { Channel, Lease, LeaseRequest, LeaseReturn, PrimaryMessage, WorkerMessage } from './messages.js';

/** The most requests of one caller that a worker may allow by itself before it asks again. */
const MAX_AHEAD = 64;

/** A window of a caller, as the limiter of the primary keeps it. */
interface Window {
  /** Includes the requests that are leased. */
  count: number;
}

/** The limiter of one policy in the primary. */
export interface WindowKeeper extends Pick<RateLimiter, 'policy'> {
  /** Returns the window of a caller, which begins if the caller has none. */
  window(caller: string): Window;
  /** Returns the window of a caller if it has begun. */
  currentWindow(caller: string): Window | undefined;
  /** @param window one that this limiter returned */
  msLeft(window: Window): number;
}

/** The leases of one window. */
interface Leases {
  readonly window: Window;
  readonly byWorker: Map<Channel, number>;
  /** The lease requests that wait until every lease is returned, in order. */
  readonly waiting: (() => void)[];
}

/**
 * Counts requests in the primary for all workers. A worker leases requests ahead, so that it need not ask for each.
 * If too little quota is free for a lease request, all leases of the window are returned before anything is refused:
 * exactly the quota is allowed. The lease of a worker that dies counts as used until the window ends.
 */
export class RateLimitServer {
  private readonly byName: ReadonlyMap<string, WindowKeeper>;
  private readonly workers = new Set<Channel>();
  private readonly leases = new WeakMap<Window, Leases>();
  /** Those with lease requests that wait. */
  private readonly recalling = new Set<Leases>();
  private lastLease = 0;

  /** @param limiters their policies have different names */
  constructor(limiters: readonly WindowKeeper[]) {
    this.byName = new Map(limiters.map((limiter) => [limiter.policy.name, limiter]));
  }

  /** Responds to all lease requests of a worker until its channel closes. */
  serve(worker: Channel, closed: Promise<unknown>): void {
    this.workers.add(worker);
    worker.receive((message) => {
      if (!isWorkerMessage(message)) return;
      if (message.returned) this.takeBack(worker, message.returned);
      if (message.requests) this.respond(worker, message.requests);
    });
    closed.then(() => {
      this.workers.delete(worker);
      for (const leases of this.recalling) this.end(leases, worker);
    });
  }

  private respond(worker: Channel, requests: readonly LeaseRequest[]): void {
    const leases: [number, Lease | null][] = [];
    let isSent = false;
    for (const request of requests) {
      if (request.returned) this.takeBack(worker, request.returned);
      const limiter = this.byName.get(request.policy);
      if (!limiter) leases.push([request.id, null]);
      else if (request.needed === 0) leases.push([request.id, this.peek(limiter, request.caller)]);
      else
        this.grantOrWait(limiter, worker, request, (lease) => {
          if (isSent) send(worker, { leases: [[request.id, lease]] });
          else leases.push([request.id, lease]);
        });
    }
    isSent = true;
    if (leases.length > 0) send(worker, { leases });
  }

  /** Grants the request. If too little quota is free, it recalls all leases first. */
  private grantOrWait(
    limiter: WindowKeeper,
    worker: Channel,
    request: LeaseRequest,
    use: (lease: Lease) => void,
  ): void {
    const leases = this.leasesOf(limiter.window(request.caller));
    const isEnough = limiter.policy.quota - leases.window.count >= request.needed;
    if ((isEnough && leases.waiting.length === 0) || leases.byWorker.size === 0) {
      use(this.grant(limiter, worker, request, leases));
    } else {
      leases.waiting.push(() => this.grantOrWait(limiter, worker, request, use));
      this.recall(request, leases);
    }
  }

  private grant(limiter: WindowKeeper, worker: Channel, { needed }: LeaseRequest, leases: Leases): Lease {
    const { window, byWorker, waiting } = leases;
    const rest = limiter.policy.quota - window.count;
    const allowed = Math.min(needed, rest);
    const isBusy = waiting.length > 0 || byWorker.has(worker);
    const ahead = isBusy ? 0 : Math.min(MAX_AHEAD, Math.floor((rest - allowed) / (2 * this.workers.size)));
    const lease = ++this.lastLease;
    window.count += allowed + ahead;
    if (ahead > 0) byWorker.set(worker, lease);
    const remaining = rest - allowed - ahead;
    const isExhausted = remaining === 0 && byWorker.size === 0;
    return { allowed, ahead, lease, remaining, msLeft: limiter.msLeft(window), isExhausted };
  }

  /** Returns the state of a caller. Begins no window. */
  private peek(limiter: WindowKeeper, caller: string): Lease {
    const window = limiter.currentWindow(caller);
    const remaining = limiter.policy.quota - (window?.count ?? 0);
    const isExhausted = remaining === 0 && window !== undefined && this.leasesOf(window).byWorker.size === 0;
    const msLeft = window ? limiter.msLeft(window) : limiter.policy.windowSeconds * 1_000;
    return { allowed: 0, ahead: 0, lease: 0, remaining, msLeft, isExhausted };
  }

  private recall({ policy, caller }: LeaseRequest, leases: Leases): void {
    if (this.recalling.has(leases)) return;
    this.recalling.add(leases);
    for (const [worker, lease] of leases.byWorker) {
      if (this.workers.has(worker)) send(worker, { recall: { policy, caller, lease } });
      else this.end(leases, worker);
    }
  }

  private takeBack(worker: Channel, { policy, caller, lease, unused }: LeaseReturn): void {
    const window = this.byName.get(policy)?.currentWindow(caller);
    // A lease request can wait for the leases of a window that has ended since.
    const candidates = [...(window ? [this.leasesOf(window)] : []), ...this.recalling];
    const leases = candidates.find(({ byWorker }) => byWorker.get(worker) === lease);
    if (!leases) return;
    leases.window.count -= unused;
    this.end(leases, worker);
  }

  /** Ends the lease of a worker. After the last one, what waits is granted. */
  private end(leases: Leases, worker: Channel): void {
    leases.byWorker.delete(worker);
    if (leases.byWorker.size > 0) return;
    this.recalling.delete(leases);
    while (leases.byWorker.size === 0 && leases.waiting.length > 0) leases.waiting.shift()?.();
  }

  private leasesOf(window: Window): Leases {
    const leases = this.leases.get(window) ?? { window, byWorker: new Map(), waiting: [] };
    this.leases.set(window, leases);
    return leases;
  }
}

function isWorkerMessage(message: unknown): message is WorkerMessage {
  return typeof message === 'object' && message !== null && ('requests' in message || 'returned' in message);
}

function send(worker: Channel, message: PrimaryMessage): void {
  worker.send(message);
}
