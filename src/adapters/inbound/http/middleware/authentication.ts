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
 * Sets `ctx.state.principal` if the request has a bearer token, and counts the request. A refused token counts too.
 * @throws AppError `invalid_token`, `token_expired`, `rate_limited`, `unavailable`
 */
export async function authenticate(ctx: Context, { authenticator, limiter }: AccessControl): Promise<void> {
  const refused = await resolvePrincipal(ctx, authenticator);
  if (refused instanceof AuthenticationThrottled) {
    setThrottledHeaders(ctx, refused.policy, refused.state);
    throw refused;
  }
  await countRequest(ctx, limiter);
  if (refused) throw refused;
}

/** @throws AppError `unauthenticated`, `insufficient_scope` */
export function authorize(ctx: Context, requirement: Requirement): void {
  const denied = denialReason(ctx.state.principal, requirement);
  if (denied) throw denied;
}

/** @returns the error for the token that was sent, if it has one */
async function resolvePrincipal(ctx: Context, authenticator: Authenticator): Promise<unknown> {
  const token = bearerToken(ctx.get('Authorization'));
  if (token === undefined) return undefined;
  try {
    ctx.state.principal = await authenticator.authenticate(token, ctx.state.address);
    return undefined;
  } catch (refused) {
    return refused;
  }
}

/**
 * RFC 6750 section 2.1. The scheme is case-insensitive (RFC 9110 section 11.1). A malformed bearer credential is a bad
 * token, so it is returned whole. Another scheme is no token.
 */
function bearerToken(authorization: string): string | undefined {
  const [, token] = /^bearer +(\S.*)$/i.exec(authorization) ?? [];
  return token ?? (/^bearer[^a-z0-9-]/i.test(authorization) ? authorization : undefined);
}
