import {
  AuthenticationThrottled,
  type Authenticator,
  isBadCredential,
} from '../../../../application/auth/authenticator.js';
import type { RateLimiter, RatePolicy, RateState } from '../../../../application/ports/rate-limiter.js';
import { denialReason, InsufficientScope, type Principal, type Requirement } from '../../../../domain/access.js';
import { AppError } from '../../../../domain/errors.js';
import { andThen, type MaybePromise } from '../../../../shared/promises.js';
import { clientOf } from '../core/concurrency-limits.js';
import type { Context } from '../core/context.js';

export interface AccessControl {
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter;
  /** Returns what the service waits for before anybody has access; undefined once it waits no longer. */
  readonly pending?: () => string | undefined;
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
  if (error instanceof AuthenticationThrottled) setRateHeaders(ctx, error.policy, error.state);
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

/**
 * Counts the request against its principal, or against its IP address if it has no principal.
 * @throws AppError `rate_limited`
 */
export function countRequest(ctx: Context, limiter: RateLimiter): MaybePromise<void> {
  return andThen(limiter.consume(clientOf(ctx)), (state) => {
    const { policy } = limiter;
    setRateHeaders(ctx, policy, state);
    if (state.allowed) return;
    throw new AppError('rate_limited', `Over ${policy.quota} requests in one window; try again later.`);
  });
}

/** Sets the headers of draft-ietf-httpapi-ratelimit-headers, and when to try again if the quota is exhausted. */
export function setRateHeaders(ctx: Context, policy: RatePolicy, state: RateState): void {
  const { name, quota, windowSeconds } = policy;
  const { allowed, remaining, resetSeconds } = state;
  ctx.set('RateLimit-Policy', `"${name}";q=${quota};w=${windowSeconds}`);
  ctx.set('RateLimit', `"${name}";r=${remaining};t=${resetSeconds}`);
  if (!allowed) ctx.set('Retry-After', String(resetSeconds));
}

/**
 * Adds the bearer challenge to a response that rejects a credential (RFC 6750 section 3), with the URL of the resource
 * metadata (RFC 9728 section 5.1). Keeps a challenge that is already set.
 */
export function bearerChallenge(metadataUrl: () => string): (ctx: Context, error: unknown) => void {
  return (ctx, error) => {
    const parameters = parametersFor(error);
    if (!parameters || ctx.response.get('WWW-Authenticate')) return;
    const all = [...parameters, `resource_metadata="${metadataUrl()}"`];
    ctx.set('WWW-Authenticate', `Bearer ${all.join(', ')}`);
  };
}

/** The parameters of the challenge. They name no error if the request has no token (RFC 6750 section 3.1). */
function parametersFor(error: unknown): string[] | undefined {
  if (error instanceof InsufficientScope) return ['error="insufficient_scope"', `scope="${error.missing.join(' ')}"`];
  if (isBadCredential(error)) return ['error="invalid_token"', `error_description="${error.message}"`];
  return error instanceof AppError && error.code === 'unauthenticated' ? [] : undefined;
}
