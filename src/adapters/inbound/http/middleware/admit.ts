import { AuthenticationThrottled, type Authenticator } from '../../../../application/authenticator.js';
import type { RateLimiter } from '../../../../application/ports/rate-limiter.js';
import type { Scope } from '../../../../domain/access.js';
import { CatalogueError } from '../../../../domain/errors.js';
import type { Context } from '../context.js';
import { countRequest, setThrottledHeaders } from './limit-rate.js';

export interface Gate {
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter;
  /** The policy under which failed authentications are counted. */
  readonly failures: RateLimiter;
}

/**
 * Finds out who asks and counts the request.
 * @param anonymous whether a request without a token may pass
 * @throws CatalogueError `unauthenticated`, `invalid_token`, `token_expired`, `rate_limited`, `unavailable`
 */
export async function admit(ctx: Context, gate: Gate, anonymous: boolean): Promise<void> {
  const refusal = await identify(ctx, gate, anonymous);
  if (refusal instanceof AuthenticationThrottled) {
    setThrottledHeaders(ctx, gate.failures.policy, refusal.state);
    throw refusal;
  }
  await countRequest(ctx, gate.limiter);
  if (refusal) throw refusal;
}

/** @throws CatalogueError `insufficient_scope` */
export function requireScope(ctx: Context, scope: Scope): void {
  if (ctx.state.principal?.scopes.includes(scope)) return;
  ctx.set('WWW-Authenticate', `Bearer error="insufficient_scope", scope="${scope}"`);
  throw new CatalogueError('insufficient_scope', `This needs the scope ${scope}.`);
}

async function identify(ctx: Context, gate: Gate, anonymous: boolean): Promise<unknown> {
  const token = bearerToken(ctx.get('Authorization'));
  if (token === undefined) return anonymous ? undefined : missingToken(ctx);
  try {
    ctx.state.principal = await gate.authenticator.authenticate(token, ctx.state.address);
    return undefined;
  } catch (refusal) {
    if (isChallenge(refusal)) {
      ctx.set('WWW-Authenticate', `Bearer error="invalid_token", error_description="${refusal.message}"`);
    }
    return refusal;
  }
}

/** RFC 6750 section 3: without a token the challenge names no error. */
function missingToken(ctx: Context): CatalogueError {
  ctx.set('WWW-Authenticate', 'Bearer');
  return new CatalogueError(
    'unauthenticated',
    'This needs a token: send Authorization: Bearer and an API key or an access token.',
  );
}

/** RFC 6750 section 2.1. The scheme heeds no case (RFC 9110 section 11.1). */
function bearerToken(authorization: string): string | undefined {
  return /^bearer +(\S.*)$/i.exec(authorization)?.[1];
}

function isChallenge(error: unknown): error is CatalogueError {
  return (
    error instanceof CatalogueError && (error.code === 'invalid_token' || error.code === 'token_expired')
  );
}
