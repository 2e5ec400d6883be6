import { isBadCredential } from '../../../../application/auth/authenticator.js';
import { InsufficientScope } from '../../../../application/auth/authorization.js';
import { AppError } from '../../../../domain/errors.js';
import type { Context } from '../core/context.js';

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
  if (error instanceof InsufficientScope)
    return ['error="insufficient_scope"', `scope="${error.missing.join(' ')}"`];
  if (isBadCredential(error)) return ['error="invalid_token"', `error_description="${error.message}"`];
  return error instanceof AppError && error.code === 'unauthenticated' ? [] : undefined;
}
