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

export function say(text: string): void {
  process.stdout.write(text);
}
