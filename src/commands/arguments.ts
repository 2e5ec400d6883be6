import { parseArgs } from 'node:util';

/** The command line was misused; the message says how. */
export class UsageError extends Error {}

/**
 * @param options the names of the options that take a value
 * @throws UsageError
 */
export function parse(args: string[], options: readonly string[], allowPositionals = false) {
  try {
    const known = Object.fromEntries(options.map((name) => [name, { type: 'string' as const }]));
    return parseArgs({ args, options: known, allowPositionals });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** As the shell has it for whom SIGPIPE ends, and EX_IOERR of sysexits.h. */
const READER_LEFT = 141;
const EX_IOERR = 74;

export function say(text: string): void {
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', endUnheard);
  process.stdout.write(text);
}

/** A reader such as `head` leaves when it has enough. */
function endUnheard({ code, message }: NodeJS.ErrnoException): never {
  if (code === 'EPIPE') process.exit(READER_LEFT);
  process.stderr.write(`standard output: ${message}\n`);
  process.exit(EX_IOERR);
}
