import { AppError } from './errors.js';
import { type Instant, RESOURCES, type ResourceName } from './record.js';

export type Scope = `${ResourceName}:${'read' | 'write'}` | 'keys:admin' | 'webhooks:admin';

/** The permissions that a credential can have. */
export const SCOPES: readonly Scope[] = [
  ...RESOURCES.flatMap((name) => [`${name}:read`, `${name}:write`] as const),
  'keys:admin',
  'webhooks:admin',
];

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

/** On whose behalf a request acts. Limits are counted per principal. */
export interface Principal {
  /** Unique among the principals of all kinds of credentials. Never a secret. */
  readonly id: string;
  readonly scopes: readonly Scope[];
  /** The `sub` of another issuer's token; absent for an API key and the tokens that were issued for it. */
  readonly subject?: string;
  /** When the credential itself expires; absent: never. */
  readonly expiresAt?: Instant;
}

/** The scopes whose access tokens make what outlives them: the key behind one is looked up at every request. */
export const LASTING_SCOPES: readonly Scope[] = ['keys:admin', 'webhooks:admin'];

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
export function denialReason(principal: Principal | undefined, requirement: Requirement): AppError | undefined {
  if (requirement === 'none') return undefined;
  if (!principal) {
    const message = 'This needs a token: send Authorization: Bearer and an API key or an access token.';
    return new AppError('unauthenticated', message);
  }
  return requirement === 'authenticated' ? undefined : insufficientScope(principal, requirement);
}

/** Returns the refusal of a principal that lacks some of these scopes; undefined if it has them all. */
export function insufficientScope(
  principal: Principal | undefined,
  scopes: readonly Scope[],
): InsufficientScope | undefined {
  const missing = scopes.filter((scope) => !principal?.scopes.includes(scope));
  return missing.length > 0 ? new InsufficientScope(missing) : undefined;
}
