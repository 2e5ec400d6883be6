import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path/posix';

/** A module: its path, and its imports as paths or names of packages. Paths are under `src`, or begin with `packages/`. */
export interface Module {
  readonly path: string;
  readonly source: string;
  readonly imports: readonly string[];
}

const IMPORT = /^(?:import|export)\s(?:[\w\s{},*$]*?\bfrom\s)?\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm;

/** A module of the service, or of a package, by the imports of package.json. */
const OWN = /^#(?:src\/)?(.*)/;

export function moduleOf(path: string, source: string): Module {
  const imports = [...source.matchAll(IMPORT)].map(([, named, dynamic]) => {
    const target = named ?? dynamic ?? '';
    const module = target.startsWith('.') ? join(dirname(path), target) : OWN.exec(target)?.[1];
    return module?.replace(/\.js$/, '.ts') ?? packageOf(target);
  });
  return { path, source, imports };
}

/** The names in the clauses of imports that a pattern finds in a source. @param pattern global; its first group is a clause */
export function importedNames(source: string, pattern: RegExp): string[] {
  return [...source.matchAll(pattern)].flatMap(([, clause = '']) =>
    clause
      .replace(/[{}]/g, '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  );
}

/** The modules of the service and of its packages. */
export function allModules(): Module[] {
  return [
    ...modulesUnder('src'),
    ...modulesUnder('packages/client/src', 'packages/client/'),
    ...modulesUnder('packages/mcp', 'packages/mcp/'),
    ...modulesUnder('packages/remote', 'packages/remote/'),
    ...modulesUnder('packages/pages', 'packages/pages/'),
  ];
}

export function modulesUnder(folder: string, prefix = ''): Module[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => moduleOf(prefix + relative(folder, file), readFileSync(file, 'utf8')));
}

function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
