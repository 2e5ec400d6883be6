import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { SettingsError } from '../../../../config/settings.js';
import { redactSecrets } from '../../../../shared/redact.js';
import { systemReason } from '../../../../shared/system-reason.js';
import type { CliContext } from '../context.js';

const NOTE = `
API_KEY is the API key of the service, or an access token. Tools that it may not
use are not offered. DATA_DIR/tls/ca.pem is trusted if it exists, and so is the
file of CAs that NODE_EXTRA_CA_CERTS names.

example: API_KEY=pcs_… catalogue mcp --url https://localhost:8443`;

export function addMcp(program: Command, context: CliContext): void {
  const { io, loadSettings, loadClientSettings, loadMcp } = context;
  program
    .command('mcp')
    .summary('serve tools for language models (MCP)')
    .description('Serves tools for language models (Model Context Protocol) on standard input and output.')
    .option('--url <url>', 'the running service (default: https://localhost:PORT)', parseAddress)
    .option('--allow-delete', 'also offer tools that delete', false)
    .addHelpText('after', NOTE)
    .action(async ({ url, allowDelete }: { readonly url?: string; readonly allowDelete: boolean }) => {
      const { DATA_DIR, PORT } = loadSettings();
      const { token, extraCaFile } = loadClientSettings();
      const authorities = [...(await localCa(DATA_DIR)), ...(await extraCas(extraCaFile))];
      const { serveMcp } = await loadMcp();
      const log = (line: string) => io.stderr.write(redactSecrets(`catalogue mcp: ${line}\n`));
      await serveMcp({ url: url ?? `https://localhost:${PORT}`, token, authorities, allowDelete, log });
    });
}

/** Returns the certificate of the local CA, if a service made one. */
async function localCa(dataDir: string): Promise<string[]> {
  const file = join(dataDir, 'tls', 'ca.pem');
  try {
    return [await readFile(file, 'utf8')];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new SettingsError([`DATA_DIR: ${file} cannot be read`]);
  }
}

/** Node itself trusts the certificates in that file only for requests that name no other. */
async function extraCas(file: string | undefined): Promise<string[]> {
  if (file === undefined) return [];
  try {
    return [await readFile(file, 'utf8')];
  } catch (error) {
    throw new SettingsError([`NODE_EXTRA_CA_CERTS: ${file} cannot be read: ${systemReason(error)}`]);
  }
}

/** The key goes to this address, so it must be encrypted and say nothing else. */
function parseAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const address = url && `${url.origin}${url.pathname.replace(/\/$/, '')}`;
  if (url?.protocol === 'https:' && /^\/?$/.test(url.href.replace(`${address}`, ''))) return `${address}`;
  throw new InvalidArgumentError('It must be https://HOST or https://HOST:PORT, perhaps with a path.');
}
