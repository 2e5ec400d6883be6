import type { Principal } from '../domain/access.js';
import { CatalogueError } from '../domain/errors.js';
import type { Clock } from './ports/clock.js';
import type { RateLimiter, RateState } from './ports/rate-limiter.js';
import type { TokenVerifier } from './ports/token-verifier.js';

const REMEMBERED_MS = 10 * 60_000;
const MAX_REMEMBERED = 10_000;

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
  /** When a credential was last good, by its digest; oldest first. */
  private readonly remembered = new Map<string, number>();

  constructor(private readonly deps: AuthenticatorDependencies) {}

  /** @throws CatalogueError `invalid_token`, `token_expired`, `rate_limited` (as {@link AuthenticationThrottled}) */
  authenticate(token: string, address: string): Promise<Principal> {
    return this.attempt(token, address, () => this.deps.verifier.verify(token));
  }

  /**
   * As {@link authenticate}, for what knows a credential in another way.
   * @param verify throws what a {@link TokenVerifier} does
   */
  async attempt<Known>(credential: string, address: string, verify: () => Promise<Known>): Promise<Known> {
    const digest = this.deps.digest(credential);
    if (!this.isRemembered(digest)) refuseUnlessAllowed(await this.deps.failures.peek(address));
    try {
      const known = await verify();
      this.remember(digest);
      return known;
    } catch (error) {
      // Counted after the fact, and judged again: of many that failed at once only the quota is told why.
      if (isRefusal(error)) refuseUnlessAllowed(await this.deps.failures.consume(address));
      throw error;
    }
  }

  private isRemembered(digest: string): boolean {
    const last = this.remembered.get(digest);
    return last !== undefined && this.deps.clock.elapsed() - last < REMEMBERED_MS;
  }

  private remember(digest: string): void {
    this.remembered.delete(digest);
    this.remembered.set(digest, this.deps.clock.elapsed());
    if (this.remembered.size <= MAX_REMEMBERED) return;
    const [oldest] = this.remembered.keys();
    if (oldest !== undefined) this.remembered.delete(oldest);
  }
}

function refuseUnlessAllowed(state: RateState): void {
  if (!state.allowed) throw new AuthenticationThrottled(state);
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof CatalogueError && (error.code === 'invalid_token' || error.code === 'token_expired')
  );
}
