import { type Catalogue, type CatalogueOptions, createCatalogue, type Fetch } from 'product-catalogue-client';
import { FIRST_KEY, type InProcessService, inProcessService } from '../../../tests/support/in-process-service.js';

/** An attempt: its request, and the status of the response if there was one. */
export interface Attempt {
  readonly request: Request;
  status?: number;
}

export interface ServedCatalogue {
  readonly service: InProcessService;
  /** The attempts since the last `connect`. */
  readonly attempts: Attempt[];
  /** The waits before retries in milliseconds. The tests do not really wait. */
  readonly waits: number[];
  /** @param between wraps the `fetch` of the client */
  connect(options?: Partial<CatalogueOptions>, between?: (fetch: Fetch) => Fetch): Catalogue;
}

/** The real service in this process, configured as behind a proxy that terminates TLS, and clients of it. */
export function catalogueService(environment: Record<string, string> = {}): ServedCatalogue {
  const service = inProcessService({ TLS: 'proxy', TRUSTED_PROXIES: '127.0.0.1', ...environment });
  const attempts: Attempt[] = [];
  const waits: number[] = [];
  const recorded =
    (fetch: Fetch): Fetch =>
    async (request) => {
      const attempt: Attempt = { request };
      attempts.push(attempt);
      const response = await fetch(request);
      attempt.status = response.status;
      return response;
    };
  const sleep = async (ms: number) => void waits.push(ms);
  return {
    service,
    attempts,
    waits,
    connect({ retry, ...options } = {}, between = (fetch) => fetch) {
      attempts.length = waits.length = 0;
      return createCatalogue({
        baseUrl: `http://127.0.0.1:${service.port}`,
        token: FIRST_KEY,
        fetch: recorded(between(proxied)),
        retry: { sleep, random: () => 0, ...retry },
        ...options,
      });
    },
  };
}

/** A refusal of the service. */
export const refused = (status: number, headers = {}): Response =>
  Response.json({ code: 'unavailable', message: 'later', details: [] }, { status, headers });

/** Sends a request as a proxy that terminates TLS does. */
export const proxied: Fetch = (request) => {
  request.headers.set('X-Forwarded-Proto', 'https');
  return fetch(request);
};

export async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

/** The error that a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const result = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('value' in result) throw new Error(`Not rejected: ${JSON.stringify(result.value)}`);
  return result.error;
}
