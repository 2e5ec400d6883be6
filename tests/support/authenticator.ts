import { Authenticator, type AuthenticatorDependencies } from '#src/application/auth/authenticator.js';
import { invalidToken } from '#src/domain/access-token.js';
import { FakeClock } from './fakes.js';

const REJECT_ALL = { verify: () => Promise.reject(new Error('unknown credential')) };

/** Returns an authenticator that treats each token as an access token of this service. */
export function testAuthenticator(
  deps: Pick<AuthenticatorDependencies, 'cache' | 'failures'> & Partial<AuthenticatorDependencies>,
): Authenticator {
  return new Authenticator({
    clock: new FakeClock(),
    apiKeys: { ...REJECT_ALL, findValid: () => Promise.reject(invalidToken()) },
    accessTokens: REJECT_ALL,
    external: undefined,
    issuerOf: () => 'this service',
    ...deps,
  });
}
