/** The time-out for each document, including its body. */
const TIMEOUT_MS = 2_000;
const MAX_BYTES = 256 * 1024;

/**
 * Fetches the keys of an issuer by way of its metadata (RFC 8414).
 * @returns a JSON object that should be a JWK Set (RFC 7517 section 5)
 * @throws Error if there is none
 */
export async function fetchKeySet(issuer: string): Promise<unknown> {
  let failure: unknown;
  for (const url of metadataUrls(issuer)) {
    const metadata = await fetchJson(url).catch((error: unknown) => {
      if (isTimeout(error)) throw error;
      failure = error;
    });
    if (metadata?.['issuer'] !== issuer) continue;
    const keySet = await fetchJson(jwksUri(metadata['jwks_uri'], issuer));
    if (keySet) return keySet;
    throw new Error('no JWK Set is at the jwks_uri of the issuer');
  }
  throw failure ?? new Error('the issuer publishes no metadata that name it');
}

/** After a time-out the other URL is not tried: it is on the same host. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

/**
 * The URLs at which an issuer may publish its metadata. RFC 8414 section 3.1 puts the well-known name before the
 * issuer's path, OpenID Connect Discovery (section 4) after it.
 */
export function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
}

/**
 * Returns a safe `jwks_uri`. Plain HTTP is safe only to this machine, and only if the issuer itself uses plain HTTP.
 */
export function jwksUri(value: unknown, issuer: string): string {
  const { protocol, hostname } = new URL(String(value));
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback && issuer.startsWith('http:'));
  if (isSafe) return String(value);
  throw new Error('the jwks_uri of the issuer is not safe');
}

/**
 * Fetches a JSON object. Follows no redirect.
 * @returns undefined if the response is not a JSON object with status 200
 * @throws Error if there is no response in time
 */
async function fetchJson(url: string): Promise<Record<string, unknown> | undefined> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const headers = { Accept: 'application/json, application/jwk-set+json' };
  const response = await fetch(url, { redirect: 'manual', headers, signal });
  const text = response.status === 200 ? await textOf(response) : undefined;
  // An unread body would hold the connection.
  if (text === undefined) await response.body?.cancel();
  return text === undefined ? undefined : objectIn(text);
}

/** @returns undefined if the body is larger than MAX_BYTES */
async function textOf({ body }: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body?.values({ preventCancel: true }) ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
