export const NDJSON = 'application/x-ndjson';

/** Whether the body is a stream, which cannot be sent again. */
export function isStream({ headers }: Request): boolean {
  return headers.get('Content-Type') === NDJSON;
}

export function isSafe({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/**
 * Whether a request has no further effect if it is sent again: a creation under a key creates one record; a write with
 * a precondition succeeds once; and a replacement, a deletion and a merge patch are idempotent. A JSON Patch is not.
 */
export function isRetryable({ method, headers }: Request): boolean {
  if (method === 'POST') return headers.has('Idempotency-Key');
  if (method !== 'PATCH' || headers.has('If-Match')) return true;
  return headers.get('Content-Type') !== 'application/json-patch+json';
}
