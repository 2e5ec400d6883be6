import { Authenticator, type AuthenticatorDependencies } from '#src/application/auth/authenticator.js';

const NOBODY = { verify: () => Promise.reject(new Error('nobody is known')) };

/** An authenticator whose digest is the token itself, and that takes each token for an access token of this service. */
export function testAuthenticator(
  deps: Pick<AuthenticatorDependencies, 'cache' | 'failures'> & Partial<AuthenticatorDependencies>,
): Authenticator {
  return new Authenticator({
    format: { digest: (token) => token },
    apiKeys: NOBODY,
    accessTokens: NOBODY,
    external: undefined,
    issuerOf: () => 'this service',
    ...deps,
  });
}
