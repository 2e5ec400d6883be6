import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Metrics } from '../../../application/ports/metrics.js';
import { type Observer, observeCall, type StoreCall } from '../../../application/ports/observer.js';
import type { RateLimiter, RatePolicy, RateState } from '../../../application/ports/rate-limiter.js';
import { AppError } from '../../../domain/errors.js';
import { yieldToEventLoop } from '../../../shared/promises.js';
import { InvalidReply, type RedisConnection } from './connection.js';

/** The requests of one caller that one command counts. */
interface Batch {
  size: number;
  readonly result: Promise<RateLimiterRes>;
}

/**
 * Limits the callers of all processes that share one Redis. The requests of one caller in one turn of the event loop
 * share a command, so a few commands count a flood of requests exactly. Every method may throw an AppError
 * `unavailable`; the request may be counted nevertheless.
 */
export class RedisRateLimiter implements RateLimiter {
  private readonly limiter: RateLimiterRedis;
  private readonly consumeCall: StoreCall;
  private readonly peekCall: StoreCall;
  /** The commands that are not sent yet, by caller. */
  private readonly batches = new Map<string, Batch>();
  private readonly lookups = new Map<string, Promise<RateLimiterRes | null>>();

  constructor(
    readonly policy: RatePolicy,
    private readonly connection: RedisConnection,
    private readonly observers: readonly Observer[] = [],
  ) {
    this.consumeCall = { system: 'redis', operation: 'consume', collection: policy.name };
    this.peekCall = { system: 'redis', operation: 'peek', collection: policy.name };
    this.limiter = new RateLimiterRedis({
      storeClient: connection.client,
      keyPrefix: `catalogue:rate:${policy.name}`,
      points: policy.quota,
      duration: policy.windowSeconds,
      rejectIfRedisNotReady: true,
    });
  }

  async consume(caller: string): Promise<RateState> {
    const batch = this.batches.get(caller) ?? this.openBatch(caller);
    const position = ++batch.size;
    const { consumedPoints, msBeforeNext } = await batch.result;
    const consumed = consumedPoints - batch.size + position;
    return this.state(consumed <= this.policy.quota, consumed, msBeforeNext);
  }

  async peek(caller: string): Promise<RateState> {
    const { quota, windowSeconds } = this.policy;
    const now = await (this.lookups.get(caller) ?? this.openLookup(caller));
    if (!now) return { allowed: true, remaining: quota, resetSeconds: windowSeconds };
    return this.state(now.consumedPoints < quota, now.consumedPoints, now.msBeforeNext);
  }

  private openBatch(caller: string): Batch {
    const result = yieldToEventLoop()
      .then(() =>
        this.send(this.consumeCall, () => {
          this.batches.delete(caller);
          return this.count(caller, batch.size);
        }),
      )
      .finally(() => this.close(this.batches, caller, batch));
    const batch: Batch = { size: 0, result };
    this.batches.set(caller, batch);
    return batch;
  }

  private openLookup(caller: string): Promise<RateLimiterRes | null> {
    const lookup = this.send(this.peekCall, () => {
      this.lookups.delete(caller);
      return this.lookUp(caller);
    }).finally(() => this.close(this.lookups, caller, lookup));
    this.lookups.set(caller, lookup);
    return lookup;
  }

  private send<Result>(call: StoreCall, command: () => Promise<Result>): Promise<Result> {
    return observeCall(this.observers, call, () => this.connection.send(command));
  }

  /** Lets no further request join a command that failed before it was sent. */
  private close<Command>(unsent: Map<string, Command>, caller: string, command: Command): void {
    if (unsent.get(caller) === command) unsent.delete(caller);
  }

  private async count(caller: string, requests: number): Promise<RateLimiterRes> {
    const counted = await this.limiter.consume(caller, requests).catch(asCounted);
    if (!isPossible(counted, requests)) throw new InvalidReply('the reply is not a valid count');
    return this.endingInTime(caller, counted);
  }

