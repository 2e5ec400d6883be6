import type { Context } from '../context.js';
import { FILE_DESCRIPTION, PAGE_DESCRIPTION } from '../openapi/docs-descriptions.js';
import { noParameter } from '../query/query.js';
import { HttpError } from '../response/http-error.js';
import type { Handler, Policy, Route } from '../route.js';
import {
  DATA_TYPE,
  type PageFile,
  page,
  pageFiles,
  SCRIPT_TYPE,
  STYLE_TYPE,
  withCharset,
} from './page-files.js';

/** Allows only resources of this origin. The page has no inline scripts or styles, and no form. */
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

/** The routes of the interactive reference: a page that reads the OpenAPI document, its scripts, style sheet and data. */
export function docsRoutes(): Route[] {
  return [pageRoute(page()), filesRoute(pageFiles())];
}

function pageRoute(file: PageFile): Route {
  const headers = { 'Content-Security-Policy': PAGE_POLICY };
  const GET = { ...fileOperation(() => file, headers), describe: () => PAGE_DESCRIPTION };
  return { template: '/docs', path: /^\/docs$/, access: 'public', operations: { GET } };
}

function filesRoute(files: ReadonlyMap<string, PageFile>): Route {
  const names = [...files.keys()];
  const path = new RegExp(`^/docs/(${names.join('|').replaceAll('.', '\\.')})$`);
  const fileOf = (ctx: Context) => files.get((ctx['captures'] as string[])[0] ?? '') as PageFile;
  const GET = { ...fileOperation(fileOf), describe: () => FILE_DESCRIPTION };
  return {
    template: '/docs/{file}',
    path,
    access: 'public',
    variables: { file: names },
    operations: { GET },
  };
}

function fileOperation(
  fileOf: (ctx: Context) => PageFile,
  headers: Readonly<Record<string, string>> = {},
): Handler & Omit<Policy, 'describe'> {
  return {
    parameter: noParameter,
    // Negotiation allows all types; `requireAccepted` then checks the type of the file.
    produces: ['text/html', STYLE_TYPE, SCRIPT_TYPE, DATA_TYPE].map(withCharset),
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
  if (ctx.accepts(withCharset(type), 'application/problem+json')) return;
  throw new HttpError('not_acceptable', `Accept matches no media type of the response: ${type}.`);
}
