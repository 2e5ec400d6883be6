import type { Context } from '../context.js';
import { FILE_DESCRIPTION, PAGE_DESCRIPTION } from '../openapi/docs.js';
import { noParameter } from '../query/query.js';
import { HttpError } from '../response/http-error.js';
import type { Handler, Policy, Route } from '../route.js';
import { type PageFile, page, pageFiles, typed } from './page-files.js';

/** Everything comes from here. The page has no inline scripts or styles, and no form. */
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

/** The interactive reference: a page that reads the OpenAPI document, with its scripts and style sheet. */
export function docsRoutes(): Route[] {
  return [pageRoute(page()), filesRoute(pageFiles())];
}

function pageRoute(file: PageFile): Route {
  const headers = { 'Content-Security-Policy': PAGE_POLICY };
  const GET = { ...sending(() => file, headers), describe: () => PAGE_DESCRIPTION };
  return { template: '/docs', path: /^\/docs$/, access: 'public', operations: { GET } };
}

function filesRoute(files: ReadonlyMap<string, PageFile>): Route {
  const names = [...files.keys()];
  const path = new RegExp(`^/docs/(${names.join('|').replaceAll('.', '\\.')})$`);
  const requested = (ctx: Context) => files.get((ctx['captures'] as string[])[0] ?? '') as PageFile;
  const GET = { ...sending(requested), describe: () => FILE_DESCRIPTION };
  return {
    template: '/docs/{file}',
    path,
    access: 'public',
    variables: { file: names },
    operations: { GET },
  };
}

function sending(
  requested: (ctx: Context) => PageFile,
  headers: Readonly<Record<string, string>> = {},
): Handler & Omit<Policy, 'describe'> {
  return {
    parameter: noParameter,
    // All types are negotiable here; `requireAccepted` then checks the type of the file.
    produces: ['text/html', 'text/css', 'text/javascript'].map(typed),
    varyBy: ['Accept-Encoding'],
    headers: (ctx) => requireAccepted(ctx, requested(ctx).type),
    handle: async (ctx) => {
      ctx.set(headers);
      requested(ctx).document.send(ctx);
    },
  };
}

/** A page is never JSON, but its errors are. */
function requireAccepted(ctx: Context, type: string): void {
  if (ctx.accepts(typed(type), 'application/problem+json')) return;
  throw new HttpError('not_acceptable', `This comes as ${type}; Accept does not fit.`);
}
