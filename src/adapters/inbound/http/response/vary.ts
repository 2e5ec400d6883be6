import { isVersionInPath } from '../core/api-version.js';
import type { Context } from '../core/context.js';
import type { Access } from '../core/route.js';

/**
 * Returns a function that names the request headers that a response depends on (RFC 9110 section 12.5.5).
 * @param access a probe does not depend on the version
 * @param headers in addition to `Accept`, and to `API-Version` if the path names no version
 */
export function varyHeader(access: Access, headers: readonly string[] = []): (ctx: Context) => void {
  const always = ['Accept', ...headers].join(', ');
  const unversioned = access === 'probe' ? always : `API-Version, ${always}`;
  return (ctx) => {
    const names = isVersionInPath(ctx.path) ? always : unversioned;
    // Koa's `vary` parses the header to leave out duplicates.
    if (ctx.res.hasHeader('Vary')) ctx.vary(names);
    else ctx.res.setHeader('Vary', names);
  };
}
