import type { Context } from '../core/context.js';
import { HttpError } from '../core/http-error.js';
import { HTML, PROBLEM } from '../core/media-types.js';
import { noParameter } from '../core/parameter.js';
import type { Handler, Policy, Route } from '../core/route.js';
import {
  DATA_TYPE,
  filesBelow,
  type Page,
  type PageFile,
  pageFile,
  SCRIPT_TYPE,
  STYLE_TYPE,
  withCharset,
} from './page-files.js';

/**
 * Allows only resources of this origin, and pictures of others where a page shows them. The pages have no inline scripts
 * or styles, and no form.
 */
function policyOf({ hasPictures = false }: Page): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data:${hasPictures ? ' https:' : ''}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The routes of a page, and of its script, style sheets and data. */
export function pageRoutes(source: Page): Route[] {
  const path = `/${source.name}`;
  const start = pageFile(source);
  const files = filesBelow(source);
  const names = [...files.keys()];
  const fileOf = (ctx: Context) => files.get((ctx['captures'] as string[])[0] ?? '') as PageFile;
  const headers = { 'Content-Security-Policy': policyOf(source) };
  return [
    {
      template: path,
      path: new RegExp(`^${path}$`),
      access: 'public',
      operations: { GET: fileOperation(() => start, headers) },
    },
    {
      template: `${path}/{file}`,
      path: new RegExp(`^${path}/(${names.join('|').replaceAll('.', '\\.')})$`),
      access: 'public',
      variables: { file: names },
      operations: { GET: fileOperation(fileOf) },
    },
  ];
}

function fileOperation(
  fileOf: (ctx: Context) => PageFile,
  headers: Readonly<Record<string, string>> = {},
): Handler & Policy {
  return {
    parameter: noParameter,
    // Negotiation allows all types; `requireAccepted` then checks the type of the file.
    produces: [HTML, STYLE_TYPE, SCRIPT_TYPE, DATA_TYPE].map(withCharset),
    varyBy: ['Accept-Encoding'],
    headers: (ctx) => requireAccepted(ctx, fileOf(ctx).type),
    handle: async (ctx) => {
      ctx.set(headers);
      fileOf(ctx).document.send(ctx);
    },
  };
}

/** Checks the type of the file, because the general negotiation always allows JSON. */
function requireAccepted(ctx: Context, type: string): void {
  if (ctx.accepts(withCharset(type), PROBLEM)) return;
  throw new HttpError('not_acceptable', `Accept matches no media type of the response: ${type}.`);
}
