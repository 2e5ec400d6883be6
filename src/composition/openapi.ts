import type { ResourceDefinition } from '../adapters/inbound/http/core/resource-definition.js';
import type { Route } from '../adapters/inbound/http/core/route.js';
import { openApiDocument } from '../adapters/inbound/http/openapi/document.js';
import type { Settings } from '../config/settings.js';
import { packageVersion } from '../config/settings.js';
import { DEFINITIONS } from './resources.js';

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
    resources: Object.values<ResourceDefinition<never>>(DEFINITIONS as never),
    isProxied: settings.TLS === 'proxy',
    hasHsts: settings.TLS !== 'self-signed',
    hasCors: settings.CORS_ORIGINS !== '',
    requireIfMatch: settings.REQUIRE_IF_MATCH,
  });
}
