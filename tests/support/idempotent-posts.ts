import type { HttpResponse, RequestOptions } from './http-client.js';
import type { InProcessService } from './in-process-service.js';

export const MEBIBYTE = 1_048_576;

export const keyed = (key: string, { headers, ...more }: RequestOptions = {}): RequestOptions => ({
  ...more,
  headers: { 'Idempotency-Key': key, ...headers },
});

export const isReplay = ({ headers }: HttpResponse) => headers['idempotency-replayed'] === 'true';

/** Returns the status of a response, and whether it is marked as a replay. */
export const outcome = (response: HttpResponse) => [response.status, isReplay(response)];

export const MADE = [201, false];
export const REPLAYED = [201, true];

/** Creates records with idempotency keys in a running service. */
export function posting(service: InProcessService) {
  let made = 0;
  return {
    fresh: () => `thing-${++made}`,
    post: (path: string, body: unknown, key: string, more?: RequestOptions) =>
      service.client.post(path, body, keyed(key, more)),
    count: async (path: string) => Number((await service.client.get(path, COUNTED)).headers['x-total-count'] ?? -1),
  };
}

const COUNTED = { headers: { Prefer: 'count=exact' } };
