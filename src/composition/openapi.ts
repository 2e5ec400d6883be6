import { tagOf } from '../adapters/inbound/http/core/description.js';
import type { Route } from '../adapters/inbound/http/core/route.js';
import { openApiDocument } from '../adapters/inbound/http/openapi/document.js';
import type { Settings } from '../config/settings.js';
import { packageVersion } from '../config/settings.js';
import { DEFINITIONS } from './resources.js';

/** The descriptions of the tags, in the order of the document. */
const TAGS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(DEFINITIONS).map(({ docs }) => [tagOf(docs), docs.description])),
  'OAuth 2.0': 'Access tokens in exchange for API keys.',
};

export interface DescribedParts {
  readonly settings: Settings;
  readonly routes: readonly Route[];
  /** The public URL. */
  readonly url: string;
}

/** Returns the OpenAPI document of a service, which need not run. */
export function describedService({ settings, routes, url }: DescribedParts): object {
  return openApiDocument(routes, {
    url,
    version: packageVersion(),
    tags: TAGS,
    isProxied: settings.TLS === 'proxy',
    hasHsts: settings.TLS !== 'self-signed',
    hasCors: settings.CORS_ORIGINS !== '',
    requireIfMatch: settings.REQUIRE_IF_MATCH,
  });
}
