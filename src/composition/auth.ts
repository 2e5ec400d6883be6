import { metadataEndpoints } from '../adapters/inbound/http/oauth/metadata-routes.js';
import { TokenEndpoint } from '../adapters/inbound/http/oauth/token-route.js';
import { ChecksummedApiKey } from '../adapters/outbound/tokens/api-key-format.js';
import { issuerOf } from '../adapters/outbound/tokens/decode-jwt.js';
import { ExternalTokenVerifier } from '../adapters/outbound/tokens/external-token-verifier.js';
import { fetchKeySet } from '../adapters/outbound/tokens/issuer-metadata.js';
import { JwksCache } from '../adapters/outbound/tokens/jwks-cache.js';
import { Rs256TokenSigner } from '../adapters/outbound/tokens/rs256-key.js';
import { AccessTokenVerifier } from '../application/auth/access-token-verifier.js';
import { ApiKeyVerifier } from '../application/auth/api-key-verifier.js';
import { Authenticator, type ExternalIssuer } from '../application/auth/authenticator.js';
import { CredentialCache } from '../application/auth/credential-cache.js';
import { KeyAdministration } from '../application/auth/key-administration.js';
import { SigningKeyAdministration } from '../application/auth/signing-key-administration.js';
import { SigningKeys } from '../application/auth/signing-keys.js';
import { TokenIssuer } from '../application/auth/token-issuer.js';
import { ServiceUrl } from './public-url.js';
import * as t from './tokens.js';
import type { Bind, Get } from './typed-token.js';

/** Binds what verifies credentials, and the built-in issuer of access tokens. */
export function bindAuth(bind: Bind): void {
  bind(t.PUBLIC_URL, (get) => new ServiceUrl(get(t.SETTINGS)));
  bindApiKeys(bind);
  bindSigningKeys(bind);
  bind(t.CREDENTIAL_CACHE, (get) => new CredentialCache(get(t.CLOCK)));
  bind(t.AUTHENTICATOR, authenticator);
  bind(t.TOKEN_ISSUER, (get) => {
    const [signingKeys, publicUrl] = [get(t.SIGNING_KEYS), get(t.PUBLIC_URL)];
    return new TokenIssuer({ signingKeys, publicUrl, clock: get(t.CLOCK) });
  });
  bind(t.OAUTH_ENDPOINTS, (get) => [tokenEndpoint(get), ...metadata(get)]);
}

function bindApiKeys(bind: Bind): void {
  bind(t.KEY_FORMAT, () => new ChecksummedApiKey());
  bind(t.KEY_ADMINISTRATION, (get) => {
    return new KeyAdministration({
      useCases: get(t.RESOURCES).apiKeys.useCases,
      keys: get(t.STORED).apiKeys,
      format: get(t.KEY_FORMAT),
      clock: get(t.CLOCK),
    });
  });
}

function bindSigningKeys(bind: Bind): void {
  bind(t.TOKEN_SIGNER, () => new Rs256TokenSigner());
  bind(t.SIGNING_KEY_ADMINISTRATION, (get) => {
    return new SigningKeyAdministration({ keys: get(t.STORED).signingKeys, ...signerAndClock(get) });
  });
  bind(t.SIGNING_KEYS, (get) => {
    return new SigningKeys({ administration: get(t.SIGNING_KEY_ADMINISTRATION), ...signerAndClock(get) });
  });
}

function authenticator(get: Get): Authenticator {
  const [format, clock, journal] = [get(t.KEY_FORMAT), get(t.CLOCK), get(t.JOURNAL)];
  const [keys, publicUrl] = [get(t.SIGNING_KEYS), get(t.PUBLIC_URL)];
  return new Authenticator({
    cache: get(t.CREDENTIAL_CACHE),
    failures: get(t.FAILURE_LIMITER),
    format,
    apiKeys: new ApiKeyVerifier({ keys: get(t.STORED).apiKeys, format, clock, journal }),
    accessTokens: new AccessTokenVerifier({ keys, publicUrl, ...signerAndClock(get) }),
    external: externalIssuer(get),
    issuerOf,
  });
}

function externalIssuer(get: Get): ExternalIssuer | undefined {
  const { OAUTH_ISSUER: issuer, OAUTH_AUDIENCE: audience } = get(t.SETTINGS);
  if (issuer === '') return undefined;
  const [clock, journal] = [get(t.CLOCK), get(t.JOURNAL)];
  const keys = new JwksCache({ issuer, fetchKeySet, clock, journal });
  return { issuer, tokens: new ExternalTokenVerifier({ expected: { issuer, audience }, keys, clock }) };
}

function tokenEndpoint(get: Get) {
  return new TokenEndpoint({
    issuer: get(t.TOKEN_ISSUER),
    authenticator: get(t.AUTHENTICATOR),
    bodyLimitBytes: get(t.SETTINGS).BODY_LIMIT_BYTES,
  }).endpoint();
}

function metadata(get: Get) {
  return metadataEndpoints({
    publicUrl: get(t.PUBLIC_URL),
    signingKeys: get(t.SIGNING_KEYS),
    otherIssuer: get(t.SETTINGS).OAUTH_ISSUER,
  });
}

function signerAndClock(get: Get) {
  return { signer: get(t.TOKEN_SIGNER), clock: get(t.CLOCK) };
}
