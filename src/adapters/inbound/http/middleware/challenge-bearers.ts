import { isBadCredential } from '../../../../application/authenticator.js';
import { InsufficientScope } from '../../../../application/authorization.js';
import { CatalogueError } from '../../../../domain/errors.js';
import type { Middleware } from '../context.js';

/**
 * Tells whoever is refused for their token how they would not be (RFC 6750 section 3), and where clients learn how to get one
 * (RFC 9728 section 5.1). A challenge for another scheme stays.
 */
export function challengeBearers(metadataUrl: () => string): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const parameters = parametersFor(error);
      if (parameters && !ctx.response.get('WWW-Authenticate')) {
        const all = [...parameters, `resource_metadata="${metadataUrl()}"`];
        ctx.set('WWW-Authenticate', `Bearer ${all.join(', ')}`);
      }
      throw error;
    }
  };
}

/** Without a token it names no error. */
function parametersFor(error: unknown): string[] | undefined {
  if (error instanceof InsufficientScope)
    return ['error="insufficient_scope"', `scope="${error.missing.join(' ')}"`];
  if (isBadCredential(error)) return ['error="invalid_token"', `error_description="${error.message}"`];
  return error instanceof CatalogueError && error.code === 'unauthenticated' ? [] : undefined;
}
