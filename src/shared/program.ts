/** The folder of package.json. Modules and bundles are both two folders below it, in `dist/shared` and `dist/bundle`. */
export const ROOT_FOLDER = new URL('../../', import.meta.url);

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
