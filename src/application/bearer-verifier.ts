import { invalidToken } from '../domain/access.js';
import type { ApiKeyFormat } from './ports/api-key-format.js';
import type { Bearer, TokenVerifier } from './ports/token-verifier.js';

/** The one other issuer whose tokens are taken. */
export interface ExternalIssuer {
  readonly issuer: string;
  readonly tokens: TokenVerifier;
}

export interface BearerVerifierDependencies {
  readonly format: ApiKeyFormat;
  readonly apiKeys: TokenVerifier;
  /** Of this service's own access tokens. */
  readonly own: TokenVerifier;
  readonly external: ExternalIssuer | undefined;
  /** What a JWT says of who made it, verified by nobody; undefined where it says nothing, or is no JWT. */
  readonly issuerOf: (token: string) => string | undefined;
}

/** Gives each token to the verifier of its kind, and to no other: the keys of one issuer never judge another's token. */
export class BearerVerifier implements TokenVerifier {
  constructor(private readonly deps: BearerVerifierDependencies) {}

  async verify(token: string): Promise<Bearer> {
    const verifier = this.verifierOf(token);
    if (!verifier) throw invalidToken();
    return verifier.verify(token);
  }

  private verifierOf(token: string): TokenVerifier | undefined {
    const { format, apiKeys, own, external, issuerOf } = this.deps;
    if (format.isWellFormed(token)) return apiKeys;
    const issuer = issuerOf(token);
    if (issuer === undefined) return undefined;
    return issuer === external?.issuer ? external.tokens : own;
  }
}
