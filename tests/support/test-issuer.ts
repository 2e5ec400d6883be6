import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import { listen } from '#src/process/listen.js';
import { endServer } from './end-server.js';
import { makePair, publicJwk, type SigningPair, signed } from './jws.js';

export const AUDIENCE = 'https://catalogue.example';

/** An issuer of access tokens on this machine, over plain HTTP. A test can make it fail. */
export class TestIssuer {
  /** The paths of the requests so far. */
  readonly requestPaths: string[] = [];
  /** The published keys; the first one signs. */
  pairs: SigningPair[] = [makePair('one')];
  /** Handles all requests instead of the issuer. */
  override: RequestListener | undefined;
  private port = 0;
  private readonly server: Server;

  constructor(private readonly path = '') {
    this.server = createServer((request, response) => {
      this.requestPaths.push(request.url ?? '');
      if (this.override) return this.override(request, response);
      const body = this.documents()[request.url ?? ''];
      response.writeHead(body ? 200 : 404, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(body ?? {}));
    });
  }

  get issuer(): string {
    return `http://127.0.0.1:${this.port}${this.path}`;
  }

  get pair(): SigningPair {
    const [first] = this.pairs;
    if (!first) throw new Error('The issuer has no keys.');
    return first;
  }

  get settings(): Record<string, string> {
    return { OAUTH_ISSUER: this.issuer, OAUTH_AUDIENCE: AUDIENCE };
  }

  /** The published documents by path. */
  documents(): Record<string, unknown> {
    const metadata = { issuer: this.issuer, jwks_uri: `http://127.0.0.1:${this.port}/keys` };
    return {
      [`/.well-known/oauth-authorization-server${this.path}`]: metadata,
      '/keys': { keys: this.pairs.map(publicJwk) },
    };
  }

  async start(): Promise<this> {
    this.port = await listen(this.server, '127.0.0.1', this.port);
    return this;
  }

  stop(): Promise<void> {
    return endServer(this.server);
  }

  /** Returns the claims of a valid access token with these changes. */
  readonly claims = (changes: object = {}): Record<string, unknown> => {
    const now = Math.floor(Date.now() / 1_000);
    return {
      iss: this.issuer,
      aud: AUDIENCE,
      sub: 'shop',
      client_id: 'shop',
      iat: now,
      exp: now + 300,
      jti: randomUUID(),
      scope: 'products:read products:write',
      ...changes,
    };
  };

  /** Returns a valid access token with these changes; undefined removes a claim or a header member. */
  readonly token = (claims: object = {}, header: object = {}, pair = this.pair): string =>
    signed(this.claims(claims), pair, header);
}
