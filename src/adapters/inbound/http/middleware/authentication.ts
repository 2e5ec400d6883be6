import { AuthenticationThrottled, type Authenticator } from '../../../../application/auth/authenticator.js';
import { denialReason, type Requirement } from '../../../../application/auth/authorization.js';
import type { RateLimiter } from '../../../../application/ports/rate-limiter.js';
import type { Principal } from '../../../../domain/access.js';
import { andThen, type MaybePromise } from '../../../../shared/maybe-promise.js';
import type { Context } from '../core/context.js';
import { countRequest, setThrottledHeaders } from './rate-limit.js';

export interface AccessControl {
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter;
}

/**
 * Sets `ctx.state.principal` if the request has a bearer token, and counts the request even if the token is rejected.
 * Returns a promise only if the token must be verified, or the count is that of another process.
 * @throws AppError `invalid_token`, `token_expired`, `rate_limited`, `unavailable`
 */
export function authenticate(ctx: Context, { authenticator, limiter }: AccessControl): MaybePromise<void> {
  const token = bearerToken(ctx.get('Authorization'));
  if (token === undefined) return countRequest(ctx, limiter);
  const accept = (principal: Principal) => {
    ctx.state.principal = principal;
    return countRequest(ctx, limiter);
  };
  const principal = authenticator.authenticate(token, ctx.state.address);
  return principal instanceof Promise
    ? principal.then(accept, (error) => refuse(ctx, limiter, error))
    : accept(principal);
}

/** @throws AppError `unauthenticated`, `insufficient_scope` */
export function authorize(ctx: Context, requirement: Requirement): void {
  const denied = denialReason(ctx.state.principal, requirement);
  if (denied) throw denied;
}

/**
 * Authenticates and authorizes a request again, without counting it.
 * @throws AppError `invalid_token`, `token_expired`, `insufficient_scope`, `unavailable`
 */
export function checkAgain(
  ctx: Context,
  { authenticator }: AccessControl,
  requirement: Requirement,
): MaybePromise<void> {
  const token = bearerToken(ctx.get('Authorization'));
  const { principal } = ctx.state;
  if (token === undefined || !principal) return;
  return andThen(authenticator.verifyAgain(token, principal), (verified) => {
    const denied = denialReason(verified, requirement);
    if (denied) throw denied;
  });
}

/** Counts a request whose token is rejected, unless its address is throttled already. */
async function refuse(ctx: Context, limiter: RateLimiter, error: unknown): Promise<never> {
  if (error instanceof AuthenticationThrottled) setThrottledHeaders(ctx, error.policy, error.state);
  else await countRequest(ctx, limiter);
  throw error;
}

/**
 * The token in `Authorization` (RFC 6750 section 2.1); undefined for another scheme. The scheme is case-insensitive
 * (RFC 9110 section 11.1). A malformed bearer credential is returned whole, so that it is rejected as a bad token.
 */
function bearerToken(authorization: string): string | undefined {
  // Matches only what precedes the token, because an access token can have thousands of characters.
  const [scheme] = /^bearer +(?=\S)/i.exec(authorization) ?? [];
  if (scheme !== undefined) return authorization.slice(scheme.length);
  return /^bearer[^a-z0-9-]/i.test(authorization) ? authorization : undefined;
}
