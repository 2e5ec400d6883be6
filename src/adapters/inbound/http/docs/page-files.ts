import { readFileSync } from 'node:fs';
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

export const STYLE_TYPE = 'text/css';
export const SCRIPT_TYPE = 'text/javascript';

/** The files of the page, by name. */
export function pageFiles(): ReadonlyMap<string, PageFile> {
  const scripts = MODULES.map((name) => `${name}.js`);
  return new Map([
    ['docs.css', file(STYLE_TYPE, read('docs.css', SOURCES))],
    ...scripts.map((name) => [name, file(SCRIPT_TYPE, read(name, SCRIPTS))] as const),
  ]);
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
