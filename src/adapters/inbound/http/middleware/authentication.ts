import { AuthenticationThrottled, type Authenticator } from '../../../../application/auth/authenticator.js';
import { denialReason, type Requirement } from '../../../../application/auth/authorization.js';
import type { RateLimiter } from '../../../../application/ports/rate-limiter.js';
import type { Context } from '../context.js';
import { countRequest, setThrottledHeaders } from './rate-limit.js';

export interface AccessControl {
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter;
}

/**
 * Sets `ctx.state.principal` if the request has a bearer token, and counts the request even if the token is rejected.
 * @throws AppError `invalid_token`, `token_expired`, `rate_limited`, `unavailable`
 */
export async function authenticate(ctx: Context, { authenticator, limiter }: AccessControl): Promise<void> {
  const error = await resolvePrincipal(ctx, authenticator);
  if (error instanceof AuthenticationThrottled) {
    setThrottledHeaders(ctx, error.policy, error.state);
    throw error;
  }
  await countRequest(ctx, limiter);
  if (error) throw error;
}

/** @throws AppError `unauthenticated`, `insufficient_scope` */
export function authorize(ctx: Context, requirement: Requirement): void {
  const denied = denialReason(ctx.state.principal, requirement);
  if (denied) throw denied;
}

/** @returns the error of the token, if it is rejected */
async function resolvePrincipal(ctx: Context, authenticator: Authenticator): Promise<unknown> {
  const token = bearerToken(ctx.get('Authorization'));
  if (token === undefined) return undefined;
  try {
    ctx.state.principal = await authenticator.authenticate(token, ctx.state.address);
    return undefined;
  } catch (error) {
    return error;
  }
}

/**
 * The token in `Authorization` (RFC 6750 section 2.1); undefined for another scheme. The scheme is case-insensitive
 * (RFC 9110 section 11.1). A malformed bearer credential is returned whole, so that it is rejected as a bad token.
 */
function bearerToken(authorization: string): string | undefined {
  const [, token] = /^bearer +(\S.*)$/i.exec(authorization) ?? [];
  return token ?? (/^bearer[^a-z0-9-]/i.test(authorization) ? authorization : undefined);
}
