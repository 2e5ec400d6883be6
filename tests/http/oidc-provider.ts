import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Adapter, type Configuration, type JWK } from 'oidc-provider';
import type { SigningPair } from '../support/jws.js';
import { AUDIENCE } from '../support/test-issuer.js';

const SECRET = 'a secret of a client in a test';

/** An authorization server as others run them, on this machine. */
export class OidcProvider {
  private response: RequestListener = () => {};
  private readonly server: Server = createServer((request, response) => this.response(request, response));

  get issuer(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get settings(): Record<string, string> {
    return { OAUTH_ISSUER: this.issuer, OAUTH_AUDIENCE: AUDIENCE };
  }

  /** @param pairs it signs with the first that fits, and publishes all */
  async start(pairs: SigningPair[]): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.rotate(pairs);
  }

  /** Goes on with other keys. */
  rotate(pairs: SigningPair[]): void {
    const provider = new Provider(this.issuer, configuration(pairs));
    this.response = provider.callback();
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** By the grant of client credentials (RFC 6749 section 4.4), for one resource (RFC 8707). */
  async token(scope: string, client = 'shop', resource = AUDIENCE): Promise<string> {
    const response = await fetch(`${this.issuer}/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`${client}:${encodeURIComponent(SECRET)}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope, resource }),
    });
    const { access_token } = (await response.json()) as { access_token?: string };
    if (!access_token) throw new Error(`The provider gave no token: ${response.status}`);
    return access_token;
  }
}

/** Access tokens that are JWTs are stored nowhere. */
const FORGETFUL: Adapter = {
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
    adapter: () => FORGETFUL,
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
