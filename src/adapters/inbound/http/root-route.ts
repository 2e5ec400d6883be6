import type { PublicUrl } from '../../../application/ports/public-url.js';
import type { Context } from './context.js';
import { JSON_TYPE, preferredType } from './middleware/content-negotiation.js';
import { NOT_MODIFIED, type OperationDescription } from './openapi/description.js';
import { type JsonSchema, open, schemaRef } from './openapi/json-schema.js';
import { noParameter } from './query/query.js';
import { TaggedDocument } from './response/static-document.js';
import type { Route } from './route.js';

const DOCS = '/docs';
const HTML = 'text/html';
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
  const document = new TaggedDocument('application/json', JSON.stringify(links), CACHE_CONTROL);
  return {
    template: '/',
    path: /^\/$/,
    access: 'public',
    operations: {
      GET: {
        describe: () => descriptionOf(Object.keys(links)),
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

const acceptsJson = preferredType([JSON_TYPE, 'application/problem+json']);

/**
 * Whether `Accept` refuses JSON, or names text/html with a higher quality than JSON (RFC 9110 section 12.5.1). The
 * negotiation has already found that one of the two is acceptable.
 */
function prefersPage(ctx: Context): boolean {
  if (!acceptsJson(ctx)) return true;
  const ranges = qualities(ctx.req.headers.accept ?? '');
  const [json = 0] = ['application/json', 'application/*', '*/*'].flatMap((range) => ranges.get(range) ?? []);
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

function descriptionOf(names: readonly string[]): OperationDescription {
  return {
    id: 'getRoot',
    tag: 'Documents',
    summary: 'Find the parts of the service',
    text: 'Links to every collection and document, each a path without a host. A browser is redirected to `/docs`.',
    headers: ['KnownTags'],
    schemas: { Links: linksSchema(names) },
    responses: [
      {
        status: 200,
        description: 'The links.',
        headers: ['ETag'],
        content: { 'application/json': { schema: schemaRef('Links') } },
      },
      {
        status: 303,
        description:
          '`Accept` names `text/html` with a higher quality than JSON: `Location` is the interactive reference.',
        headers: ['Location'],
      },
      NOT_MODIFIED,
    ],
  };
}

function linksSchema(names: readonly string[]): JsonSchema {
  return open(
    Object.fromEntries(
      names.map((name) => [
        name,
        { type: 'string', format: 'uri-reference', description: `The path of \`${name}\`.` },
      ]),
    ),
  );
}
