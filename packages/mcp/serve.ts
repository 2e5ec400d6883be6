import { createCatalogue } from '#packages/client/index.js';
import { ApiDocument } from './api-document.js';
import { RequestRefused } from './errors.js';
import { httpsFetch } from './https-fetch.js';
import { serveTools } from './server.js';
import { offeredTools } from './tools.js';

export interface McpOptions {
  /** The https address of a running service, without a slash at the end. It has a path if a proxy removes one. */
  readonly url: string;
  /** A bearer token (RFC 6750), such as an API key. */
  readonly token: string;
  /** Certificates of CAs to trust besides the public ones, in PEM. */
  readonly authorities: readonly string[];
  /** Whether tools that delete are among those offered. */
  readonly allowDelete: boolean;
  readonly log: (line: string) => void;
}

/**
 * Serves the tools that the credential may use on standard input and output, until the client closes the connection.
 * Each call of a tool is one request, which is never repeated.
 * @throws RequestRefused if the service refuses the credential; Unavailable; UnknownService
 */
export async function serveMcp({ url, token, authorities, allowDelete, log }: McpOptions): Promise<void> {
  const fetch = httpsFetch(url, authorities);
  const catalogue = createCatalogue({ baseUrl: url, token, fetch, retry: { maxRetries: 0 } });
  const document = new ApiDocument((await catalogue.GET('/openapi.json')).data);
  const tools = await offeredTools(document, catalogue, allowDelete);
  if (tools.length === 0) throw noTools();
  log(`${tools.length} tools of ${url}`);
  await serveTools(tools, document, (error) => log(error.message));
}

function noTools(): RequestRefused {
  const message = 'API_KEY has no scope for products, users or orders.';
  return new RequestRefused(403, { code: 'insufficient_scope', message, details: [] });
}
