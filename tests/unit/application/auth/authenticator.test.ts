import { expect } from 'chai';
import { MemoryRateLimiter } from '#src/adapters/outbound/memory/rate-limiter.js';
import { ChecksummedApiKey } from '#src/adapters/outbound/tokens/api-key-format.js';
import { issuerOf } from '#src/adapters/outbound/tokens/decode-jwt.js';
import type { Authenticator } from '#src/application/auth/authenticator.js';
import { CredentialCache } from '#src/application/auth/credential-cache.js';
import { AppError, type ErrorCode } from '#src/domain/errors.js';
import { testAuthenticator } from '../../../support/authenticator.js';
import { expectRefusal } from '../../../support/expect-refusal.js';
import { FakeClock } from '../../../support/fakes.js';
import { makePair, signed } from '../../../support/jws.js';

describe('the authenticator', () => {
  const clock = new FakeClock();
  let responses: Record<string, ErrorCode>;
  let verified: number;
  let freshMs: number;
  let cache: CredentialCache;
  let authenticator: Authenticator;

  beforeEach(() => {
    responses = {};
    verified = 0;
    freshMs = 0;
    cache = new CredentialCache(clock);
    authenticator = testAuthenticator({
      cache,
      failures: new MemoryRateLimiter({ name: 'auth', quota: 3, windowSeconds: 60 }),
      accessTokens: {
        verify: async ({ token }) => {
          verified++;
          const code = responses[token];
          if (code) throw new AppError(code, 'no');
          return { id: token, scopes: [], freshMs };
        },
      },
    });
  });

  const fail = (times: number) =>
    Promise.all(
      Array.from({ length: times }, () => authenticator.authenticate('bad', 'here').catch(() => {})),
    );

  it('verifies nothing more for an address that keeps failing', async () => {
    responses = { bad: 'invalid_token' };
    for (let i = 0; i < 3; i++)
      await expectRefusal(authenticator.authenticate('bad', 'here'), 'invalid_token');
    await expectRefusal(authenticator.authenticate('bad', 'here'), 'rate_limited');
    await expectRefusal(authenticator.authenticate('unknown', 'here'), 'rate_limited');
    expect(verified).to.equal(3);
    await authenticator.authenticate('unknown', 'elsewhere');
  });

  it('still verifies what was good within 10 minutes', async () => {
    responses = { bad: 'token_expired' };
    await authenticator.authenticate('good', 'here');
    await fail(10);
    clock.running += 10 * 60_000 - 1;
    await authenticator.authenticate('good', 'here');
    clock.running += 10 * 60_000;
    await expectRefusal(authenticator.authenticate('good', 'here'), 'rate_limited');
  });

  it('verifies again what is no longer fresh, so that a revoked key is refused', async () => {
    await authenticator.authenticate('key', 'here');
    responses = { key: 'invalid_token' };
    await expectRefusal(authenticator.authenticate('key', 'here'), 'invalid_token');
  });

  it('reuses a result as long as its verifier says, and verifies the token again then', async () => {
    freshMs = 5_000;
    for (let i = 0; i < 5; i++) await authenticator.authenticate('token', 'here');
    expect(verified).to.equal(1);
    responses = { token: 'invalid_token' };
    clock.running += 5_000;
    await expectRefusal(authenticator.authenticate('token', 'here'), 'invalid_token');
  });

  it('caches no token that was refused', async () => {
    freshMs = 5_000;
    responses = { token: 'invalid_token' };
    for (let i = 0; i < 2; i++)
      await expectRefusal(authenticator.authenticate('token', 'here'), 'invalid_token');
    responses = {};
    await authenticator.authenticate('token', 'here');
    expect(verified).to.equal(3);
  });

  it('holds a store that is down against nobody', async () => {
    responses = { bad: 'unavailable' };
    for (let i = 0; i < 10; i++)
      await expectRefusal(authenticator.authenticate('bad', 'here'), 'unavailable');
  });

  it('still knows what was good after a flood of tokens that are not, and is no larger for it', async () => {
    await authenticator.authenticate('good', 'here');
    const flood = Array.from({ length: 20_000 }, (_, i) => `bad ${i}`);
    responses = Object.fromEntries(flood.map((token) => [token, 'invalid_token']));
    await Promise.all(
      flood.map((token, i) => authenticator.authenticate(token, i % 2 ? 'here' : `${i}`).catch(() => {})),
    );
    expect(cache['entries'].size).to.equal(1);
    await expectRefusal(authenticator.authenticate('unknown', 'here'), 'rate_limited');
    expect((await authenticator.authenticate('good', 'here')).id).to.equal('good');
  });

  it('remembers a bounded number of credentials', async () => {
    for (let i = 0; i < 10_001; i++) await authenticator.authenticate(`key ${i}`, 'here');
    responses = { bad: 'invalid_token' };
    await fail(10);
    await expectRefusal(authenticator.authenticate('key 0', 'here'), 'rate_limited');
    await authenticator.authenticate('key 1', 'here');
  });

  it('lets a token pass the throttle that this process has just issued, and verifies it', async () => {
    responses = { bad: 'invalid_token' };
    await fail(10);
    await expectRefusal(authenticator.authenticate('issued', 'here'), 'rate_limited');
    authenticator.remember('issued', { id: 'issued', scopes: [] });
    verified = 0;
    await authenticator.authenticate('issued', 'here');
    expect(verified).to.equal(1);
  });
});

