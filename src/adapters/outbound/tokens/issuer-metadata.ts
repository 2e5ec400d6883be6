/** For each document, its body included. */
const TIMEOUT_MS = 2_000;
const MAX_BYTES = 256 * 1024;

/**
 * Finds an issuer's keys by what it publishes of itself.
 * @returns a JWK Set (RFC 7517 section 5), if the issuer keeps to it
 * @throws Error where there is none to be had
 */
export async function fetchKeySet(issuer: string): Promise<unknown> {
  let failure: unknown;
  for (const address of metadataAddresses(issuer)) {
    const metadata = await fetchJson(address).catch((error: unknown) => {
      if (isTimeout(error)) throw error;
      failure = error;
    });
    if (metadata?.['issuer'] !== issuer) continue;
    const keySet = await fetchJson(keySetAddress(metadata['jwks_uri'], issuer));
    if (keySet) return keySet;
    throw new Error('no JWK Set is at the jwks_uri of the issuer');
  }
  throw failure ?? new Error('the issuer publishes no metadata that name it');
}

/** Who lets one address hang would let the other hang too. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

/** RFC 8414 section 3.1 puts its name before the issuer's path, OpenID Connect Discovery (section 4) behind. */
export function metadataAddresses(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
}

/** In plain HTTP only from this machine, and only for an issuer that is itself reached so. */
export function keySetAddress(given: unknown, issuer: string): string {
  const { protocol, hostname } = new URL(String(given));
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback && issuer.startsWith('http:'));
  if (isSafe) return String(given);
  throw new Error('the jwks_uri of the issuer is not safe');
}

/**
 * @returns undefined where there is an answer but no JSON object, or one that leads elsewhere
 * @throws Error where there is no answer in time
 */
async function fetchJson(address: string): Promise<Record<string, unknown> | undefined> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const headers = { Accept: 'application/json, application/jwk-set+json' };
  const answer = await fetch(address, { redirect: 'manual', headers, signal });
  const text = answer.status === 200 ? await textOf(answer) : undefined;
  // What was not read to its end holds a connection.
  if (text === undefined) await answer.body?.cancel();
  return text === undefined ? undefined : objectIn(text);
}

/** @returns undefined where it is too much */
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
