import type { Route } from '../adapters/inbound/http/core/route.js';
import { metadataRoutes } from '../adapters/inbound/http/oauth/metadata-routes.js';
import { tokenRoute } from '../adapters/inbound/http/oauth/token-route.js';
import { issuerOf } from '../adapters/outbound/tokens/decode-jwt.js';
import { ExternalTokenVerifier } from '../adapters/outbound/tokens/external-token-verifier.js';
import { fetchKeySet } from '../adapters/outbound/tokens/issuer-metadata.js';
import { JwksCache } from '../adapters/outbound/tokens/jwks-cache.js';
import {
  Authenticator,
  type AuthenticatorDependencies,
  type ExternalIssuer,
} from '../application/auth/authenticator.js';
import type { SigningKeys } from '../application/auth/signing-keys.js';
import { TokenIssuer } from '../application/auth/token-issuer.js';
import type { Clock } from '../application/ports/clock.js';
import type { Logger } from '../application/ports/logger.js';
import type { PublicUrl } from '../application/ports/public-url.js';
import type { Settings } from '../config/settings.js';

export interface AuthDependencies extends Omit<AuthenticatorDependencies, 'external' | 'issuerOf'> {
  readonly settings: Settings;
  readonly logger: Logger;
}

export function composeAuthenticator({ settings, logger, ...deps }: AuthDependencies): Authenticator {
  return new Authenticator({ ...deps, external: externalIssuer(settings, deps.clock, logger), issuerOf });
}

function externalIssuer(settings: Settings, clock: Clock, logger: Logger): ExternalIssuer | undefined {
  const { OAUTH_ISSUER: issuer, OAUTH_AUDIENCE: audience } = settings;
  if (issuer === '') return undefined;
  const keys = new JwksCache({ issuer, fetchKeySet, clock, logger });
  return { issuer, tokens: new ExternalTokenVerifier({ expected: { issuer, audience }, keys, clock }) };
}

export interface OAuthDependencies {
  readonly settings: Settings;
  readonly authenticator: Authenticator;
  readonly signingKeys: SigningKeys;
  readonly publicUrl: PublicUrl;
  readonly clock: Clock;
}

/** Returns the routes of the built-in token issuer. */
export function oauthRoutes({ settings, authenticator, ...deps }: OAuthDependencies): Route[] {
  const { signingKeys, publicUrl } = deps;
  const issuer = new TokenIssuer(deps);
  const bodyLimitBytes = settings.BODY_LIMIT_BYTES;
  return [
    tokenRoute({ issuer, authenticator, bodyLimitBytes }),
    ...metadataRoutes({ publicUrl, signingKeys, otherIssuer: settings.OAUTH_ISSUER }),
  ];
}
