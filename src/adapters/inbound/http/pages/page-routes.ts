import type { Context } from '../context.js';
import type { OperationDescription } from '../openapi/description.js';
import { noParameter } from '../query/query.js';
import { HttpError } from '../response/http-error.js';
import type { Handler, Policy, Route } from '../route.js';
import {
  DATA_TYPE,
  type Page,
  type PageFile,
  pageFiles,
  SCRIPT_TYPE,
  STYLE_TYPE,
  withCharset,
} from './page-files.js';

export interface PageDescriptions {
  readonly page: OperationDescription;
  readonly file: OperationDescription;
  /** Required if the page has files in folders. */
  readonly folderFile?: OperationDescription;
}

/** The routes of a page, its scripts, style sheets and data. */
export function pageRoutes(source: Page, descriptions: PageDescriptions): Route[] {
  const { page, inlineScripts, files } = pageFiles(source);
  const path = `/${source.name}`;
  const headers = { 'Content-Security-Policy': policy(inlineScripts) };
  const GET = { ...fileOperation(() => page, headers), describe: () => descriptions.page };
  const names = [...files.keys()];
  const { folderFile } = descriptions;
  return [
    { template: path, path: new RegExp(`^${path}$`), access: 'public', operations: { GET } },
    filesRoute(
      path,
      files,
      names.filter((name) => !name.includes('/')),
      descriptions.file,
    ),
    ...(folderFile
      ? [
          filesRoute(
            path,
            files,
            names.filter((name) => name.includes('/')),
            folderFile,
          ),
        ]
      : []),
  ];
}

/** Allows only resources of this origin. The page has no inline styles, no other inline scripts, and no form. */
function policy(inlineScripts: readonly string[]): string {
  return [
    "default-src 'none'",
    ["script-src 'self'", ...inlineScripts].join(' '),
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** @param names the files of the route: all directly below the page, or all in a folder there */
function filesRoute(
  page: string,
  files: ReadonlyMap<string, PageFile>,
  names: readonly string[],
  description: OperationDescription,
): Route {
  const fileOf = (ctx: Context) => files.get((ctx['captures'] as string[])[0] ?? '') as PageFile;
  const GET = { ...fileOperation(fileOf), describe: () => description };
  const parts = names.map((name) => name.split('/'));
  const folders = [...new Set(parts.filter(({ length }) => length > 1).map(([folder = '']) => folder))];
  return {
    template: `${page}${folders.length > 0 ? '/{folder}' : ''}/{file}`,
    path: new RegExp(`^${page}/(${names.join('|').replaceAll('.', '\\.')})$`),
    access: 'public',
    variables: {
      ...(folders.length > 0 && { folder: folders }),
      file: [...new Set(parts.map((part) => part.at(-1) ?? ''))],
    },
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
