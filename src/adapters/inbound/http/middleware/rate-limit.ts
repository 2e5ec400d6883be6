import type { RateLimiter, RatePolicy, RateState } from '../../../../application/ports/rate-limiter.js';
import { AppError } from '../../../../domain/errors.js';
import { andThen, type MaybePromise } from '../../../../shared/maybe-promise.js';
import { clientOf } from '../core/concurrency-limits.js';
import type { Context } from '../core/context.js';

/**
 * Counts the request against its principal, or against its IP address if it has no principal.
 * @throws AppError `rate_limited`
 */
export function countRequest(ctx: Context, limiter: RateLimiter): MaybePromise<void> {
  return andThen(limiter.consume(clientOf(ctx)), (state) => {
    const { policy } = limiter;
    setRateHeaders(ctx, policy, state);
    if (state.allowed) return;
    setRetryAfter(ctx, state);
    throw new AppError('rate_limited', `Over ${policy.quota} requests in one window; try again later.`);
  });
}

/** Sets the headers that name the exhausted policy and when it resets. */
export function setThrottledHeaders(ctx: Context, policy: RatePolicy, state: RateState): void {
  setRateHeaders(ctx, policy, state);
  setRetryAfter(ctx, state);
}

/** Sets the headers of draft-ietf-httpapi-ratelimit-headers. */
function setRateHeaders(ctx: Context, policy: RatePolicy, { remaining, resetSeconds }: RateState): void {
  const { name, quota, windowSeconds } = policy;
  ctx.set('RateLimit-Policy', `"${name}";q=${quota};w=${windowSeconds}`);
  ctx.set('RateLimit', `"${name}";r=${remaining};t=${resetSeconds}`);
}

function setRetryAfter(ctx: Context, { resetSeconds }: RateState): void {
  ctx.set('Retry-After', String(resetSeconds));
}
