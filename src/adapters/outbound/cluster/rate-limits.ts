import type { Clock } from '../../../application/ports/clock.js';
import type { RateLimiter, RatePolicy, RateState } from '../../../application/ports/rate-limiter.js';
import { unavailable } from '../../../domain/errors.js';
import type { MaybePromise } from '../../../shared/promises.js';

/** One end of an IPC channel between two processes. Each message arrives whole and in order, as JSON carries it. */
export interface Channel {
  send(message: object): void;
  receive(listener: (message: unknown) => void): void;
}

/**
 * Asks the primary to count `needed` requests of one caller; with 0, it asks for the caller's state alone. The worker
 * returns the rest of its lease at the same time.
 */
export interface LeaseRequest {
  readonly id: number;
  readonly policy: string;
  readonly caller: string;
  readonly needed: number;
  readonly returned?: LeaseReturn | undefined;
}

/** The unused rest of a lease. */
export interface LeaseReturn {
  readonly policy: string;
  readonly caller: string;
  readonly lease: number;
  readonly unused: number;
}

/** The response to one lease request. */
export interface Lease {
  /** How many of the needed requests are allowed. */
  readonly allowed: number;
  /** How many more requests the worker may allow by itself, and the name of this lease. */
  readonly ahead: number;
  readonly lease: number;
  /** The rest of the quota that is neither used nor leased. */
  readonly remaining: number;
  /** Until the window ends. */
  readonly msLeft: number;
  /** Whether every further request in this window is over the quota. */
  readonly isExhausted: boolean;
}

/** From a worker. */
export interface WorkerMessage {
  readonly requests?: readonly LeaseRequest[];
  readonly returned?: LeaseReturn;
}

/** From the primary. Leases have the ids of their requests; one is null if the primary does not know the policy. */
export interface PrimaryMessage {
  readonly leases?: readonly (readonly [id: number, lease: Lease | null])[];
  /** A lease that must be returned. */
  readonly recall?: Omit<LeaseReturn, 'unused'>;
}

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
      const { returned, requests } = (message ?? {}) as WorkerMessage;
      if (returned) this.takeBack(worker, returned);
      if (requests) this.respond(worker, requests);
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

function send(worker: Channel, message: PrimaryMessage): void {
  worker.send(message);
}

/**
 * The primary only counts and hands over connections. If it is silent for longer, it gets no CPU time, and the request
 * is 503: a guess would break the limit.
 */
const TIMEOUT_MS = 2_000;
/** How old `remaining` may be: what other workers have counted since is not in it. */
const LEASE_MS = 100;
const MAX_LEASES = 10_000;

/** Ends a lease. @returns its unused rest */
type Recall = (caller: string, lease: number) => number;

/** A lease request that further requests join until it is sent. */
interface OpenRequest {
  needed: number;
  isSent: boolean;
  readonly granted: Promise<Lease>;
}

interface PendingRequest {
  readonly content: Omit<LeaseRequest, 'id' | 'needed'>;
  readonly request: OpenRequest;
  readonly settle: (lease: Lease | null) => void;
}

/**
 * A worker's channel to the primary. It sends the lease requests of one turn of the event loop in one message, because
 * a message costs more than a count.
 */
export class PrimaryChannel {
  private readonly sent = new Map<number, PendingRequest>();
  private readonly recalls = new Map<string, Recall>();
  private unsent: PendingRequest[] = [];
  private lastId = 0;

  constructor(
    private readonly channel: Channel,
    private readonly timeoutMs = TIMEOUT_MS,
  ) {
    channel.receive((message) => {
      const { leases = [], recall } = (message ?? {}) as PrimaryMessage;
      for (const [id, lease] of leases) this.settle(id, lease);
      if (recall) this.returnLease(recall);
    });
  }

  onRecall(policy: string, recall: Recall): void {
    this.recalls.set(policy, recall);
  }

  /**
   * The promise of the lease request rejects with an AppError `unavailable` if no response comes in time.
   * @param onLease called before the next message is read, which may recall this lease
   */
  open(content: PendingRequest['content'], onLease?: (lease: Lease) => void): OpenRequest {
    let settle: PendingRequest['settle'] = () => {};
    const granted = new Promise<Lease>((resolve, reject) => {
      settle = (lease) => {
        if (!lease) return reject(unavailable('The process that counts requests does not respond.'));
        onLease?.(lease);
        resolve(lease);
      };
    });
    const request = { needed: 0, isSent: false, granted };
    if (this.unsent.length === 0) setImmediate(() => this.send());
    this.unsent.push({ content, request, settle });
    return request;
  }

  giveBack(returned: LeaseReturn): void {
    this.channel.send({ returned } satisfies WorkerMessage);
  }

  private send(): void {
    if (this.unsent.length === 0) return;
    const first = this.lastId + 1;
    const requests = this.unsent.map((pending): LeaseRequest => {
      const id = ++this.lastId;
      this.sent.set(id, pending);
      pending.request.isSent = true;
      return { id, needed: pending.request.needed, ...pending.content };
    });
    const last = this.lastId;
    this.unsent = [];
    // After a busy turn a response may have arrived in time and still be unread. setImmediate lets it be read first.
    setTimeout(() => setImmediate(() => this.giveUp(first, last)), this.timeoutMs).unref();
    this.channel.send({ requests } satisfies WorkerMessage);
  }

