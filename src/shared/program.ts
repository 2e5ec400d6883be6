import { readFileSync } from 'node:fs';

/** The folder of package.json. Modules and bundles are both two folders below it, in `dist/shared` and `dist/bundle`. */
const ROOT_FOLDER = new URL('../../', import.meta.url);

/** The exit codes of the service and the command line, by sysexits.h. docs/reference/command-line.md explains each. */
export const EXIT_CODES = {
  ok: 0,
  /** `catalogue check` found something wrong; the service met another error of the system. */
  problem: 1,
  usage: 64,
  dataError: 65,
  noInput: 66,
  inUse: 69,
  software: 70,
  cannotCreate: 73,
  outputError: 74,
  unavailable: 75,
  notPermitted: 77,
  configuration: 78,
  /** 128 + the number of the signal, as a shell reports it. */
  interrupted: 130,
  brokenPipe: 141,
  terminated: 143,
} as const;

/** How Node names what it cannot find, and a native library that it cannot load. */
const NOT_LOADED = ['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED'];

/**
 * Reads a file that belongs to the program; `scripts/package.js` lists them. Ends the process with one line on standard
 * error and exit code 70 if it cannot be read, because the installation is not whole then.
 * @param path below the folder of package.json
 */
export function readProgramFile(path: string): string {
  try {
    return readFileSync(new URL(path, ROOT_FOLDER), 'utf8');
  } catch (error) {
    return endIncomplete(error as Error);
  }
}

/**
 * Ends the process as {@link readProgramFile} does if a package cannot be loaded, such as the native one of this platform.
 * @throws the error if it is another one
 */
export function endUnlessLoaded(error: Error & { readonly code?: string }): never {
  if (NOT_LOADED.includes(String(error.code))) return endIncomplete(error);
  throw error;
}

function endIncomplete({ message }: Error): never {
  const [line] = message.split('\n');
  process.stderr.write(`A file of this program cannot be read, so it has to be installed again: ${line}\n`);
  return process.exit(EXIT_CODES.software);
}
