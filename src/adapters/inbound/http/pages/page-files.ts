import { readFileSync } from 'node:fs';
import { ROOT_FOLDER } from '../../../../shared/root-folder.js';
import { HTML, JSON_TYPE } from '../core/media-types.js';
import { TaggedDocument } from '../response/static-document.js';

/** The pages and their style sheets are sources. Their scripts are bundled by the build. */
const SOURCES = new URL('packages/pages/', ROOT_FOLDER);
const SCRIPTS = new URL('dist/pages/', ROOT_FOLDER);

export const STYLE_TYPE = 'text/css';
export const SCRIPT_TYPE = 'text/javascript';
export const DATA_TYPE = JSON_TYPE;

/** A file of a page. */
export interface PageFile {
  /** Its media type, without parameters. */
  readonly type: string;
  readonly document: TaggedDocument;
}

/** A page in a folder of `packages/pages`, which is also its path. */
export interface Page {
  readonly name: string;
  readonly styles: readonly string[];
  /** Data files, by name. */
  readonly data?: Readonly<Record<string, object>>;
  /** Whether it shows pictures of other origins, by https. */
  readonly hasPictures?: boolean;
}

export function pageFile({ name }: Page): PageFile {
  return file(HTML, read(new URL(`${name}/index.html`, SOURCES)));
}

/** The files that a page loads, by their names: its script, its style sheets and its data. */
export function filesBelow({ name, styles, data = {} }: Page): ReadonlyMap<string, PageFile> {
  return new Map([
    ['main.js', file(SCRIPT_TYPE, read(new URL(`${name}.js`, SCRIPTS)))],
    ...styles.map((style) => [style, file(STYLE_TYPE, read(new URL(`${name}/${style}`, SOURCES)))] as const),
    ...Object.entries(data).map(([path, value]) => [path, file(DATA_TYPE, JSON.stringify(value))] as const),
  ]);
}

function read(url: URL): string {
  return readFileSync(url, 'utf8');
}

function file(type: string, text: string): PageFile {
  return { type, document: new TaggedDocument(withCharset(type), text, 'public, no-cache') };
}

export function withCharset(type: string): string {
  return `${type}; charset=utf-8`;
}
