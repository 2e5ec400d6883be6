import { relative } from 'node:path';
import type { Settings } from '../config/settings.js';
import { redactSecrets } from '../shared/shown-text.js';
import type { Started } from './service.js';

type Lines = (settings: Settings, started: Started) => string[];

/** The lines for a person when the service has started: its URL, its data and a first request. */
export const startupBanner: Lines = (settings, started) => {
  const { storeLocation, firstKey } = started;
  return [
    ...LOCATION[settings.TLS](settings, started),
    ...(settings.PUBLIC_READ ? [`Reading ${settings.PUBLIC_READ} needs no key.`] : []),
    `Data: ${storeLocation}`,
    ...(firstKey ? [`API key, with every scope, shown this once: ${firstKey}`] : []),
    ...FIRST_REQUEST[settings.TLS](settings, started),
  ];
};

const LOCATION: Readonly<Record<Settings['TLS'], Lines>> = {
  'self-signed': ({ HOST }, { port }) => [`The product catalogue listens on https://localhost:${port} (${HOST}).`],
  files: ({ HOST, TLS_CERT_FILE }, { port, expired }) => [
    `The product catalogue listens on https://localhost:${port} (${HOST}), with the certificate ${TLS_CERT_FILE}.`,
    ...(expired === undefined
      ? []
      : [`The certificate expired on ${new Date(expired).toISOString().slice(0, 10)}: clients refuse it.`]),
  ],
  proxy: ({ HOST, TRUSTED_PROXIES, PUBLIC_URL }, { port }) => [
    `The product catalogue listens on ${HOST}, port ${port}, in plain HTTP behind a proxy that ends TLS.`,
    `It serves what comes from ${TRUSTED_PROXIES} with X-Forwarded-Proto: https, and nothing else.`,
    ...(PUBLIC_URL ? [`Clients reach it at ${PUBLIC_URL}`] : []),
  ],
};

/** Each request is a line to paste, and `-w` ends its response with a line break, before the prompt of the shell. */
const FIRST_REQUEST: Readonly<Record<Settings['TLS'], Lines>> = {
  'self-signed': (_settings, { port, authorityFile = '', firstKey }) => [
    'Try it:',
    `  curl -w '\\n' --cacert ${shellWord(shortestPath(authorityFile))} ${authorized(firstKey)} https://localhost:${port}/v1/products`,
    `or, in a browser: https://localhost:${port}/console (records), https://localhost:${port}/docs (the interface)`,
  ],
  files: (_settings, { port, firstKey }) => [
    'Try it, under a name that the certificate holds:',
    `  curl -w '\\n' ${authorized(firstKey)} https://localhost:${port}/v1/products`,
  ],
  proxy: () => [],
};

/** The lines for a person when the service could not start, or stopped after an error. */
export function exitMessage(reason: string): string[] {
  return [redactSecrets(`The service ends: ${reason}`)];
}

export function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

function authorized(firstKey: string | undefined): string {
  return `-H "Authorization: Bearer ${firstKey ?? '$API_KEY'}"`;
}

function shortestPath(file: string): string {
  const short = relative(process.cwd(), file);
  return short.startsWith('..') ? file : short;
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
