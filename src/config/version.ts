import { readFileSync } from 'node:fs';

/** The version of the program, from package.json: the only place that has it. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
