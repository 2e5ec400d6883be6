import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimiter, RatePolicy, RateState } from '../../../application/ports/rate-limiter.js';
import { InvalidReply, type RedisConnection } from './connection.js';

/** Requests of one caller that are counted by one command. */
interface Batch {
  size: number;
  readonly answer: Promise<RateLimiterRes>;
}

/**
 * Limits the callers of all processes that share one Redis. Requests of one caller that arrive together share a
 * command, so that a flood of them is counted exactly by a few.
 * Every method may throw a CatalogueError `unavailable`; the request may then have been counted.
 */
export class RedisRateLimiter implements RateLimiter {
  private readonly limiter: RateLimiterRedis;
  /** By caller, what has not been sent yet. */
  private readonly batches = new Map<string, Batch>();
  private readonly looks = new Map<string, Promise<RateLimiterRes | null>>();

  constructor(
    readonly policy: RatePolicy,
    private readonly connection: RedisConnection,
  ) {
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
    const place = ++batch.size;
    const { consumedPoints, msBeforeNext } = await batch.answer;
    const consumed = consumedPoints - batch.size + place;
    return this.state(consumed <= this.policy.quota, consumed, msBeforeNext);
  }

  async peek(caller: string): Promise<RateState> {
    const { quota, windowSeconds } = this.policy;
    const now = await (this.looks.get(caller) ?? this.openLook(caller));
    if (!now) return { allowed: true, remaining: quota, resetSeconds: windowSeconds };
    return this.state(now.consumedPoints < quota, now.consumedPoints, now.msBeforeNext);
  }

  private openBatch(caller: string): Batch {
    const answer = this.connection
      .send(() => {
        this.batches.delete(caller);
        return this.count(caller, batch.size);
      })
      .finally(() => this.close(this.batches, caller, batch));
    const batch: Batch = { size: 0, answer };
    this.batches.set(caller, batch);
    return batch;
  }

  private openLook(caller: string): Promise<RateLimiterRes | null> {
    const look = this.connection
      .send(() => {
        this.looks.delete(caller);
        return this.look(caller);
      })
      .finally(() => this.close(this.looks, caller, look));
    this.looks.set(caller, look);
    return look;
  }

  /** What was never sent takes nobody along any more. */
  private close<Open>(open: Map<string, Open>, caller: string, one: Open): void {
    if (open.get(caller) === one) open.delete(caller);
  }

  private async count(caller: string, requests: number): Promise<RateLimiterRes> {
    const counted = await this.limiter.consume(caller, requests).catch(asCounted);
    if (!isPossible(counted, requests)) throw new InvalidReply('the reply is not a valid count');
    return counted;
  }

  private async look(caller: string): Promise<RateLimiterRes | null> {
    const counted = await this.limiter.get(caller);
    if (counted && !isPossible(counted, 0)) throw new InvalidReply('the reply is not a valid count');
    return counted;
  }

  private state(allowed: boolean, consumed: number, msLeft: number): RateState {
    const { quota, windowSeconds } = this.policy;
    // A window that began under a longer setting, or ends this instant, is still told within this policy's bounds.
    const resetSeconds = Math.max(1, Math.min(Math.ceil(msLeft / 1000), windowSeconds));
    return { allowed, remaining: Math.max(0, quota - consumed), resetSeconds };
  }
}

/** What the limiter throws where a caller is over the quota. */
function asCounted(refusal: unknown): RateLimiterRes {
  if (refusal instanceof RateLimiterRes) return refusal;
  // The library destructures a reply without a check of its type.
  throw refusal instanceof TypeError ? new InvalidReply('the reply is not a valid count') : refusal;
}

/** @param least what was counted just now */
function isPossible({ consumedPoints, msBeforeNext }: RateLimiterRes, least: number): boolean {
  const isCount = Number.isSafeInteger(consumedPoints) && consumedPoints >= least;
  // PTTL says -1 of a key without an end, and -2 of one that is gone.
  return isCount && Number.isSafeInteger(msBeforeNext) && msBeforeNext >= -2;
}
