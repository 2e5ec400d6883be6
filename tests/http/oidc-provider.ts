import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Adapter, type Configuration, type JWK } from 'oidc-provider';
import type { SigningPair } from '../support/jws.js';
import { AUDIENCE } from '../support/test-issuer.js';

const SECRET = 'a secret of a client in a test';

/** A real authorization server (oidc-provider) on this machine. */
export class OidcProvider {
  private handler: RequestListener = () => {};
  private readonly server: Server = createServer((request, response) => this.handler(request, response));

  get issuer(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get settings(): Record<string, string> {
    return { OAUTH_ISSUER: this.issuer, OAUTH_AUDIENCE: AUDIENCE };
  }

  /** @param pairs the published keys; the first one that fits signs */
  async start(pairs: SigningPair[]): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.rotate(pairs);
  }

  /** Replaces the keys. */
  rotate(pairs: SigningPair[]): void {
    const provider = new Provider(this.issuer, configuration(pairs));
    this.handler = provider.callback();
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** Requests an access token by client credentials (RFC 6749 section 4.4) for one resource (RFC 8707). */
  async token(scope: string, client = 'shop', resource = AUDIENCE): Promise<string> {
    const response = await fetch(`${this.issuer}/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`${client}:${encodeURIComponent(SECRET)}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope, resource }),
    });
    const { access_token } = (await response.json()) as { access_token?: string };
    if (!access_token) throw new Error(`The provider issued no token: ${response.status}`);
    return access_token;
  }
}

/** Stores nothing, which is enough for access tokens that are JWTs. */
const NO_STORAGE: Adapter = {
  upsert: async () => {},
  find: async () => undefined,
  findByUserCode: async () => undefined,
  findByUid: async () => undefined,
  consume: async () => {},
  destroy: async () => {},
  revokeByGrantId: async () => {},
};

function configuration(pairs: SigningPair[]): Configuration {
  const [first] = pairs;
  return {
    adapter: () => NO_STORAGE,
    cookies: { keys: ['a key of a test'] },
    ttl: { ClientCredentials: 300 },
    jwks: { keys: pairs.map((pair) => ({ ...privateJwk(pair) })) },
    clients: ['shop', 'till'].map((client_id) => ({
      client_id,
      client_secret: SECRET,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    })),
    clientDefaults: { id_token_signed_response_alg: first?.alg ?? 'RS256' },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource) => ({
          audience: resource,
          scope: 'products:read products:write users:read keys:admin coffee',
          accessTokenFormat: 'jwt',
          accessTokenTTL: 300,
          jwt: { sign: { alg: first?.alg === 'ES256' ? 'ES256' : 'RS256', kid: first?.kid } },
        }),
      },
    },
  };
}

function privateJwk({ kid, alg, privateKey }: SigningPair): JWK {
  return { ...privateKey.export({ format: 'jwk' }), kid, alg, use: 'sig' } as JWK;
}
