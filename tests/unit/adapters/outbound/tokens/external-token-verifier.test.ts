import { expect } from 'chai';
import { ExternalTokenVerifier } from '#src/adapters/outbound/tokens/external-tokens.js';
import { IssuerKeys } from '#src/adapters/outbound/tokens/issuer-keys.js';
import { unavailable } from '#src/domain/errors.js';
import { expectAppError } from '../../../../support/expect-refusal.js';
import { FakeClock, RecordingLogger } from '../../../../support/fakes.js';
import { makePair, publicJwk, type SigningPair, signed } from '../../../../support/jws.js';

const EXPECTED = { issuer: 'https://a.example', audience: 'catalogue' };

describe('ExternalTokenVerifier', () => {
  const clock = new FakeClock();
  const seconds = clock.time / 1_000;
  const claims = {
    ...{ iss: EXPECTED.issuer, aud: 'catalogue', sub: 's', client_id: 'c', scope: 'users:read' },
    ...{ iat: seconds, exp: seconds + 60 },
  };
  const verifierOf = (pairs: SigningPair[]) => {
    const fetchKeySet = async () => ({ keys: pairs.map(publicJwk) });
    const keys = new IssuerKeys({ issuer: 'x', fetchKeySet, clock, logger: new RecordingLogger() });
    return new ExternalTokenVerifier({ expected: EXPECTED, keys, clock });
  };

  // RSA keys are dear to make: PS256 takes those of RS256.
  const made = new Map<string, SigningPair[]>();
  const pairsOf = (alg: SigningPair['alg']): SigningPair[] => {
    const kind = alg === 'PS256' ? 'RS256' : alg;
    const pairs = made.get(kind) ?? [makePair('one', kind), makePair('two', kind)];
    made.set(kind, pairs);
    return pairs.map((pair) => ({ ...pair, alg }));
  };
  for (const alg of ['RS256', 'PS256', 'ES256', 'EdDSA'] as const)
    it(`accepts ${alg}, and each key only for its own tokens`, async () => {
      const pairs = pairsOf(alg);
      const verifier = verifierOf(pairs);
      for (const pair of pairs) {
        const { scopes, expiresAt } = await verifier.verify({ token: signed(claims, pair) });
        expect([scopes, expiresAt]).to.deep.equal([['users:read'], clock.time + 120_000]);
        const other = pairs.find(({ kid }) => kid !== pair.kid)?.kid;
        await expectAppError(verifier.verify({ token: signed(claims, pair, { kid: other }) }), 'invalid_token');
      }
    });

  it('looks up no key for a token that no key can make valid', async () => {
    let lookUps = 0;
    const find = async () => {
      lookUps++;
      return undefined;
    };
    const verifier = new ExternalTokenVerifier({ expected: EXPECTED, keys: { find }, clock });
    const pair = makePair('one');
    for (const header of [{ alg: 'none' }, { alg: 'HS256' }, { kid: undefined }, { kid: 7 }, { crit: ['x'] }])
      await expectAppError(verifier.verify({ token: signed(claims, pair, header) }), 'invalid_token');
    expect(lookUps).to.equal(0);
    await expectAppError(verifier.verify({ token: signed(claims, pair) }), 'invalid_token');
    expect(lookUps).to.equal(1);
  });

  it('is unavailable while the key cannot be fetched', async () => {
    const find = () => Promise.reject(unavailable('down'));
    const verifier = new ExternalTokenVerifier({ expected: EXPECTED, keys: { find }, clock });
    await expectAppError(verifier.verify({ token: signed(claims, makePair('one')) }), 'unavailable');
  });
});
