import { Authenticator, type AuthenticatorDependencies } from '#src/application/auth/authenticator.js';

const REJECT_ALL = { verify: () => Promise.reject(new Error('unknown credential')) };

/**
 * Returns an authenticator that treats each token as an access token of this service, and uses the token itself as its
 * digest.
 */
export function testAuthenticator(
  deps: Pick<AuthenticatorDependencies, 'cache' | 'failures'> & Partial<AuthenticatorDependencies>,
): Authenticator {
  return new Authenticator({
    format: { digest: (token) => token },
    apiKeys: { ...REJECT_ALL, isValid: async () => false },
    accessTokens: REJECT_ALL,
    external: undefined,
    issuerOf: () => 'this service',
    ...deps,
  });
}
