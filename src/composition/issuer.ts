import { metadataEndpoints } from '../adapters/inbound/http/oauth/metadata-routes.js';
import { TokenEndpoint } from '../adapters/inbound/http/oauth/token-route.js';
import { JwtSigning } from '../adapters/outbound/tokens/jwt-signing.js';
import { OwnTokenVerifier } from '../application/own-token-verifier.js';
import { SigningKeyAdministration } from '../application/signing-key-administration.js';
import { SigningKeys } from '../application/signing-keys.js';
import { TokenIssuer } from '../application/token-issuer.js';
import { ServiceAddress } from './public-address.js';
import * as t from './tokens.js';
import type { Bind, Get } from './typed-token.js';

/** The built-in issuer of tokens. */
export function bindIssuer(bind: Bind): void {
  bind(t.PUBLIC_ADDRESS, (get) => new ServiceAddress(get(t.SETTINGS)));
  bind(t.TOKEN_SIGNING, () => new JwtSigning());
  bind(t.SIGNING_KEY_ADMINISTRATION, (get) => {
    return new SigningKeyAdministration({ keys: get(t.STORED).signingKeys, ...signingAndClock(get) });
  });
  bind(t.SIGNING_KEYS, (get) => {
    return new SigningKeys({ administration: get(t.SIGNING_KEY_ADMINISTRATION), ...signingAndClock(get) });
  });
  bind(t.OWN_TOKENS, (get) => {
    const [keys, address] = [get(t.SIGNING_KEYS), get(t.PUBLIC_ADDRESS)];
    return new OwnTokenVerifier({ keys, address, ...signingAndClock(get) });
  });
  bind(t.TOKEN_ISSUER, (get) => {
    return new TokenIssuer({
      verifier: get(t.API_KEY_VERIFIER),
      apiKeys: get(t.STORED).apiKeys,
      signingKeys: get(t.SIGNING_KEYS),
      address: get(t.PUBLIC_ADDRESS),
      clock: get(t.CLOCK),
    });
  });
  bind(t.OAUTH_ENDPOINTS, (get) => [tokenEndpoint(get), ...metadata(get)]);
}

function signingAndClock(get: Get) {
  return { signing: get(t.TOKEN_SIGNING), clock: get(t.CLOCK) };
}

function tokenEndpoint(get: Get) {
  return new TokenEndpoint({
    issuer: get(t.TOKEN_ISSUER),
    authenticator: get(t.AUTHENTICATOR),
    failures: get(t.FAILURE_LIMITER),
    bodyLimitBytes: get(t.SETTINGS).BODY_LIMIT_BYTES,
  }).endpoint();
}

function metadata(get: Get) {
  return metadataEndpoints({
    address: get(t.PUBLIC_ADDRESS),
    signingKeys: get(t.SIGNING_KEYS),
    otherIssuer: get(t.SETTINGS).OAUTH_ISSUER,
  });
}
