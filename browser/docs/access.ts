import type { OpenApi, SecurityRequirement, SecurityScheme } from './openapi.js';
import type { References } from './references.js';

/** Who may ask for an operation, and with what. */
export interface Access {
  /** Whether a key is looked at where one is sent as a bearer's. */
  readonly takesKey: boolean;
  readonly needsKey: boolean;
  readonly scopes: readonly string[];
  /** Credentials of other kinds that do, in the document's words. */
  readonly others: readonly string[];
}

/** @param requirements of which any one is enough */
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
  return (
    type === 'oauth2' || type === 'openIdConnect' || (type === 'http' && scheme?.toLowerCase() === 'bearer')
  );
}
