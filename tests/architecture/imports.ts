import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path/posix';

/** A module: its path under `src`, and its imports as paths under `src` or names of packages. */
export interface Module {
  readonly path: string;
  readonly source: string;
  readonly imports: readonly string[];
}

const IMPORT =
  /^(?:import|export)\s(?:[\w\s{},*$]*?\bfrom\s)?\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm;

export function moduleOf(path: string, source: string): Module {
  const imports = [...source.matchAll(IMPORT)].map(([, named, dynamic]) => {
    const target = named ?? dynamic ?? '';
    return target.startsWith('.') ? join(dirname(path), target).replace(/\.js$/, '.ts') : packageOf(target);
  });
  return { path, source, imports };
}

export function modulesUnder(folder: string): Module[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => moduleOf(relative(folder, file), readFileSync(file, 'utf8')));
}

function packageOf(specifier: string): string {
  if (/^(node:|#)/.test(specifier)) return specifier;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
