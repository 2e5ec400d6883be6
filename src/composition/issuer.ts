import type { Endpoint } from '../adapters/inbound/http/endpoint.js';
import { metadataEndpoints } from '../adapters/inbound/http/oauth/metadata-endpoints.js';
import { TokenEndpoint } from '../adapters/inbound/http/oauth/token-endpoint.js';
import type { Authenticator } from '../application/authenticator.js';
import type { RateLimiter } from '../application/ports/rate-limiter.js';
import type { SigningKeys } from '../application/signing-keys.js';
import { TokenIssuer, type TokenIssuerDependencies } from '../application/token-issuer.js';
import type { Settings } from '../config/settings.js';

export interface OAuthDependencies extends TokenIssuerDependencies {
  readonly settings: Pick<Settings, 'BODY_LIMIT_BYTES' | 'OAUTH_ISSUER'>;
  readonly signingKeys: SigningKeys;
  readonly authenticator: Authenticator;
  readonly failures: RateLimiter;
}

/** Returns the routes of the built-in token issuer. */
export function oauthRoutes(deps: OAuthDependencies): Endpoint[] {
  const { settings, signingKeys, authenticator, failures, address } = deps;
  const issuer = new TokenIssuer(deps);
  const bodyLimitBytes = settings.BODY_LIMIT_BYTES;
  return [
    new TokenEndpoint({ issuer, authenticator, failures, bodyLimitBytes }).endpoint(),
    ...metadataEndpoints({ address, signingKeys, otherIssuer: settings.OAUTH_ISSUER }),
  ];
}
