import { readFileSync } from 'node:fs';
import { docsEndpoints } from '../adapters/inbound/http/docs/docs-routes.js';
import { healthEndpoints } from '../adapters/inbound/http/health-routes.js';
import { tagOf } from '../adapters/inbound/http/openapi/description.js';
import { openApiDocument } from '../adapters/inbound/http/openapi/document.js';
import { openApiEndpoint } from '../adapters/inbound/http/openapi/openapi-route.js';
import { publicEndpoints, servedEndpoints } from './endpoints.js';
import { DEFINITIONS } from './resources.js';
import * as t from './tokens.js';
import type { Bind, Get } from './typed-token.js';

/** What operations are about, in the order in which people read of it. */
const TAGS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(DEFINITIONS).map(({ words }) => [tagOf(words), words.about])),
  'OAuth 2.0':
    'Access tokens in exchange for API keys, and metadata that clients and other services can discover.',
  Health: 'For probes: no credentials, no rate limit.',
  Documents: 'The API, described for programs and for people.',
};

export function bindOpenApi(bind: Bind): void {
  // Its files are read once, at the start.
  bind(t.DOCS_ENDPOINTS, () => docsEndpoints());
  bind(t.OPENAPI_ENDPOINT, (get) => openApiEndpoint(() => describedService(get)));
}

/** The OpenAPI document of a service, whether or not it runs. */
export function describedService(get: Get): object {
  const settings = get(t.SETTINGS);
  const health = healthEndpoints(get(t.STORE), () => false);
  return openApiDocument([...servedEndpoints(get), ...publicEndpoints(get), ...health], {
    url: get(t.PUBLIC_URL).url,
    version: packageVersion(),
    tags: TAGS,
    isProxied: settings.TLS === 'proxy',
    isStrict: settings.TLS !== 'self-signed',
    isShared: settings.CORS_ORIGINS !== '',
  });
}

function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
