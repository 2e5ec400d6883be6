import { AuthenticationThrottled, type Authenticator } from '../../../../application/authenticator.js';
import { type Need, refusal } from '../../../../application/authorization.js';
import type { RateLimiter } from '../../../../application/ports/rate-limiter.js';
import type { Context } from '../context.js';
import { countRequest, setThrottledHeaders } from './limit-rate.js';

export interface Gate {
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter;
  /** The policy under which failed authentications are counted. */
  readonly failures: RateLimiter;
}

/**
 * Finds out who asks and counts the request. Whether it may go on is for {@link authorize} to say.
 * @throws CatalogueError `invalid_token`, `token_expired`, `rate_limited`, `unavailable`
 */
export async function admit(ctx: Context, gate: Gate): Promise<void> {
  const refused = await identify(ctx, gate);
  if (refused instanceof AuthenticationThrottled) {
    setThrottledHeaders(ctx, gate.failures.policy, refused.state);
    throw refused;
  }
  await countRequest(ctx, gate.limiter);
  if (refused) throw refused;
}

/** @throws CatalogueError `unauthenticated`, `insufficient_scope` */
export function authorize(ctx: Context, need: Need): void {
  const refused = refusal(ctx.state.principal, need);
  if (refused) throw refused;
}

/** @returns what is wrong with the token that was sent, if anything */
async function identify(ctx: Context, gate: Gate): Promise<unknown> {
  const token = bearerToken(ctx.get('Authorization'));
  if (token === undefined) return undefined;
  try {
    ctx.state.principal = await gate.authenticator.authenticate(token, ctx.state.address);
    return undefined;
  } catch (refused) {
    return refused;
  }
}

/**
 * RFC 6750 section 2.1. The scheme heeds no case (RFC 9110 section 11.1). What begins as a bearer's credential and is none is a bad
 * token, which no verifier knows; another scheme is no token.
 */
function bearerToken(authorization: string): string | undefined {
  const [, token] = /^bearer +(\S.*)$/i.exec(authorization) ?? [];
  return token ?? (/^bearer[^a-z0-9-]/i.test(authorization) ? authorization : undefined);
}
