import type { Principal, Scope } from '../domain/access.js';
import { CatalogueError } from '../domain/errors.js';

/** What a request asks of whoever sends it: one of the scopes, any credential that is good, or nothing. */
export type Need = Scope | 'credential' | 'nothing';

/** The caller's credential is good, and does not reach so far. */
export class InsufficientScope extends CatalogueError {
  /** @param missing one at least */
  constructor(readonly missing: readonly Scope[]) {
    super('insufficient_scope', `This needs the scope ${missing.join(' and ')}.`);
  }
}

/**
 * Decides whether a request goes on, before anything else of it is judged.
 * @returns why it does not: `unauthenticated` or {@link InsufficientScope}; undefined where it does
 */
export function refusal(principal: Principal | undefined, need: Need): CatalogueError | undefined {
  if (need === 'nothing') return undefined;
  if (!principal) {
    const message = 'This needs a token: send Authorization: Bearer and an API key or an access token.';
    return new CatalogueError('unauthenticated', message);
  }
  if (need === 'credential' || principal.scopes.includes(need)) return undefined;
  return new InsufficientScope([need]);
}

/**
 * Decides whether `maker` may give out a credential with these scopes: none that it lacks itself.
 * @returns why not; undefined where it may
 */
export function grantRefusal(
  maker: Principal | undefined,
  scopes: readonly Scope[],
): InsufficientScope | undefined {
  const missing = scopes.filter((scope) => !maker?.scopes.includes(scope));
  return missing.length > 0 ? new InsufficientScope(missing) : undefined;
}
