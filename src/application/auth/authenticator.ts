import type { Principal } from '../../domain/access.js';
import { FOREIGN_REQUEST_MS, invalidToken } from '../../domain/access-token.js';
import { keyIdOf } from '../../domain/api-key.js';
import { AppError } from '../../domain/errors.js';
import type { Id } from '../../domain/record.js';
import { API_KEY_SHAPE } from '../../shared/api-key-format.js';
import type { MaybePromise } from '../../shared/promises.js';
import type { Clock } from '../ports/clock.js';
import type { RateLimiter, RatePolicy, RateState } from '../ports/rate-limiter.js';
import type { Credential, TokenVerifier, VerifiedCredential } from '../ports/tokens.js';
import type { ApiKeyVerifier } from './api-keys.js';
import { type CredentialCache, credentialDigest } from './credential-cache.js';

/** Too many authentications from this address failed. */
export class AuthenticationThrottled extends AppError {
  constructor(
    readonly policy: RatePolicy,
    readonly state: RateState,
  ) {
    super('rate_limited', 'Too many failed authentications came from this address.');
  }
}

/** The one other issuer whose tokens are accepted. */
export interface ExternalIssuer {
  readonly issuer: string;
  readonly tokens: TokenVerifier;
}

/** An OAuth client: an API key that was authenticated by its id and secret. */
export interface AuthenticatedClient extends VerifiedCredential {
  readonly keyId: Id;
}

export interface AuthenticatorDependencies {
  readonly cache: CredentialCache;
  readonly clock: Clock;
  readonly failures: RateLimiter;
  readonly apiKeys: TokenVerifier & Pick<ApiKeyVerifier, 'findValid'>;
  /** Verifies the access tokens that this service issues. */
  readonly accessTokens: TokenVerifier;
  readonly external: ExternalIssuer | undefined;
  /** Reads the `iss` of a JWT without verifying it; undefined if the token is not a JWT or has no issuer. */
  readonly issuerOf: (token: string) => string | undefined;
}

/**
 * The one way from a credential to a principal: one digest, one cache, then the verifier of its kind. An address that
 * keeps failing is throttled. A credential that was valid in the last 10 minutes passes the throttle, so that
 * failures of others at the same address do not lock its client out. It no longer does once it is found invalid.
 */
export class Authenticator {
  constructor(private readonly deps: AuthenticatorDependencies) {}

  /**
   * Returns the principal of a token, immediately if the token is cached. Otherwise the promise may reject with an
   * AppError `invalid_token`, `token_expired`, `rate_limited` (as {@link AuthenticationThrottled}) or `unavailable`.
   */
  authenticate(token: string, address: string): MaybePromise<Principal> {
    const credential = credentialOf(token);
    return (
      this.deps.cache.getFresh(credential.digest) ??
      this.verify(credential, address, async () => this.verifyOrForget(credential, this.verifierOf(token)))
    );
  }

  /**
   * Verifies the token of a long request again, without counting a failure. An import or an export may take longer than
   * an access token lives, so a token that has expired by then stays good while its API key is valid; another issuer's,
   * for a day.
   * @param principal the one that the token authenticated when the request began
   * @throws AppError `invalid_token`, `token_expired`, `unavailable`
   */
  verifyAgain(token: string, principal: Principal): MaybePromise<Principal> {
    const credential = credentialOf(token);
    return this.deps.cache.getFresh(credential.digest) ?? this.verifyLonger(credential, principal);
  }

  private async verifyLonger(credential: Credential, principal: Principal): Promise<Principal> {
    const { cache, apiKeys, clock } = this.deps;
    const verifier = this.verifierOf(credential.token);
    const start = cache.begin();
    try {
      const verified = await this.verifyOrForget(credential, verifier);
      cache.set(credential.digest, verified, start);
      return verified;
    } catch (error) {
      if (!isExpired(error) || verifier === apiKeys) throw error;
      const keyId = keyIdOf(principal);
      if (keyId !== undefined) await apiKeys.findValid(keyId);
      else if (clock.now() >= (principal.expiresAt ?? 0) + FOREIGN_REQUEST_MS) throw error;
      return principal;
    }
  }

  /**
   * Authenticates an OAuth client: its id is the id of an API key, and its secret is that key. Reads the key from the
   * store each time.
   * @throws AppError as the promise of {@link authenticate}
   */
  async authenticateClient(id: string, secret: string, address: string): Promise<AuthenticatedClient> {
    const credential = credentialOf(secret);
    return this.verify(credential, address, async () => {
      const verified = await this.verifyOrForget(credential, this.deps.apiKeys);
      const keyId = keyIdOf(verified);
      if (keyId === undefined || String(keyId) !== id) throw invalidToken('The secret is not that of this client.');
      return { ...verified, keyId };
    });
  }

  /** Lets a token that this process has just issued pass the throttle. Its first use still verifies it. */
  remember(token: string, { id, scopes }: Principal): void {
    const { cache } = this.deps;
    cache.set(credentialOf(token).digest, { id, scopes, freshMs: 0 }, cache.begin());
  }

  private async verify<Verified extends VerifiedCredential>(
    { digest }: Credential,
    address: string,
    verification: () => Promise<Verified>,
  ): Promise<Verified> {
    const { cache, failures } = this.deps;
    if (!cache.wasValidRecently(digest)) this.throwIfThrottled(await failures.peek(address));
    const start = cache.begin();
    try {
      const verified = await verification();
      cache.set(digest, verified, start);
      return verified;
    } catch (error) {
      // Counts the failure, then checks again: of many concurrent failures, only as many as the quota get the reason.
      if (isBadCredential(error)) this.throwIfThrottled(await failures.consume(address));
      throw error;
    }
  }

  /** Forgets a credential that is invalid now. One that is sent with the id of another client stays valid. */
  private async verifyOrForget(credential: Credential, verifier: TokenVerifier): Promise<VerifiedCredential> {
    try {
      return await verifier.verify(credential);
    } catch (error) {
      if (isBadCredential(error)) this.deps.cache.delete(credential.digest);
      throw error;
    }
  }

  /** Each kind has its own verifier, so that the keys of one issuer never verify the tokens of another. */
  private verifierOf(token: string): TokenVerifier {
    const { apiKeys, accessTokens, external, issuerOf } = this.deps;
    if (API_KEY_SHAPE.test(token)) return apiKeys;
    const issuer = issuerOf(token);
    if (issuer === undefined) throw invalidToken();
    return issuer === external?.issuer ? external.tokens : accessTokens;
  }

  private throwIfThrottled(state: RateState): void {
    if (!state.allowed) throw new AuthenticationThrottled(this.deps.failures.policy, state);
  }
}

function credentialOf(token: string): Credential {
  return { token, digest: credentialDigest(token) };
}

function isExpired(error: unknown): boolean {
  return error instanceof AppError && error.code === 'token_expired';
}

/** Whether a credential was sent and refused. A request without a credential is no failed authentication. */
export function isBadCredential(error: unknown): error is AppError {
  return error instanceof AppError && (error.code === 'invalid_token' || error.code === 'token_expired');
}
