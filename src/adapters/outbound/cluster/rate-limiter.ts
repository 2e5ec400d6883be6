import type { Clock } from '../../../application/ports/clock.js';
import type { RateLimiter, RatePolicy, RateState } from '../../../application/ports/rate-limiter.js';
import { unavailable } from '../../../domain/errors.js';
import type { MaybePromise } from '../../../shared/promises.js';
import type { Channel, Lease, LeaseRequest, LeaseReturn, PrimaryMessage, WorkerMessage } from './messages.js';

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
      if (!isPrimaryMessage(message)) return;
      for (const [id, lease] of message.leases ?? []) this.settle(id, lease);
      if (message.recall) this.returnLease(message.recall);
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
    if (known)
      return state(known.left > 0, known.left + known.remaining, known.endsAt - this.clock.elapsed());
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
    const request = this.primary.open({ policy, caller, returned }, (lease) =>
      this.keep(caller, lease, askedAt),
    );
    this.requests.set(caller, request);
    const forget = () => {
      if (this.requests.get(caller) === request) this.requests.delete(caller);
    };
    request.granted.then(forget, forget);
    return request;
  }

  private keep(
    caller: string,
    { ahead, lease, remaining, msLeft, isExhausted }: Lease,
    askedAt: number,
  ): void {
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

function isPrimaryMessage(message: unknown): message is PrimaryMessage {
  return typeof message === 'object' && message !== null && ('leases' in message || 'recall' in message);
}
