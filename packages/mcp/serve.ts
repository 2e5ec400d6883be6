import { RequestRefused } from '#packages/remote/errors.js';
import { type RemoteOptions, remoteCatalogue } from '#packages/remote/remote-catalogue.js';
import { ApiDocument } from './api-document.js';
import { serveTools } from './server.js';
import { offeredTools } from './tools.js';

export interface McpOptions {
  readonly remote: RemoteOptions;
  /** Whether tools that delete are among those offered. */
  readonly allowDelete: boolean;
  readonly log: (line: string) => void;
}

/**
 * Serves the tools that the credential may use on standard input and output, until the client closes the connection.
 * No request is repeated.
 * @throws RequestRefused if the service refuses the credential; Unavailable; UnknownService
 */
export async function serveMcp({ remote, allowDelete, log }: McpOptions): Promise<void> {
  const catalogue = remoteCatalogue(remote);
  const document = new ApiDocument((await catalogue.GET('/openapi.json')).data);
  const tools = await offeredTools(document, catalogue, allowDelete);
  if (tools.length === 0) throw noTools();
  log(`${tools.length} tools of ${remote.url}`);
  await serveTools(tools, document, (error) => log(error.message));
}

function noTools(): RequestRefused {
  const message = 'API_KEY has no scope for products, users or orders.';
  return new RequestRefused(403, { code: 'insufficient_scope', message, details: [] });
}
