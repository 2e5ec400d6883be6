import { ExternalTokens } from '../adapters/outbound/tokens/external-tokens.js';
import { fetchKeySet } from '../adapters/outbound/tokens/issuer-documents.js';
import { IssuerKeys } from '../adapters/outbound/tokens/issuer-keys.js';
import { issuerOf } from '../adapters/outbound/tokens/unverified-jwt.js';
import { BearerVerifier, type ExternalIssuer } from '../application/bearer-verifier.js';
import type { TokenVerifier } from '../application/ports/token-verifier.js';
import * as t from './tokens.js';
import type { Get } from './typed-token.js';

/** Verifies whatever may stand after `Bearer`. */
export function bearerVerifier(get: Get): TokenVerifier {
  return new BearerVerifier({
    format: get(t.KEY_FORMAT),
    apiKeys: get(t.API_KEY_VERIFIER),
    own: get(t.OWN_TOKENS),
    external: externalIssuer(get),
    issuerOf,
  });
}

function externalIssuer(get: Get): ExternalIssuer | undefined {
  const { OAUTH_ISSUER: issuer, OAUTH_AUDIENCE: audience } = get(t.SETTINGS);
  if (issuer === '') return undefined;
  const [clock, journal] = [get(t.CLOCK), get(t.JOURNAL)];
  const keys = new IssuerKeys({ issuer, fetchKeySet, clock, journal });
  return { issuer, tokens: new ExternalTokens({ expected: { issuer, audience }, keys, clock }) };
}
