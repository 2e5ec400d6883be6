import { type Command, InvalidArgumentError } from 'commander';
import { redactSecrets } from '../../../../shared/redact.js';
import type { CliContext, McpOptions } from '../context.js';

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
    .action(async ({ url, allowDelete }: Pick<McpOptions, 'allowDelete'> & Partial<McpOptions>) => {
      const settings = loadSettings();
      const client = loadClientSettings();
      const { serveMcp } = await loadMcp();
      const log = (line: string) => io.stderr.write(redactSecrets(`catalogue mcp: ${line}\n`));
      await serveMcp(settings, client, {
        url: url ?? `https://localhost:${settings.PORT}`,
        allowDelete,
        log,
      });
    });
}

/** The key goes to this address, so it must be encrypted and say nothing else. */
function parseAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const address = url && `${url.origin}${url.pathname.replace(/\/$/, '')}`;
  if (url?.protocol === 'https:' && /^\/?$/.test(url.href.replace(`${address}`, ''))) return `${address}`;
  throw new InvalidArgumentError('It must be https://HOST or https://HOST:PORT, perhaps with a path.');
}
