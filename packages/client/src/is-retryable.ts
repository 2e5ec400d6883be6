export const NDJSON = 'application/x-ndjson';
export const CSV = 'text/csv';

/** The media type of a stream of records. */
export type StreamType = typeof NDJSON | typeof CSV;

/** Whether the body is an import, which is not sent again: it may be a stream. */
export function isStream({ headers }: Request): boolean {
  return [NDJSON, CSV].includes(headers.get('Content-Type') ?? '');
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
