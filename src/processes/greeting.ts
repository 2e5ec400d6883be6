import { relative } from 'node:path';
import type { Started } from '../composition/service.js';
import type { Settings } from '../config/settings.js';

/** What a person reads on standard output once the service runs: where it is, and a request to paste. */
export function greeting(
  settings: Settings,
  { port, storeLocation, authorityFile, firstKey }: Started,
): string[] {
  const address = `https://localhost:${port}`;
  const key = firstKey ?? '$API_KEY';
  return [
    `The product catalogue listens on ${address} (${settings.HOST}).`,
    `Data: ${storeLocation}`,
    ...(firstKey ? [`API key, with every scope, shown this once: ${firstKey}`] : []),
    'Try it:',
    `  curl --cacert ${shellWord(shortest(authorityFile))} -H "Authorization: Bearer ${key}" ${address}/v1/products`,
  ];
}

/** What a person reads where it does not run, or not any longer. */
export function farewell(reason: string): string[] {
  return [`The service ends: ${reason}`];
}

export function say(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

function shortest(file: string): string {
  const short = relative(process.cwd(), file);
  return short.startsWith('..') ? file : short;
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
