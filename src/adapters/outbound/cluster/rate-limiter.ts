import type { RateLimiter, RatePolicy, RateState } from '../../../application/ports/rate-limiter.js';
import { unavailable } from '../../../domain/errors.js';

/** One end of an IPC channel between two processes. Each message arrives whole and in order, as JSON carries it. */
export interface Channel {
  send(message: object): void;
  receive(listener: (message: unknown) => void): void;
}

/** The policy's name, what to do, and the caller. */
export type RateRequest = readonly [policy: string, verb: 'consume' | 'peek', caller: string];

/** The requests of a worker in one turn of its event loop. */
export interface RateRequests {
  readonly batch: number;
  readonly requests: readonly RateRequest[];
}

/** The states after one batch, in the order of its requests; null if the primary does not know the policy. */
export interface RateResponses {
  readonly batch: number;
  readonly states: readonly (RateState | null)[];
}

/** The primary only counts and hands over connections. If it is silent for longer, it gets no CPU time. */
const TIMEOUT_MS = 2_000;

interface PendingRequest {
  readonly request: RateRequest;
  readonly resolve: (state: RateState) => void;
  readonly reject: (error: Error) => void;
}

interface PendingBatch {
  readonly pending: readonly PendingRequest[];
  readonly timeout: NodeJS.Timeout;
}

/**
 * A worker's channel to the primary that counts. It sends the requests of one turn of the event loop in one message,
 * because a message costs more than a count. RateLimiterCluster of rate-limiter-flexible sends one message for each.
 */
export class PrimaryChannel {
  private readonly batches = new Map<number, PendingBatch>();
  private next: PendingRequest[] = [];
  private lastBatch = 0;

  constructor(
    private readonly channel: Channel,
    private readonly timeoutMs = TIMEOUT_MS,
  ) {
    channel.receive((message) => {
      if (isRateResponses(message)) this.settle(message.batch, message.states);
    });
  }

  /** @throws AppError `unavailable` if no response comes in time */
  request(request: RateRequest): Promise<RateState> {
    return new Promise((resolve, reject) => {
      if (this.next.length === 0) setImmediate(() => this.send());
      this.next.push({ request, resolve, reject });
    });
  }

  private send(): void {
    const pending = this.next;
    const batch = ++this.lastBatch;
    this.next = [];
    // After a busy turn a response may have arrived in time and still be unread. setImmediate lets it be read first.
    const timeout = setTimeout(() => setImmediate(() => this.settle(batch, [])), this.timeoutMs);
    this.batches.set(batch, { pending, timeout });
    this.channel.send({ batch, requests: pending.map(({ request }) => request) } satisfies RateRequests);
  }

  /** Does nothing for a response that comes too late. */
  private settle(batch: number, states: RateResponses['states']): void {
    const { pending = [], timeout } = this.batches.get(batch) ?? {};
    this.batches.delete(batch);
    clearTimeout(timeout);
    for (const [i, { resolve, reject }] of pending.entries()) {
      const state = states[i];
      if (state) resolve(state);
      else reject(unavailable('The process that counts requests does not respond.'));
    }
  }
}

/** Limits the callers of all workers of this machine together: the primary counts for all. */
export class ClusterRateLimiter implements RateLimiter {
  /** @param policy one that the primary counts under the same name */
  constructor(
    readonly policy: RatePolicy,
    private readonly primary: PrimaryChannel,
  ) {}

  /** @throws AppError `unavailable` if the primary does not respond in time */
  consume(caller: string): Promise<RateState> {
    return this.primary.request([this.policy.name, 'consume', caller]);
  }

  /** @throws AppError `unavailable` if the primary does not respond in time */
  peek(caller: string): Promise<RateState> {
    return this.primary.request([this.policy.name, 'peek', caller]);
  }
}

function isRateResponses(message: unknown): message is RateResponses {
  return typeof message === 'object' && message !== null && 'batch' in message && 'states' in message;
}
