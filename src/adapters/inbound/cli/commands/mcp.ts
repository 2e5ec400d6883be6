import type { Command } from 'commander';
import { redactSecrets } from '../../../../shared/shown-text.js';
import type { CliContext } from '../context.js';
import { REMOTE_NOTE, remoteOptions, urlOption } from '../remote.js';

const NOTE = `
API_KEY is the API key of the service, or an access token. Tools that it may not
use are not offered. ${REMOTE_NOTE}

example: API_KEY=pcs_… catalogue mcp --url https://localhost:8443`;

export function addMcp(program: Command, context: CliContext): void {
  const { io, loadMcp } = context;
  program
    .command('mcp')
    .summary('serve tools for language models (MCP)')
    .description('Serves tools for language models (Model Context Protocol) on standard input and output.')
    .addOption(urlOption())
    .option('--allow-delete', 'also offer tools that delete', false)
    .addHelpText('after', NOTE)
    .action(async ({ url, allowDelete }: { readonly url?: string; readonly allowDelete: boolean }) => {
      const remote = await remoteOptions(context, url);
      const { serveMcp } = await loadMcp();
      const log = (line: string) => io.stderr.write(redactSecrets(`catalogue mcp: ${line}\n`));
      await serveMcp({ remote, allowDelete, log });
    });
}
