import type { Middleware } from '../context.js';

/** A challenge for a bearer token says where clients learn how to get one (RFC 9728 section 5.1). */
export function pointToMetadata(metadataUrl: () => string): Middleware {
  return async (ctx, next) => {
    await next();
    const [, parameters] = /^Bearer\b *(.*)$/.exec(ctx.response.get('WWW-Authenticate')) ?? [];
    if (parameters === undefined) return;
    const pointer = `resource_metadata="${metadataUrl()}"`;
    ctx.set('WWW-Authenticate', `Bearer ${parameters === '' ? '' : `${parameters}, `}${pointer}`);
  };
}
