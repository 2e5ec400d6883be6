import type { RateLimiter, RatePolicy, RateState } from '../../../../application/ports/rate-limiter.js';
import { AppError } from '../../../../domain/errors.js';
import type { Context } from '../context.js';
import { clientOf } from '../work-limits.js';

/**
 * Counts the request against its principal, or against its IP address if it has no principal.
 * @throws AppError `rate_limited`
 */
export async function countRequest(ctx: Context, limiter: RateLimiter): Promise<void> {
  const state = await limiter.consume(clientOf(ctx));
  setRateHeaders(ctx, limiter.policy, state);
  if (state.allowed) return;
  setRetryAfter(ctx, state);
  throw new AppError('rate_limited', `Over ${limiter.policy.quota} requests in one window; try again later.`);
}

/** Sets the headers that name the exhausted policy and when it resets. */
export function setThrottledHeaders(ctx: Context, policy: RatePolicy, state: RateState): void {
  setRateHeaders(ctx, policy, state);
  setRetryAfter(ctx, state);
}

/** Sets the headers of draft-ietf-httpapi-ratelimit-headers. */
function setRateHeaders(ctx: Context, policy: RatePolicy, state: RateState): void {
  ctx.set('RateLimit-Policy', `"${policy.name}";q=${policy.quota};w=${policy.windowSeconds}`);
  ctx.set('RateLimit', `"${policy.name}";r=${state.remaining};t=${state.resetSeconds}`);
}

function setRetryAfter(ctx: Context, { resetSeconds }: RateState): void {
  ctx.set('Retry-After', String(resetSeconds));
}
