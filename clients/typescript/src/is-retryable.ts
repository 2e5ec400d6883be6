export const NDJSON = 'application/x-ndjson';

/** What is sent as it is made cannot be sent again. */
export function isStream({ headers }: Request): boolean {
  return headers.get('Content-Type') === NDJSON;
}

export function isSafe({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/**
 * Whether a request that may have been carried out does no more when it is sent again: a creation under a key makes one
 * record; what is written if nobody wrote since is written once; a replacement, a deletion and a merge patch come to the same
 * twice. The operations of a JSON Patch do not.
 */
export function isRepeatable({ method, headers }: Request): boolean {
  if (method === 'POST') return headers.has('Idempotency-Key');
  if (method !== 'PATCH' || headers.has('If-Match')) return true;
  return headers.get('Content-Type') !== 'application/json-patch+json';
}
