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
