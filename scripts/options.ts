import { parseArgs } from 'node:util';

/**
 * Returns the options of the command line, completed by the defaults. Each option takes a value.
 * @throws Error if an option is unknown
 */
export function options<Name extends string>(defaults: Readonly<Record<Name, string>>): Record<Name, string> {
  const known = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: 'string' as const }]));
  const { values } = parseArgs({ options: known });
  return { ...defaults, ...values } as Record<Name, string>;
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
