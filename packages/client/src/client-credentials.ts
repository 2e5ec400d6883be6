import type { components } from './document.js';
import { Transport, type TransportOptions } from './transport.js';

export interface ClientCredentials extends Omit<TransportOptions, 'token'> {
  /** The id of an API key, as text or as the number that `apiKeys` gives. */
  readonly clientId: string | number;
  /** The key. */
  readonly clientSecret: string;
  /** The scopes of the tokens; by default all scopes of the key. */
  readonly scopes?: readonly string[];
}

/** A token is renewed this long before it expires. */
const MARGIN_MS = 30_000;

/** Returns a function that gets access tokens of the service's own issuer (RFC 6749 section 4.4), and reuses them. */
export function clientCredentials(credentials: ClientCredentials): () => Promise<string> {
  const transport = new Transport(credentials);
  let current: Promise<string> | undefined;
  let usableUntil = 0;
  const renew = async () => {
    const startedAt = Date.now();
    const { access_token, expires_in } = await requestToken(transport, credentials);
    usableUntil = startedAt + expires_in * 1_000 - MARGIN_MS;
    return access_token;
  };
  return () => {
    // Without `expires_in`, usableUntil is NaN and every comparison is false.
    if (current === undefined || !(Date.now() < usableUntil)) {
      usableUntil = Number.POSITIVE_INFINITY;
      current = renew().catch((error) => {
        current = undefined;
        throw error;
      });
    }
    return current;
  };
}

async function requestToken(
  transport: Transport,
  { clientId, clientSecret, scopes }: ClientCredentials,
): Promise<components['schemas']['Token']> {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: String(clientId),
    client_secret: clientSecret,
    ...(scopes && { scope: scopes.join(' ') }),
  });
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const response = await transport.call('POST', transport.addressOf('/oauth/token'), {
    headers,
    body: form.toString(),
  });
  return response.json();
}
