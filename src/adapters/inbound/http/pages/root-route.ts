import type { PublicUrl } from '../../../../shared/public-url.js';
import type { Context } from '../core/context.js';
import { HTML, JSON_TYPE, JSON_UTF8, PROBLEM } from '../core/media-types.js';
import { noParameter } from '../core/parameter.js';
import type { Route } from '../core/route.js';
import { preferredType } from '../middleware/negotiation.js';
import { TaggedDocument } from '../response/static-document.js';

const DOCS = '/docs';
const HTML_TYPE = `${HTML}; charset=utf-8`;
const CACHE_CONTROL = 'no-cache';

/** The links that every service has. An address without a host is right behind any proxy. */
const LINKS = {
  openapi: '/openapi.json',
  docs: DOCS,
  console: '/console',
  health: '/health/ready',
  authorizationServer: '/.well-known/oauth-authorization-server',
  protectedResource: '/.well-known/oauth-protected-resource',
};

/**
 * The root: links for programs, and for browsers a redirect to the interactive reference.
 * @param collections the canonical path of each collection, by its name
 */
export function rootRoute(
  collections: Readonly<Record<string, string>>,
  publicUrl: Pick<PublicUrl, 'addressOf'>,
): Route {
  const paths = Object.entries({ ...collections, ...LINKS });
  const links = Object.fromEntries(paths.map(([name, path]) => [name, publicUrl.addressOf(path)]));
  const document = new TaggedDocument(JSON_TYPE, JSON.stringify(links), CACHE_CONTROL);
  return {
    template: '/',
    path: /^\/$/,
    access: 'public',
    operations: {
      GET: {
        parameter: noParameter,
        produces: [HTML_TYPE],
        handle: (ctx) => {
          if (prefersPage(ctx)) redirect(ctx);
          else document.send(ctx);
        },
      },
    },
  };
}

/** A redirect has no body. */
function redirect(ctx: Context): void {
  ctx.set({ Location: ctx.state.addressOf(DOCS), 'Cache-Control': CACHE_CONTROL });
  ctx.body = null;
  ctx.status = 303;
}

const acceptsJson = preferredType([JSON_UTF8, PROBLEM]);

/**
 * Whether `Accept` refuses JSON, or names text/html with a higher quality than JSON (RFC 9110 section 12.5.1). The
 * negotiation has already found that one of the two is acceptable.
 */
function prefersPage(ctx: Context): boolean {
  if (!acceptsJson(ctx)) return true;
  const ranges = qualities(ctx.req.headers.accept ?? '');
  const [json = 0] = [JSON_TYPE, 'application/*', '*/*'].flatMap((range) => ranges.get(range) ?? []);
  return (ranges.get(HTML) ?? 0) > json;
}

/** The quality of each media range, in lower case. */
function qualities(accept: string): ReadonlyMap<string, number> {
  return new Map(
    accept.split(',').map((element) => {
      const [range = '', ...parameters] = element.toLowerCase().split(';');
      const quality = parameters.map((text) => /^\s*q\s*=\s*([\d.]+)/.exec(text)?.[1]).find(Boolean);
      return [range.trim(), Number(quality ?? 1)];
    }),
  );
}
