import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import type { RemoteOptions } from '#packages/remote/remote-catalogue.js';
import { SettingsError } from '../../../config/settings.js';
import { EXIT_CODES } from '../../../shared/program.js';
import { systemReason } from '../../../shared/shown-text.js';
import type { CliContext } from './context.js';

/** What the help of a command says that uses a running service. */
export const REMOTE_NOTE = `DATA_DIR/tls/ca.pem is trusted if it exists, and so is the
file of CAs that NODE_EXTRA_CA_CERTS names.`;

export function urlOption(): Option {
  return new Option('--url <url>', 'the running service (default: https://localhost:PORT)').argParser(parseAddress);
}

/**
 * Returns the running service that a command uses, from the settings and the environment.
 * @param url of {@link urlOption}
 * @throws SettingsError
 */
export async function remoteOptions(
  { loadSettings, loadClientSettings }: CliContext,
  url: string | undefined,
): Promise<RemoteOptions> {
  const { DATA_DIR, PORT } = loadSettings();
  const { token, extraCaFile } = loadClientSettings();
  const local = await authorityIn(join(DATA_DIR, 'tls', 'ca.pem'), 'DATA_DIR');
  // Node itself trusts the certificates in that file only for requests that name no other.
  const further = extraCaFile === undefined ? [] : await authorityIn(extraCaFile, 'NODE_EXTRA_CA_CERTS');
  return { url: url ?? `https://localhost:${PORT}`, token, authorities: [...local, ...further] };
}

/** @returns nothing if the file is the local CA's, which only a service makes, and there is none */
async function authorityIn(file: string, setting: 'DATA_DIR' | 'NODE_EXTRA_CA_CERTS'): Promise<string[]> {
  try {
    return [await readFile(file, 'utf8')];
  } catch (error) {
    if (setting === 'DATA_DIR' && (error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new SettingsError([`${setting}: ${file} cannot be read: ${systemReason(error)}`]);
  }
}

/** The key goes to this address, so it must be encrypted and say nothing else. */
function parseAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const address = url && `${url.origin}${url.pathname.replace(/\/$/, '')}`;
  if (url?.protocol === 'https:' && /^\/?$/.test(url.href.replace(`${address}`, ''))) return `${address}`;
  throw new InvalidArgumentError('It must be https://HOST or https://HOST:PORT, perhaps with a path.');
}

/** The exit code for a status with which the service refuses a request, or a line of an import. */
export function exitCodeOfRefusal(status: number): number {
  if (status === 401 || status === 403) return EXIT_CODES.notPermitted;
  return status === 429 || status >= 500 ? EXIT_CODES.unavailable : EXIT_CODES.dataError;
}

/** The detail of an error as a line of text: what is wrong, and where. */
export function detailText(detail: unknown): string {
  const { message, pointer } = Object(detail) as { readonly message?: unknown; readonly pointer?: unknown };
  const text = typeof message === 'string' ? message.replace(/\.$/, '') : JSON.stringify(detail);
  return typeof pointer === 'string' && pointer !== '' ? `${text} (${pointer})` : text;
}
