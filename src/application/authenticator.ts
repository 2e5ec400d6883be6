import type { Principal } from '../domain/access.js';
import { CatalogueError } from '../domain/errors.js';
import type { Clock } from './ports/clock.js';
import type { RateLimiter, RateState } from './ports/rate-limiter.js';
import type { Bearer, TokenVerifier } from './ports/token-verifier.js';
import { VerifiedCredentials } from './verified-credentials.js';

/** Too many failed authentications came from this address. */
export class AuthenticationThrottled extends CatalogueError {
  constructor(readonly state: RateState) {
    super('rate_limited', 'Too many failed authentications came from this address.');
  }
}

export interface AuthenticatorDependencies {
  readonly verifier: TokenVerifier;
  readonly failures: RateLimiter;
  readonly digest: (token: string) => string;
  readonly clock: Clock;
}

/**
 * Verifies credentials, and stops verifying for an address that keeps failing. A credential that was good a short
 * while ago is verified even then, so that a neighbour's mistakes lock nobody out.
 */
export class Authenticator {
  private readonly verified: VerifiedCredentials;

  constructor(private readonly deps: AuthenticatorDependencies) {
    this.verified = new VerifiedCredentials(deps.clock);
  }

  /**
   * @throws CatalogueError `invalid_token`, `token_expired`, `rate_limited` (as {@link AuthenticationThrottled}),
   * `unavailable`
   */
  async authenticate(token: string, address: string): Promise<Principal> {
    const believed = this.verified.believed(this.deps.digest(token));
    return believed ?? this.attempt(token, address, () => this.deps.verifier.verify(token), asItIs);
  }

  /** Of a credential that this process has just given out itself. */
  remember(credential: string, { id, scopes }: Principal): void {
    this.verified.keep(this.deps.digest(credential), { id, scopes });
  }

  /**
   * As {@link authenticate}, for what knows a credential in another way; it is verified each time.
   * @param verify throws what a {@link TokenVerifier} does
   * @param bearerOf whose credential it was
   */
  async attempt<Known>(
    credential: string,
    address: string,
    verify: () => Promise<Known>,
    bearerOf: (known: Known) => Bearer,
  ): Promise<Known> {
    const digest = this.deps.digest(credential);
    if (!this.verified.isRemembered(digest)) refuseUnlessAllowed(await this.deps.failures.peek(address));
    try {
      const known = await verify();
      this.verified.keep(digest, bearerOf(known));
      return known;
    } catch (error) {
      // Counted after the fact, and judged again: of many that failed at once only the quota is told why.
      if (isBadCredential(error)) refuseUnlessAllowed(await this.deps.failures.consume(address));
      throw error;
    }
  }
}

function asItIs(bearer: Bearer): Bearer {
  return bearer;
}

function refuseUnlessAllowed(state: RateState): void {
  if (!state.allowed) throw new AuthenticationThrottled(state);
}

/** What a credential is refused for that was sent; not sending one is no failure. */
export function isBadCredential(error: unknown): error is CatalogueError {
  return (
    error instanceof CatalogueError && (error.code === 'invalid_token' || error.code === 'token_expired')
  );
}