  private async lookUp(caller: string): Promise<RateLimiterRes | null> {
    const counted = await this.limiter.get(caller);
    if (!counted) return null;
    if (!isPossible(counted, 0)) throw new InvalidReply('the reply is not a valid count');
    return this.endingInTime(caller, counted);
  }

  /**
   * Lets a window end after its length if it has longer to go. Redis keeps the time of day at which a window ends: after
   * its clock was set back, the window would otherwise refuse its caller for hours or days.
   */
  private async endingInTime(caller: string, counted: RateLimiterRes): Promise<RateLimiterRes> {
    const windowMs = this.policy.windowSeconds * 1_000;
    if (counted.msBeforeNext > windowMs) await this.connection.client.pexpire(this.limiter.getKey(caller), windowMs);
    return counted;
  }

  private state(allowed: boolean, consumed: number, msLeft: number): RateState {
    const { quota, windowSeconds } = this.policy;
    // A window may have begun under a longer setting or before the clock was set back, or may end this instant.
    const resetSeconds = Math.max(1, Math.min(Math.ceil(msLeft / 1000), windowSeconds));
    return { allowed, remaining: Math.max(0, quota - consumed), resetSeconds };
  }
}

/** Returns the count of a caller that is over the quota: the limiter rejects with it. */
function asCounted(refusal: unknown): RateLimiterRes {
  if (refusal instanceof RateLimiterRes) return refusal;
  // The library destructures a reply without checking its type.
  throw refusal instanceof TypeError ? new InvalidReply('the reply is not a valid count') : refusal;
}

/** @param least the number of requests just counted */
function isPossible({ consumedPoints, msBeforeNext }: RateLimiterRes, least: number): boolean {
  const isCount = Number.isSafeInteger(consumedPoints) && consumedPoints >= least;
  // PTTL returns -1 for a key without an expiry, and -2 for one that does not exist.
  return isCount && Number.isSafeInteger(msBeforeNext) && msBeforeNext >= -2;
}

export interface FallbackDependencies {
  /** Counts for all processes together. Throws `unavailable` if it cannot count in time. */
  readonly shared: RateLimiter;
  /** Makes a limiter for this process alone, with all counts at zero. */
  readonly makeLocal: () => RateLimiter;
  readonly metrics: Metrics;
}

/**
 * Limits by the shared limiter, and during its outages by a limiter of this process. An outage begins with the first
 * request that the shared limiter does not count, and ends with the first that it counts again. A caller has one local
 * quota per window, even if outages follow one another.
 */
export class FallbackRateLimiter implements RateLimiter {
  /** Made for the first outage. Its counts end with their windows: a new outage within a window continues them. */
  private local: RateLimiter | undefined;
  private isOutage = false;
  /** The number of outages that have begun. */
  private outages = 0;

  constructor(private readonly deps: FallbackDependencies) {}

  get policy(): RatePolicy {
    return this.deps.shared.policy;
  }

  async consume(caller: string): Promise<RateState> {
    const { isOutage, outages } = this;
    try {
      const state = await this.deps.shared.consume(caller);
      // A request from before an outage does not end it.
      if (isOutage && outages === this.outages) this.isOutage = false;
      return state;
    } catch (error) {
      const local = this.startOutage(error);
      this.deps.metrics.increment('rate_limiter_fallback_total');
      return local.consume(caller);
    }
  }

  /** Does not read the shared limiter during an outage: a limiter that can be read but not written limits nobody. */
  async peek(caller: string): Promise<RateState> {
    if (this.isOutage && this.local) return this.local.peek(caller);
    try {
      return await this.deps.shared.peek(caller);
    } catch (error) {
      return this.startOutage(error).peek(caller);
    }
  }

  /** @throws `error`, unless it is `unavailable` */
  private startOutage(error: unknown): RateLimiter {
    if (!(error instanceof AppError && error.code === 'unavailable')) throw error;
    this.local ??= this.deps.makeLocal();
    if (!this.isOutage) {
      this.isOutage = true;
      this.outages++;
    }
    return this.local;
  }
}
