import { EXIT_CODES, endIncomplete, readProgramFile } from '../shared/program.js';

/** One range of `engines.node`: a version and all later ones; with `^`, those of the same major version. */
const RANGE = /^(\^|>=)(\d+)\.(\d+)\.(\d+)$/;

/** How Node names what it cannot find, and a native library that it cannot load. */
const NOT_LOADED = ['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED'];

/**
 * Ends the process with one line on standard error and exit code 78 if `engines` in package.json excludes this version
 * of Node. The programs call it before they import anything else, so it cannot use the library semver. This file and
 * the programs use only syntax that Node 12 can parse: no top-level `await`, no `?.`, no `??`.
 */
export function requireSupportedNode() {
  const manifest = JSON.parse(readProgramFile('package.json'));
  const supported = manifest.engines.node;
  if (isSupported(process.versions.node, supported)) return;
  process.stderr.write(`This needs Node ${describeRanges(supported)}; it is run by Node ${process.versions.node}.\n`);
  process.exit(EXIT_CODES.configuration);
}

/**
 * Ends the process with one line on standard error and exit code 70 if a package cannot be loaded, such as the native one
 * of this platform.
 * @throws the error if it is another one
 */
export function endUnlessLoaded(error: Error & { readonly code?: string }): never {
  if (NOT_LOADED.includes(String(error.code))) return endIncomplete(error);
  throw error;
}

/**
 * @param version as in `process.versions.node`
 * @param supported ranges such as `^20.20.2 || >=25.8.2`
 * @throws Error if a range has another form
 */
export function isSupported(version: string, supported: string): boolean {
  const actual = version.split(/[.-]/).map(Number);
  return rangesOf(supported).some(({ isWithinMajor, least }) => {
    if (isWithinMajor && actual[0] !== least[0]) return false;
    const differing = least.findIndex((part, at) => part !== actual[at]);
    return differing === -1 || Number(actual[differing]) > Number(least[differing]);
  });
}

function describeRanges(supported: string): string {
  return rangesOf(supported)
    .map(({ isWithinMajor, least }) => {
      return `${least.join('.')} or later${isWithinMajor ? ` of ${least[0]}.x` : ''}`;
    })
    .join(', ');
}

function rangesOf(supported: string) {
  return supported.split(' || ').map((range) => {
    const parts = RANGE.exec(range);
    if (!parts) throw new Error(`package.json: engines.node has a range of an unknown form: ${range}`);
    return { isWithinMajor: parts[1] === '^', least: parts.slice(2).map(Number) };
  });
}
