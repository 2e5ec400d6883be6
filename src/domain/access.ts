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
