import { readFileSync } from 'node:fs';
import { TaggedDocument } from '../response/static-document.js';

/** The page and its style sheet are read from the sources, its scripts from the output of the compiler. */
const SOURCES = new URL('../../../../../browser/docs/', import.meta.url);
const SCRIPTS = new URL('../../../../browser/docs/', import.meta.url);

/** A file of the page. */
export interface PageFile {
  /** Its media type, without parameters. */
  readonly type: string;
  readonly document: TaggedDocument;
}

/** The scripts of the page, which a browser fetches as they import each other. */
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

/** The page, with preloads of all scripts, so that a browser need not discover them one after the other. */
export function page(): PageFile {
  const preloads = MODULES.map((name) => `<link rel="modulepreload" href="docs/${name}.js">\n`);
  return file('text/html', read('index.html', SOURCES).replace('</head>', `${preloads.join('')}</head>`));
}

function read(name: string, folder: URL): string {
  return readFileSync(new URL(name, folder), 'utf8');
}

function file(type: string, text: string): PageFile {
  return { type, document: new TaggedDocument(typed(type), text, 'public, no-cache') };
}

export function typed(type: string): string {
  return `${type}; charset=utf-8`;
}
