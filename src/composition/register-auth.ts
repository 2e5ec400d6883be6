import { randomUUID } from 'node:crypto';
import { ChecksummedApiKey } from '../adapters/outbound/tokens/api-key-format.js';
import { Rs256TokenSigner } from '../adapters/outbound/tokens/rs256-key.js';
import { AccessTokenVerifier } from '../application/auth/access-token-verifier.js';
import { ApiKeyVerifier } from '../application/auth/api-key-verifier.js';
import { CredentialCache } from '../application/auth/credential-cache.js';
import { KeyAdministration } from '../application/auth/key-administration.js';
import { SigningKeyAdministration } from '../application/auth/signing-key-administration.js';
import { SigningKeys } from '../application/auth/signing-keys.js';
import { UsageCounter } from '../application/auth/usage-counter.js';
import type { Settings } from '../config/settings.js';
import { composeAuthenticator, oauthRoutes } from './auth.js';
import * as t from './injection-tokens.js';
import { ServiceUrl } from './public-url.js';
import { type DependencyContainer, register } from './register.js';

/** Registers API keys with their usage, signing keys, and what authenticates requests by them. */
export function registerAuth(container: DependencyContainer, settings: Settings): void {
  register(container, t.KEY_FORMAT, () => new ChecksummedApiKey());
  register(container, t.CREDENTIAL_CACHE, (c) => new CredentialCache(c.resolve(t.CLOCK)));
  register(container, t.KEY_ADMINISTRATION, (c) => {
    return new KeyAdministration({
      service: c.resolve(t.RESOURCES).apiKeys.service,
      keys: c.resolve(t.STORAGE).apiKeys,
      format: c.resolve(t.KEY_FORMAT),
      clock: c.resolve(t.CLOCK),
    });
  });
  register(container, t.USAGE_COUNTER, (c) => {
    const [store, clock] = [c.resolve(t.STORAGE).usage, c.resolve(t.CLOCK)];
    return new UsageCounter({ store, clock, newName: randomUUID });
  });
  register(container, t.PUBLIC_URL, () => new ServiceUrl(settings));
  register(container, t.TOKEN_SIGNER, () => new Rs256TokenSigner());
  register(container, t.SIGNING_KEY_ADMINISTRATION, (c) => {
    return new SigningKeyAdministration({
      keys: c.resolve(t.STORAGE).signingKeys,
      signer: c.resolve(t.TOKEN_SIGNER),
      clock: c.resolve(t.CLOCK),
    });
  });
  register(container, t.SIGNING_KEYS, (c) => {
    return new SigningKeys({
      administration: c.resolve(t.SIGNING_KEY_ADMINISTRATION),
      signer: c.resolve(t.TOKEN_SIGNER),
      clock: c.resolve(t.CLOCK),
    });
  });
  register(container, t.AUTHENTICATOR, (c) => {
    const [format, clock, logger] = [c.resolve(t.KEY_FORMAT), c.resolve(t.CLOCK), c.resolve(t.LOGGER)];
    const apiKeys = new ApiKeyVerifier({ keys: c.resolve(t.STORAGE).apiKeys, format, clock, logger });
    return composeAuthenticator({
      settings,
      clock,
      logger,
      format,
      cache: c.resolve(t.CREDENTIAL_CACHE),
      failures: c.resolve(t.RATE_LIMITS).failures,
      apiKeys,
      accessTokens: new AccessTokenVerifier({
        keys: c.resolve(t.SIGNING_KEYS),
        apiKeys,
        publicUrl: c.resolve(t.PUBLIC_URL),
        signer: c.resolve(t.TOKEN_SIGNER),
        clock,
      }),
    });
  });
  register(container, t.OAUTH_ROUTES, (c) => {
    return oauthRoutes({
      settings,
      authenticator: c.resolve(t.AUTHENTICATOR),
      signingKeys: c.resolve(t.SIGNING_KEYS),
      publicUrl: c.resolve(t.PUBLIC_URL),
      clock: c.resolve(t.CLOCK),
    });
  });
}
