import type { Route } from '../adapters/inbound/http/route.js';
import { DOCS_ENDPOINTS, OAUTH_ENDPOINTS, OPENAPI_ENDPOINT, RESOURCES } from './tokens.js';
import type { Get } from './typed-token.js';

/** All that is served to whoever may have it. What stands here is walked by the test of who may do what. */
export function servedEndpoints(get: Get): Route[] {
  return Object.values(get(RESOURCES)).flatMap(({ endpoints }) => endpoints);
}

/** All that is served to everyone, but for the probes. */
export function publicEndpoints(get: Get): readonly Route[] {
  return [...get(OAUTH_ENDPOINTS), get(OPENAPI_ENDPOINT), ...get(DOCS_ENDPOINTS)];
}