  /** A response that comes later is still read, because its lease can be used. */
  private giveUp(first: number, last: number): void {
    for (let id = first; id <= last; id++) this.sent.get(id)?.settle(null);
  }

  private settle(id: number, lease: Lease | null): void {
    this.sent.get(id)?.settle(lease);
    this.sent.delete(id);
  }

  private returnLease({ policy, caller, lease }: Omit<LeaseReturn, 'unused'>): void {
    // A lease request that is not sent yet may return this lease. Then it must arrive first, because it has the unused rest.
    this.send();
    const unused = this.recalls.get(policy)?.(caller, lease) ?? 0;
    this.giveBack({ policy, caller, lease, unused });
  }
}

/** What a worker knows of a caller. */
interface HeldLease {
  readonly id: number;
  /** The requests that this worker may still allow by itself. */
  left: number;
  /** The rest of the quota that was neither used nor leased when the primary responded. */
  readonly remaining: number;
  readonly isExhausted: boolean;
  readonly staleAt: number;
  /** Not after the end of the window in the primary. */
  readonly endsAt: number;
}

/**
 * Limits the callers of all workers of this machine together. The primary counts for all, and leases requests ahead to
 * the workers; see {@link RateLimitServer}.
 */
export class ClusterRateLimiter implements RateLimiter {
  private readonly leases = new Map<string, HeldLease>();
  private readonly requests = new Map<string, OpenRequest>();

  /** @param policy one that the primary counts under the same name */
  constructor(
    readonly policy: RatePolicy,
    private readonly primary: PrimaryChannel,
    private readonly clock: Pick<Clock, 'elapsed'>,
  ) {
    primary.onRecall(policy.name, (caller, id) => {
      const lease = this.leases.get(caller);
      if (lease?.id !== id) return 0;
      this.leases.delete(caller);
      return lease.left;
    });
  }

  /** A promise rejects with an AppError `unavailable` if the primary does not respond in time. */
  consume(caller: string): MaybePromise<RateState> {
    const known = this.known(caller);
    if (!known) return this.ask(caller);
    if (known.left === 0) return state(false, 0, known.endsAt - this.clock.elapsed());
    known.left--;
    return state(true, known.left + known.remaining, known.endsAt - this.clock.elapsed());
  }

  /** A promise rejects with an AppError `unavailable` if the primary does not respond in time. */
  async peek(caller: string): Promise<RateState> {
    const known = this.known(caller);
    if (known) return state(known.left > 0, known.left + known.remaining, known.endsAt - this.clock.elapsed());
    const { granted } = this.primary.open({ policy: this.policy.name, caller });
    const { remaining, isExhausted, msLeft } = await granted;
    return state(!isExhausted, remaining, msLeft);
  }

  /** Returns a lease that decides the next request: it has a rest, or the quota is exhausted. */
  private known(caller: string): HeldLease | undefined {
    const lease = this.leases.get(caller);
    if (!lease) return undefined;
    const now = this.clock.elapsed();
    const isUsable = lease.isExhausted || (lease.left > 0 && now < lease.staleAt);
    return isUsable && now < lease.endsAt ? lease : undefined;
  }

  private async ask(caller: string): Promise<RateState> {
    const open = this.requests.get(caller);
    const request = open && !open.isSent ? open : this.openRequest(caller);
    const position = request.needed++;
    const { allowed, ahead, remaining, msLeft } = await request.granted;
    return state(position < allowed, Math.max(0, allowed - 1 - position) + ahead + remaining, msLeft);
  }

  private openRequest(caller: string): OpenRequest {
    const policy = this.policy.name;
    const lease = this.leases.get(caller);
    this.leases.delete(caller);
    const returned = lease && { policy, caller, lease: lease.id, unused: lease.left };
    const askedAt = this.clock.elapsed();
    const request = this.primary.open({ policy, caller, returned }, (lease) => this.keep(caller, lease, askedAt));
    this.requests.set(caller, request);
    const forget = () => {
      if (this.requests.get(caller) === request) this.requests.delete(caller);
    };
    request.granted.then(forget, forget);
    return request;
  }

  private keep(caller: string, { ahead, lease, remaining, msLeft, isExhausted }: Lease, askedAt: number): void {
    if (ahead === 0 && !isExhausted) return;
    if (this.leases.size >= MAX_LEASES) this.giveUpOldest();
    const endsAt = askedAt + msLeft;
    const staleAt = this.clock.elapsed() + LEASE_MS;
    this.leases.set(caller, { id: lease, left: ahead, remaining, isExhausted, staleAt, endsAt });
  }

  private giveUpOldest(): void {
    for (const [caller, { id, left }] of this.leases) {
      this.leases.delete(caller);
      this.primary.giveBack({ policy: this.policy.name, caller, lease: id, unused: left });
      return;
    }
  }
}

function state(allowed: boolean, remaining: number, msLeft: number): RateState {
  return { allowed, remaining, resetSeconds: Math.max(1, Math.ceil(msLeft / 1_000)) };
}
