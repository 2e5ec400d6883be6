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

/** Ends the process with the first line of an error on standard error and exit code 70: something has to be installed. */
export function endIncomplete({ message }: Error): never {
  const [line] = message.split('\n');
  process.stderr.write(`A file of this program cannot be read, so it has to be installed again: ${line}\n`);
  return process.exit(EXIT_CODES.software);
}
