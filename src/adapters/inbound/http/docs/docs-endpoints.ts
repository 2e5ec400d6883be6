import { readFileSync } from 'node:fs';
import { CatalogueError } from '../../../../domain/errors.js';
import type { Context } from '../context.js';
import type { Endpoint } from '../endpoint.js';
import { isKnown, weakTag } from '../entity-tag.js';
import { noParameter } from '../query.js';

/** The page and its style are read where they lie, its scripts where the compiler puts them. */
const SOURCES = new URL('../../../../../browser/docs/', import.meta.url);
const SCRIPTS = new URL('../../../../browser/docs/', import.meta.url);

/** Everything comes from here, nothing is written within the page, and no form goes anywhere. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The scripts of the page, which a browser fetches as they import each other. */
const MODULES = [
  'answer-view',
  'attempt',
  'body-editor',
  'copying',
  'credential',
  'curl',
  'deep-links',
  'element',
  'indented-json',
  'main',
  'navigation',
  'openapi',
  'operation-view',
  'operations',
  'parameter-field',
  'parameter-fields',
  'prose',
  'references',
  'sample',
  'schema-terms',
  'schema-view',
  'send',
  'trial',
];

/** The interactive reference: a page that reads the OpenAPI document, and what it is made of. */
export function docsEndpoints(): Endpoint[] {
  return [
    asset('/docs', 'text/html', page(), { 'Content-Security-Policy': PAGE_POLICY }),
    asset('/docs/docs.css', 'text/css', readFileSync(new URL('docs.css', SOURCES), 'utf8')),
    ...MODULES.map((name) => {
      return asset(
        `/docs/${name}.js`,
        'text/javascript',
        readFileSync(new URL(`${name}.js`, SCRIPTS), 'utf8'),
      );
    }),
  ];
}

/** With the names of all scripts, so that a browser need not find them one after the other. */
function page(): string {
  const preloads = MODULES.map((name) => `<link rel="modulepreload" href="docs/${name}.js">\n`);
  return readFileSync(new URL('index.html', SOURCES), 'utf8').replace(
    '</head>',
    `${preloads.join('')}</head>`,
  );
}

function asset(
  route: string,
  mediaType: string,
  text: string,
  headers: Record<string, string> = {},
): Endpoint {
  const type = `${mediaType}; charset=utf-8`;
  const tag = weakTag(text);
  return {
    route,
    path: new RegExp(`^${route.replaceAll('.', '\\.')}$`),
    operations: {
      GET: {
        parameter: noParameter,
        types: [type],
        varies: ['Accept-Encoding'],
        headers: (ctx) => requireAccepted(ctx, type),
        handle: async (ctx) => {
          // Also when nothing has changed: a cache takes over the headers of that answer.
          ctx.set({ 'Content-Type': type, 'Cache-Control': 'public, no-cache', ETag: tag, ...headers });
          if (isKnown(ctx, tag)) ctx.status = 304;
          else ctx.body = text;
        },
      },
    },
  };
}

/** A page is not to be had as JSON; its errors are. */
function requireAccepted(ctx: Context, type: string): void {
  if (ctx.accepts(type, 'application/problem+json')) return;
  throw new CatalogueError(
    'not_acceptable',
    `This comes as ${type.replace(/;.*/, '')}; Accept does not fit.`,
  );
}
