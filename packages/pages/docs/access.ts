import type { OpenApi, SecurityRequirement, SecurityScheme } from './openapi.js';
import type { References } from './references.js';

/** The credentials that an operation accepts. */
export interface Access {
  /** Whether the operation reads a bearer token. */
  readonly takesKey: boolean;
  readonly needsKey: boolean;
  readonly scopes: readonly string[];
  /** The other kinds of credentials that it accepts, in the document's words. */
  readonly others: readonly string[];
}

/**
 * Reads the access of an operation from its security requirements.
 * @param requirements alternatives: any of them is enough
 */
export function accessOf(
  requirements: readonly SecurityRequirement[],
  { components }: OpenApi,
  references: References,
): Access {
  const schemeOf = (name: string) => {
    const scheme = components?.securitySchemes?.[name];
    return scheme ? references.resolve<SecurityScheme>(scheme) : { type: '' };
  };
  const named = requirements.flatMap((requirement) => Object.entries(requirement));
  const bearers = named.filter(([name]) => isBearer(schemeOf(name)));
  const others = named.filter(([name]) => !isBearer(schemeOf(name)));
  const isOpen = requirements.some((requirement) => Object.keys(requirement).length === 0);
  return {
    takesKey: bearers.length > 0,
    needsKey: bearers.length > 0 && !isOpen,
    scopes: [...new Set(bearers.flatMap(([, scopes]) => scopes))],
    others: [...new Set(others.map(([name]) => schemeOf(name).description ?? name))],
  };
}

function isBearer({ type, scheme }: SecurityScheme): boolean {
  return type === 'oauth2' || type === 'openIdConnect' || (type === 'http' && scheme?.toLowerCase() === 'bearer');
}
