import type { components } from './document.js';
import { Transport, type TransportOptions } from './transport.js';

export interface ClientCredentials extends Omit<TransportOptions, 'token'> {
  /** The id of an API key. */
  readonly clientId: number;
  /** The key. */
  readonly clientSecret: string;
  /** Absent: all that the key has. */
  readonly scopes?: readonly string[];
}

/** A token is changed so long before its end. */
const MARGIN_MS = 30_000;

/** Gives access tokens of the service's own issuer, each as long as it is good (RFC 6749 section 4.4). */
export function clientCredentials(credentials: ClientCredentials): () => Promise<string> {
  const transport = new Transport(credentials);
  let current: Promise<string> | undefined;
  let goodUntil = 0;
  const renew = async () => {
    const requested = Date.now();
    const { access_token, expires_in } = await ask(transport, credentials);
    goodUntil = requested + expires_in * 1_000 - MARGIN_MS;
    return access_token;
  };
  return () => {
    // Where nobody says how long it is good, no comparison holds.
    if (current === undefined || !(Date.now() < goodUntil)) {
      goodUntil = Number.POSITIVE_INFINITY;
      current = renew().catch((error) => {
        current = undefined;
        throw error;
      });
    }
    return current;
  };
}

async function ask(
  transport: Transport,
  { clientId, clientSecret, scopes }: ClientCredentials,
): Promise<components['schemas']['TokenAnswer']> {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: String(clientId),
    client_secret: clientSecret,
    ...(scopes && { scope: scopes.join(' ') }),
  });
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const response = await transport.call('POST', '/oauth/token', { headers, body: form.toString() });
  return response.json();
}
