import { expect } from 'chai';
import { ChecksummedApiKey } from '#src/adapters/outbound/tokens/checksummed-api-key.js';
import { issuerOf } from '#src/adapters/outbound/tokens/unverified-jwt.js';
import { BearerVerifier } from '#src/application/bearer-verifier.js';
import { expectRefusal } from '../support/expect-refusal.js';
import { makePair, signed } from '../support/jws.js';

describe('the verifier of bearers', () => {
  const format = new ChecksummedApiKey();
  const pair = makePair('one');
  let asked: string[];
  const named = (name: string) => ({
    verify: async () => {
      asked.push(name);
      return { id: name, scopes: [] };
    },
  });
  const verifier = (external = true) =>
    new BearerVerifier({
      format,
      apiKeys: named('keys'),
      own: named('own'),
      external: external ? { issuer: 'https://a.example', tokens: named('external') } : undefined,
      issuerOf,
    });

  beforeEach(() => {
    asked = [];
  });

  it('gives each token to the verifier of its kind and to no other', async () => {
    await verifier().verify(format.generate());
    await verifier().verify(signed({ iss: 'https://a.example' }, pair));
    await verifier().verify(signed({ iss: 'https://a.example/' }, pair));
    await verifier().verify(signed({ iss: 'https://localhost:8443' }, pair));
    expect(asked).to.deep.equal(['keys', 'external', 'own', 'own']);
  });

  it('asks no other issuer where there is none', async () => {
    await verifier(false).verify(signed({ iss: 'https://a.example' }, pair));
    expect(asked).to.deep.equal(['own']);
  });

  it('gives what is neither to nobody', async () => {
    const key = format.generate();
    const wrong = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    for (const token of [
      wrong,
      'pcs_',
      'x',
      'a.b.c',
      signed({ iss: 7 }, pair),
      signed({}, pair),
      signed([], pair),
    ])
      await expectRefusal(verifier().verify(token), 'invalid_token');
    expect(asked).to.deep.equal([]);
  });
});
