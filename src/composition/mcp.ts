import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { McpOptions } from '../adapters/inbound/cli/context.js';
import { ApiDocument } from '../adapters/inbound/mcp/api-document.js';
import { serveTools } from '../adapters/inbound/mcp/server.js';
import { offeredTools } from '../adapters/inbound/mcp/tools.js';
import { HttpsCatalogue } from '../adapters/outbound/https-api/https-catalogue.js';
import { RequestRefused } from '../application/ports/remote-catalogue.js';
import { type ClientSettings, type Settings, SettingsError } from '../config/settings.js';
import { systemReason } from '../shared/system-reason.js';

/**
 * Serves the tools that the credential may use, until the client closes the connection.
 * @throws SettingsError; RequestRefused if the service refuses the credential; AppError `unavailable`
 */
export async function serveMcp(
  settings: Settings,
  { token, extraCaFile }: ClientSettings,
  { url, allowDelete, log }: McpOptions,
): Promise<void> {
  const authorities = await Promise.all([localCa(settings.DATA_DIR), extraCas(extraCaFile)]);
  const catalogue = new HttpsCatalogue({ url, token, authorities: authorities.flat() });
  const document = new ApiDocument(await catalogue.describe());
  const tools = await offeredTools(document, catalogue, allowDelete);
  if (tools.length === 0) throw noTools();
  log(`${tools.length} tools of ${url}`);
  await serveTools(tools, document, catalogue, (error) => log(error.message));
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

function noTools(): RequestRefused {
  const message = 'API_KEY has no scope for products, users or orders.';
  return new RequestRefused(403, { code: 'insufficient_scope', message, details: [] });
}
