import { systemReason } from '../../../../shared/shown-text.js';

/** A file of the command line cannot be read or written. The message is for a person. */
export class FileError extends Error {
  constructor(
    file: string,
    cause: unknown,
    readonly exitCode: number,
  ) {
    super(`${file}: ${systemReason(cause)}`, { cause });
  }
}