describe('the authenticator of OAuth clients', () => {
  const clock = new FakeClock();
  let lookUps: number;
  let authenticator: Authenticator;

  beforeEach(() => {
    lookUps = 0;
    authenticator = testAuthenticator({
      cache: new CredentialCache(clock),
      failures: new MemoryRateLimiter({ name: 'auth', quota: 3, windowSeconds: 60 }),
      apiKeys: {
        verify: async ({ token }) => {
          lookUps++;
          if (token !== 'secret') throw new AppError('invalid_token', 'no');
          return { id: 'key:7', scopes: ['users:read'], freshMs: 2_000 };
        },
      },
    });
  });

  it('reads the key each time', async () => {
    for (let i = 0; i < 3; i++)
      expect(await authenticator.authenticateClient('7', 'secret', 'here')).to.deep.include({
        keyId: 7,
        scopes: ['users:read'],
      });
    expect(lookUps).to.equal(3);
  });

  it('counts a wrong secret and the secret of another client as failures', async () => {
    for (const [id, secret] of [
      ['7', 'wrong'],
      ['8', 'secret'],
      ['07', 'secret'],
    ] as const)
      await expectRefusal(authenticator.authenticateClient(id, secret, 'here'), 'invalid_token');
    await expectRefusal(authenticator.authenticateClient('7', 'secret', 'here'), 'rate_limited');
    await authenticator.authenticateClient('7', 'secret', 'elsewhere');
  });
});

describe('the authenticator, by the kind of the token,', () => {
  const format = new ChecksummedApiKey();
  const pair = makePair('one');
  let requested: string[];
  const named = (name: string) => ({
    verify: async () => {
      requested.push(name);
      return { id: name, scopes: [], freshMs: 0 };
    },
  });
  const authenticator = (external = true) =>
    testAuthenticator({
      cache: new CredentialCache(new FakeClock()),
      failures: new MemoryRateLimiter({ name: 'auth', quota: 100, windowSeconds: 60 }),
      format,
      apiKeys: named('keys'),
      accessTokens: named('own'),
      external: external ? { issuer: 'https://a.example', tokens: named('external') } : undefined,
      issuerOf,
    });

  beforeEach(() => {
    requested = [];
  });

  it('asks its verifier and no other', async () => {
    await authenticator().authenticate(format.generate(), 'here');
    for (const iss of ['https://a.example', 'https://a.example/', 'https://localhost:8443'])
      await authenticator().authenticate(signed({ iss }, pair), 'here');
    expect(requested).to.deep.equal(['keys', 'external', 'own', 'own']);
  });

  it('asks no other issuer where there is none', async () => {
    await authenticator(false).authenticate(signed({ iss: 'https://a.example' }, pair), 'here');
    expect(requested).to.deep.equal(['own']);
  });

  it('asks nobody about what is neither a key nor a JWT with an issuer', async () => {
    const tooLong = `${format.generate()}0`;
    for (const token of [
      tooLong,
      'pcs_',
      'x',
      'a.b.c',
      signed({ iss: 7 }, pair),
      signed({}, pair),
      signed([], pair),
    ])
      await expectRefusal(authenticator().authenticate(token, 'here'), 'invalid_token');
    expect(requested).to.deep.equal([]);
  });
});
