import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { OAUTH_ERRORS } from '../oauth/oauth-errors.js';
import { ERRORS, type ResponseErrorCode } from '../response/error-codes.js';
import { ERROR_EXAMPLES } from '../response/error-examples.js';
import { ISSUES } from '../response/issue-codes.js';
import { TaggedDocument } from '../response/static-document.js';

/** The page and its style sheet are sources. Its scripts are the output of the compiler. */
const SOURCES = new URL('../../../../../browser/docs/', import.meta.url);
const SCRIPTS = new URL('../../../../browser/docs/', import.meta.url);

/** A file of the page. */
export interface PageFile {
  /** Its media type, without parameters. */
  readonly type: string;
  readonly document: TaggedDocument;
}

/** The scripts of the page, which import each other. */
const MODULES = [
  'access',
  'body-editor',
  'clipboard',
  'code-samples',
  'code-view',
  'credential',
  'download',
  'element',
  'errors-page',
  'examples',
  'filter-rows',
  'filters',
  'json-text',
  'main',
  'markdown',
  'models-page',
  'navigation',
  'openapi',
  'operation-view',
  'operations',
  'parameter-field',
  'parameter-fields',
  'references',
  'request',
  'response-view',
  'router',
  'schema-terms',
  'schema-view',
  'search-index',
  'send',
  'tab-storage',
  'try-it-form',
  'yaml',
];

export const STYLE_TYPE = 'text/css';
export const SCRIPT_TYPE = 'text/javascript';
export const DATA_TYPE = 'application/json';

/** The files of the page, by name. */
export function pageFiles(): ReadonlyMap<string, PageFile> {
  const scripts = MODULES.map((name) => `${name}.js`);
  return new Map([
    ['docs.css', file(STYLE_TYPE, read('docs.css', SOURCES))],
    ['errors.json', file(DATA_TYPE, JSON.stringify(errorCodes()))],
    ...scripts.map((name) => [name, file(SCRIPT_TYPE, read(name, SCRIPTS))] as const),
  ]);
}

/** The error codes with their explanations, from the tables that the service itself uses. */
function errorCodes() {
  const responses = Object.entries(ERRORS).map(([code, { status, cause, remedy }]) => ({
    code,
    status,
    reason: STATUS_CODES[status],
    cause,
    remedy,
    example: { code, ...ERROR_EXAMPLES[code as ResponseErrorCode] },
  }));
  const details = Object.entries(ISSUES).map(([code, { cause, remedy }]) => ({ code, cause, remedy }));
  const oauth = Object.entries(OAUTH_ERRORS).map(([code, { cause, remedy }]) => ({ code, cause, remedy }));
  return { responses, details, oauth };
}

/** The page. It preloads all scripts, so that a browser fetches them at once. */
export function page(): PageFile {
  const preloads = MODULES.map((name) => `<link rel="modulepreload" href="docs/${name}.js">\n`);
  return file('text/html', read('index.html', SOURCES).replace('</head>', `${preloads.join('')}</head>`));
}

function read(name: string, folder: URL): string {
  return readFileSync(new URL(name, folder), 'utf8');
}

function file(type: string, text: string): PageFile {
  return { type, document: new TaggedDocument(withCharset(type), text, 'public, no-cache') };
}

export function withCharset(type: string): string {
  return `${type}; charset=utf-8`;
}
