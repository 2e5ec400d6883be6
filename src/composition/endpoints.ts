import type { Endpoint } from '../adapters/inbound/http/endpoint.js';
import { RESOURCES } from './tokens.js';
import type { Get } from './typed-token.js';

/** All that is served, but for the probes. What stands here is walked by the test of who may do what. */
export function servedEndpoints(get: Get): Endpoint[] {
  return RESOURCES.flatMap(({ endpoints }) => get(endpoints));
}
