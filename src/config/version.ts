import { readFileSync } from 'node:fs';
import { ROOT_FOLDER } from '../shared/root-folder.js';

/** The version of the program, from package.json: the only place that has it. */
export function packageVersion(): string {
  const text = readFileSync(new URL('package.json', ROOT_FOLDER), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
