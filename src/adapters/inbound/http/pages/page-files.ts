import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { TaggedDocument } from '../response/static-document.js';
import { importsOf } from './module-imports.js';

/** The pages and their style sheets are sources. Their scripts are the output of the compiler. */
const SOURCES = new URL('../../../../../browser/', import.meta.url);
const SCRIPTS = new URL('../../../../browser/', import.meta.url);

export const STYLE_TYPE = 'text/css';
export const SCRIPT_TYPE = 'text/javascript';
export const DATA_TYPE = 'application/json';

/** A file of a page. */
export interface PageFile {
  /** Its media type, without parameters. */
  readonly type: string;
  readonly document: TaggedDocument;
}

/** A page in a folder of `browser`, which is also its path. */
export interface Page {
  readonly name: string;
  readonly styles: readonly string[];
  /** Data files, by name. */
  readonly data?: Readonly<Record<string, object>>;
  /** The paths of the packages that its scripts import, by their names. */
  readonly packages?: Readonly<Record<string, string>>;
}

export interface PageFiles {
  readonly page: PageFile;
  /** The `Content-Security-Policy` source of each inline script. */
  readonly inlineScripts: readonly string[];
  /** The other files, by their path below the page. */
  readonly files: ReadonlyMap<string, PageFile>;
}

/**
 * The files of a page: the scripts that `main.js` imports directly or indirectly, its style sheets and its data. The
 * page preloads all scripts, so that a browser fetches them at once.
 */
export function pageFiles({ name, styles, data = {}, packages = {} }: Page): PageFiles {
  const scripts = scriptsFrom(`${name}/main.js`, new Map(Object.entries(packages)));
  const importMap = JSON.stringify({
    imports: Object.fromEntries(Object.entries(packages).map(([one, path]) => [one, `./${path}`])),
  });
  const hasPackages = Object.keys(packages).length > 0;
  const preloads = [...scripts.keys()].map((path) => `<link rel="modulepreload" href="${path}">\n`);
  // Browsers read the map before they load the first module.
  const head = [
    ...(hasPackages ? [`<script type="importmap">${importMap}</script>\n`] : []),
    ...preloads,
  ].join('');
  const html = read(new URL(`${name}/index.html`, SOURCES)).replace('<script', `${head}<script`);
  const own = [...scripts].filter(([path]) => path.startsWith(`${name}/`));
  return {
    page: file('text/html', html),
    inlineScripts: hasPackages ? [hashOf(importMap)] : [],
    files: new Map([
      ...styles.map(
        (style) => [style, file(STYLE_TYPE, read(new URL(`${name}/${style}`, SOURCES)))] as const,
      ),
      ...Object.entries(data).map(([path, value]) => [path, file(DATA_TYPE, JSON.stringify(value))] as const),
      ...own.map(([path, text]) => [path.slice(name.length + 1), file(SCRIPT_TYPE, text)] as const),
    ]),
  };
}

/**
 * The scripts that a script imports directly or indirectly, and itself: their texts, by their paths below `browser`.
 * @param packages the path of each package
 */
function scriptsFrom(entry: string, packages: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const names = new Map([...packages].map(([name, path]) => [path, name]));
  const scripts = new Map<string, string>();
  const add = (path: string) => {
    if (scripts.has(path)) return;
    const text = withoutSourceMap(read(originOf(path, names.get(path))));
    scripts.set(path, text);
    for (const target of importsOf(text)) add(packages.get(target) ?? pathOf(target, path));
  };
  add(entry);
  return scripts;
}

/** The file of a script. The client is compiled for the page; other packages are served as they are installed. */
function originOf(path: string, packageName: string | undefined): URL {
  const compiled = new URL(path, SCRIPTS);
  return packageName === undefined || existsSync(compiled)
    ? compiled
    : new URL(import.meta.resolve(packageName));
}

/** The path of an imported module. A package that is not among the packages of the page has no file. */
function pathOf(target: string, importer: string): string {
  if (!target.startsWith('.'))
    throw new Error(`${importer} imports ${target}, which the page does not serve`);
  return new URL(target, `file:///${importer}`).pathname.slice(1);
}

/** The map itself is not served. */
function withoutSourceMap(text: string): string {
  return text.replace(/^\/\/# sourceMappingURL=.*$/m, '');
}

function hashOf(script: string): string {
  return `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
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
