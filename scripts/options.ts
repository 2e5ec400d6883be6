import { type ParseArgsConfig, parseArgs } from 'node:util';

/** sysexits.h */
const EX_USAGE = 64;

/**
 * Returns the options of the command line, completed by the defaults. Each option takes a value. Ends the process as
 * {@link parsedOptions} does.
 */
export function options<Name extends string>(defaults: Readonly<Record<Name, string>>): Record<Name, string> {
  const known = Object.entries<string>(defaults).map(([name, value]) => [
    name,
    { type: 'string' as const, default: value },
  ]);
  return parsedOptions(Object.fromEntries(known)) as Record<Name, string>;
}

type Values<Options extends NonNullable<ParseArgsConfig['options']>> = ReturnType<
  typeof parseArgs<{ options: Options }>
>['values'];

/**
 * Parses the command line. With `--help` it prints the options and ends the process with 0; if an option is unknown, it
 * says so and ends it with 64.
 */
export function parsedOptions<const Options extends NonNullable<ParseArgsConfig['options']>>(
  known: Options,
): Values<Options> {
  try {
    const help = { type: 'boolean', short: 'h', default: false } as const;
    const { values } = parseArgs({ options: { ...known, help } });
    if (!(values as { readonly help?: boolean }).help) return values as Values<Options>;
    process.stdout.write(usage(known));
    return process.exit(0);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message}\n${usage(known)}`);
    return process.exit(EX_USAGE);
  }
}

function usage(known: NonNullable<ParseArgsConfig['options']>): string {
  const lines = Object.entries(known).map(([name, option]) => {
    if (option.type === 'boolean') return `  --${name}`;
    const initial = option.default === undefined || option.default === '' ? '' : `   (default: ${option.default})`;
    return `  --${name} VALUE${initial}`;
  });
  return ['options:', ...lines, '  -h, --help', ''].join('\n');
}

/** @throws Error if the text is not a whole number within the bounds */
export function integer(name: string, text: string, min: number, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Error(`--${name} takes a whole number from ${min} to ${max}`);
}

/**
 * Chooses the things whose names contain one of the words, which commas separate; all of them if there is no word.
 * @throws Error if a word fits no name
 */
export function chosen<Named extends { readonly name: string }>(
  option: string,
  text: string,
  all: readonly Named[],
): Named[] {
  if (text === '') return [...all];
  const words = text.toLowerCase().split(',');
  const fits = (name: string, word: string) => name.toLowerCase().includes(word);
  for (const word of words)
    if (!all.some(({ name }) => fits(name, word)))
      throw new Error(`--${option} ${word} is none of: ${all.map(({ name }) => name).join(', ')}`);
  return all.filter(({ name }) => words.some((word) => fits(name, word)));
}
