import type { Principal, Scope } from '../../domain/access.js';
import { AppError } from '../../domain/errors.js';

/** The access that a route requires: certain scopes, any valid credential, or nothing. */
export type Requirement = readonly Scope[] | 'authenticated' | 'none';

/** The credential is valid and lacks a scope. */
export class InsufficientScope extends AppError {
  /** @param missing at least one */
  constructor(
    readonly missing: readonly Scope[],
    message = `This needs the scope ${missing.join(' and ')}.`,
  ) {
    super('insufficient_scope', message);
  }
}

/**
 * Decides whether a request may go on. Called before the rest of the request is validated.
 * @returns the error of a denied request, `unauthenticated` or {@link InsufficientScope}; undefined if it is allowed
 */
export function denialReason(
  principal: Principal | undefined,
  requirement: Requirement,
): AppError | undefined {
  if (requirement === 'none') return undefined;
  if (!principal) {
    const message = 'This needs a token: send Authorization: Bearer and an API key or an access token.';
    return new AppError('unauthenticated', message);
  }
  return requirement === 'authenticated' ? undefined : lacking(principal, requirement);
}

/**
 * Decides whether `maker` may create a credential with these scopes: only with scopes that it has itself.
 * @returns the error if not; undefined if it may
 */
export function grantDenialReason(
  maker: Principal | undefined,
  scopes: readonly Scope[],
): InsufficientScope | undefined {
  return lacking(maker, scopes);
}

function lacking(principal: Principal | undefined, scopes: readonly Scope[]): InsufficientScope | undefined {
  const missing = scopes.filter((scope) => !principal?.scopes.includes(scope));
  return missing.length > 0 ? new InsufficientScope(missing) : undefined;
}
