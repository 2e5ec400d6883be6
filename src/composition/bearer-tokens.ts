import { ExternalTokens } from '../adapters/outbound/tokens/external-tokens.js';
import { fetchKeySet } from '../adapters/outbound/tokens/issuer-documents.js';
import { IssuerKeys } from '../adapters/outbound/tokens/issuer-keys.js';
import { issuerOf } from '../adapters/outbound/tokens/unverified-jwt.js';
import { BearerVerifier, type ExternalIssuer } from '../application/bearer-verifier.js';
import type { ApiKeyFormat } from '../application/ports/api-key-format.js';
import type { Clock } from '../application/ports/clock.js';
import type { Journal } from '../application/ports/journal.js';
import type { TokenVerifier } from '../application/ports/token-verifier.js';
import type { Settings } from '../config/settings.js';

export interface BearerDependencies {
  readonly settings: Pick<Settings, 'OAUTH_ISSUER' | 'OAUTH_AUDIENCE'>;
  readonly format: ApiKeyFormat;
  readonly apiKeys: TokenVerifier;
  readonly own: TokenVerifier;
  readonly clock: Clock;
  readonly logger: Journal;
}

/** Returns what verifies anything that may stand after `Bearer`. */
export function bearerVerifier(deps: BearerDependencies): TokenVerifier {
  const { format, apiKeys, own } = deps;
  return new BearerVerifier({ format, apiKeys, own, external: externalIssuer(deps), issuerOf });
}

function externalIssuer({ settings, clock, logger }: BearerDependencies): ExternalIssuer | undefined {
  const { OAUTH_ISSUER: issuer, OAUTH_AUDIENCE: audience } = settings;
  if (issuer === '') return undefined;
  const keys = new IssuerKeys({ issuer, fetchKeySet, clock, journal: logger });
  return { issuer, tokens: new ExternalTokens({ expected: { issuer, audience }, keys, clock }) };
}
