import {
  type Catalogue,
  CatalogueError,
  createCatalogue,
  type RetryOptions,
  type Token,
} from '#packages/client/index.js';
import { FeedFollower } from './live/follower.js';
import { rateLimitOf } from './rate-limit.js';
import type { Probe } from './session.js';
import type { AnyTypes, Api, Observation, Permissions } from './types.js';

/** The URL of the service, which may lie deeper than the root behind a proxy. */
export const BASE = new URL('.', location.origin + location.pathname).href;

/** A person waits a moment, not a minute: longer waits are said in words. */
const RETRY: RetryOptions = { maxRetries: 2, maxWaitMs: 2_000 };
/** What follows changes has time. */
export const PATIENCE: RetryOptions = { maxWaitMs: 300_000 };

/**
 * @param token the credential, or a function that gives the newest one
 * @param observe called with each response
 */
export function catalogueFor(
  token: Token | undefined,
  observe: (seen: Observation) => void,
  retry: RetryOptions = RETRY,
): Catalogue {
  const fetch = async (request: Request) => {
    const startedAt = performance.now();
    const response = await globalThis.fetch(request);
    const milliseconds = Math.round(performance.now() - startedAt);
    observe({ status: response.status, milliseconds, rateLimit: rateLimitOf(response.headers) });
    return response;
  };
  return createCatalogue({ baseUrl: BASE, token, fetch, retry });
}

export function apiOf(catalogue: Catalogue, credential: string, permissions: Permissions): Api {
  return {
    catalogue,
    credential,
    permissions,
    collection: ({ path }) => catalogue.collection<AnyTypes>(path),
    mayRead: ({ name }) => permissions.mayRead.has(name),
    mayWrite: ({ name }) => permissions.mayWrite.has(name),
  };
}

/**
 * @param catalogue takes a place in a feed, before a page is shown
 * @param patient waits for changes
 */
export function followerOf(catalogue: Catalogue, patient: Catalogue): FeedFollower {
  return new FeedFollower({
    changes: ({ path }, { from, signal }) =>
      (from === undefined ? catalogue : patient).collection<AnyTypes>(path).changes({ from, fields: ['id'], signal }),
  });
}

/**
 * A request that changes nothing: a list of one record, or an import of none.
 * @throws CatalogueError if the response tells nothing about scopes, for instance because the credential is wrong
 */
export function prober({ request }: Catalogue) {
  return async (method: 'get' | 'post', path: string): Promise<Probe> => {
    const lines = { headers: { 'Content-Type': 'application/x-ndjson' }, body: '', bodySerializer: String };
    const options = method === 'get' ? { params: { query: { limit: 1 } } } : lines;
    // The types know only the paths of this version of the service.
    const { response, error } = await request(method, path as '/v1/products', options as never);
    const { status, headers } = response;
    if (status === 403) return { isAllowed: false, scope: headers.get('WWW-Authenticate')?.match(SCOPE)?.[1] };
    if (response.ok) return { isAllowed: true };
    throw errorFrom(response, error);
  };
}

/**
 * What a request of the client's general methods responded.
 * @throws CatalogueError for an error, which they return
 */
export async function dataOf<Data>(
  request: Promise<{ readonly data?: Data; readonly error?: unknown; readonly response: Response }>,
): Promise<Data> {
  const { data, error, response } = await request;
  if (data === undefined) throw errorFrom(response, error);
  return data;
}

const SCOPE = /scope="([^"]*)"/;

function errorFrom({ status, headers }: Response, error: unknown): CatalogueError {
  const { code = 'unexpected_response', message = '', details = [] } = Object(error) as Partial<CatalogueError>;
  const seconds = Number(headers.get('Retry-After') ?? Number.NaN);
  const requestId = headers.get('X-Request-Id') ?? undefined;
  return new CatalogueError(status, code, message, details, requestId, seconds || undefined);
}
