import { type Catalogue, type CatalogueOptions, createCatalogue, type Fetch } from 'product-catalogue-client';
import {
  FIRST_KEY,
  type InProcessService,
  inProcessService,
} from '../../../tests/support/in-process-service.js';

/** A request as it went out, and the status of what came back; none where nothing did. */
export interface Tried {
  readonly request: Request;
  status?: number;
}

export interface ServedCatalogue {
  readonly service: InProcessService;
  /** All that went out since the last `connect`. */
  readonly tried: Tried[];
  /** Milliseconds that were waited; the wait itself is left out. */
  readonly waits: number[];
  /** @param between stands between the client and the service */
  connect(options?: Partial<CatalogueOptions>, between?: (fetch: Fetch) => Fetch): Catalogue;
}

/** The real service in this process, as behind a proxy that ended TLS, and clients of it. */
export function catalogueService(environment: Record<string, string> = {}): ServedCatalogue {
  const service = inProcessService({ TLS: 'proxy', TRUSTED_PROXIES: '127.0.0.1', ...environment });
  const tried: Tried[] = [];
  const waits: number[] = [];
  const recorded =
    (fetch: Fetch): Fetch =>
    async (request) => {
      const one: Tried = { request };
      tried.push(one);
      const response = await fetch(request);
      one.status = response.status;
      return response;
    };
  const sleep = async (ms: number) => void waits.push(ms);
  return {
    service,
    tried,
    waits,
    connect({ retry, ...options } = {}, between = (fetch) => fetch) {
      tried.length = waits.length = 0;
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

/** What a proxy that ended TLS passes on. */
export const proxied: Fetch = (request) => {
  request.headers.set('X-Forwarded-Proto', 'https');
  return fetch(request);
};

export async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

/** What a promise is refused with. */
export async function refusal(promise: Promise<unknown>): Promise<unknown> {
  const came = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('value' in came) throw new Error(`Not refused: ${JSON.stringify(came.value)}`);
  return came.error;
}
