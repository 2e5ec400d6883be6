import { expect } from 'chai';
import { MemoryRateLimiter } from '#src/adapters/outbound/memory/rate-limiter.js';
import { newApiKey } from '#src/adapters/outbound/system/random.js';
import { issuerOf } from '#src/adapters/outbound/tokens/jwt.js';
import type { Authenticator } from '#src/application/auth/authenticator.js';
import { CredentialCache } from '#src/application/auth/credential-cache.js';
import { invalidToken } from '#src/domain/access-token.js';
import type { ApiKey } from '#src/domain/api-key.js';
import { AppError, type ErrorCode } from '#src/domain/errors.js';
import type { Versioned } from '#src/domain/record.js';
import { testAuthenticator } from '../../../support/authenticator.js';
import { expectAppError } from '../../../support/expect-refusal.js';
import { FakeClock } from '../../../support/fakes.js';
import { makePair, signed } from '../../../support/jws.js';

describe('Authenticator', () => {
  const clock = new FakeClock();
  let errors: Record<string, ErrorCode>;
  let verified: number;
  let freshMs: number;
  let cache: CredentialCache;
  let authenticator: Authenticator;

  beforeEach(() => {
    errors = {};
    verified = 0;
    freshMs = 0;
    cache = new CredentialCache(clock);
    authenticator = testAuthenticator({
      cache,
      failures: new MemoryRateLimiter({ name: 'auth', quota: 3, windowSeconds: 60 }, clock),
      accessTokens: {
        verify: async ({ token }) => {
          verified++;
          const code = errors[token];
          if (code) throw new AppError(code, 'no');
          return { id: token, scopes: [], freshMs };
        },
      },
    });
  });

  const authenticate = async (token: string, address: string) => authenticator.authenticate(token, address);
  const fail = (times: number) =>
    Promise.all(Array.from({ length: times }, () => authenticate('bad', 'here').catch(() => {})));

  it('throttles an IP address after 3 failures', async () => {
    errors = { bad: 'invalid_token' };
    for (let i = 0; i < 3; i++) await expectAppError(authenticate('bad', 'here'), 'invalid_token');
    await expectAppError(authenticate('bad', 'here'), 'rate_limited');
    await expectAppError(authenticate('unknown', 'here'), 'rate_limited');
    expect(verified).to.equal(3);
    await authenticate('unknown', 'elsewhere');
  });

  it('verifies a credential that was valid in the last 10 minutes despite the throttle', async () => {
    errors = { bad: 'token_expired' };
    await authenticate('good', 'here');
    await fail(10);
    clock.running += 10 * 60_000 - 1;
    await fail(10);
    await authenticate('good', 'here');
    clock.running += 10 * 60_000;
    await fail(10);
    await expectAppError(authenticate('good', 'here'), 'rate_limited');
  });

  for (const code of ['invalid_token', 'token_expired'] as const)
    it(`throttles a credential that was valid lately and is refused with ${code} now, as any other`, async () => {
      await authenticate('key', 'here');
      verified = 0;
      errors = { key: code };
      for (let i = 0; i < 3; i++) await expectAppError(authenticate('key', 'here'), code);
      for (let i = 0; i < 100; i++) await expectAppError(authenticate('key', 'here'), 'rate_limited');
      expect(verified).to.equal(3);
    });

  it('keeps a credential that could not be verified, so that it still passes the throttle', async () => {
    await authenticate('key', 'here');
    errors = { bad: 'invalid_token', key: 'unavailable' };
    await fail(10);
    for (let i = 0; i < 2; i++) await expectAppError(authenticate('key', 'here'), 'unavailable');
  });

  it('reuses a result for the time that its verifier sets, and then verifies the token again', async () => {
    freshMs = 5_000;
    for (let i = 0; i < 5; i++) await authenticate('token', 'here');
    expect(verified).to.equal(1);
    errors = { token: 'invalid_token' };
    clock.running += 5_000;
    await expectAppError(authenticate('token', 'here'), 'invalid_token');
  });

  it('returns the principal of a cached token without a promise', async () => {
    freshMs = 5_000;
    const accessTokens = { verify: async () => ({ id: 'one', scopes: [], freshMs }) };
    const failures = new MemoryRateLimiter({ name: 'auth', quota: 3, windowSeconds: 60 }, clock);
    authenticator = testAuthenticator({ cache, failures, accessTokens });
    expect(authenticator.authenticate('token', 'here')).to.be.instanceOf(Promise);
    await authenticate('token', 'here');
    expect(authenticator.authenticate('token', 'here')).to.deep.include({ id: 'one' });
  });

  it('does not count an unavailable store as a failure', async () => {
    errors = { bad: 'unavailable' };
    for (let i = 0; i < 10; i++) await expectAppError(authenticate('bad', 'here'), 'unavailable');
  });

  it('keeps a valid credential, and caches nothing else, after a flood of invalid tokens', async () => {
    await authenticate('good', 'here');
    const flood = Array.from({ length: 20_000 }, (_, i) => `bad ${i}`);
    errors = Object.fromEntries(flood.map((token) => [token, 'invalid_token']));
    await Promise.all(flood.map((token, i) => authenticate(token, i % 2 ? 'here' : `${i}`).catch(() => {})));
    expect(cache['entries'].size).to.equal(1);
    await expectAppError(authenticate('unknown', 'here'), 'rate_limited');
    expect((await authenticate('good', 'here')).id).to.equal('good');
  });

  it('verifies a token that this process has just issued despite the throttle', async () => {
    errors = { bad: 'invalid_token' };
    await fail(10);
    await expectAppError(authenticate('issued', 'here'), 'rate_limited');
    authenticator.remember('issued', { id: 'issued', scopes: [] });
    verified = 0;
    await authenticate('issued', 'here');
    expect(verified).to.equal(1);
  });
});

describe('Authenticator.verifyAgain', () => {
  const clock = new FakeClock();
  const apiKey = newApiKey();
  let keyErrors: ErrorCode[];
  let tokenErrors: ErrorCode[];
  let validKeys: number[];
  let authenticator: Authenticator;

  const verifier = (id: string, errors: () => ErrorCode[]) => ({
    verify: async () => {
      const [code] = errors();
      if (code) throw new AppError(code, 'no');
      return { id, scopes: [], freshMs: 0 };
    },
  });

  const valid = (id: number): Versioned<ApiKey> => {
    if (!validKeys.includes(id)) throw invalidToken();
    const fields = { name: 'x', scopes: [], digest: '' };
    return { id, version: 1, createdAt: 0, updatedAt: 0, fields };
  };

  beforeEach(() => {
    [keyErrors, tokenErrors, validKeys] = [[], [], [7]];
    authenticator = testAuthenticator({
      cache: new CredentialCache(clock),
      clock,
      failures: new MemoryRateLimiter({ name: 'auth', quota: 1, windowSeconds: 60 }, clock),
      apiKeys: { ...verifier('key:7', () => keyErrors), findValid: async (id) => valid(id) },
      accessTokens: verifier('key:7', () => tokenErrors),
    });
  });

  const verifyAgain = async (token: string, id = 'key:7') =>
    (await authenticator.verifyAgain(token, { id, scopes: [] })).id;

  it('returns the principal of a valid token', async () => {
    expect(await verifyAgain('token')).to.equal('key:7');
    expect(await verifyAgain(apiKey)).to.equal('key:7');
  });

  it('accepts an access token that has expired, as long as its API key is valid', async () => {
    tokenErrors = ['token_expired'];
    for (let i = 0; i < 5; i++) expect(await verifyAgain('token')).to.equal('key:7');
    validKeys = [];
    await expectAppError(verifyAgain('token'), 'invalid_token');
  });

  it('accepts an expired token of another issuer, whose client has no key, for a day', async () => {
    tokenErrors = ['token_expired'];
    const principal = { id: 'https://a.example client', scopes: [], expiresAt: clock.now() };
    clock.time += 24 * 3_600_000 - 1;
    expect(await authenticator.verifyAgain('token', principal)).to.equal(principal);
    clock.time++;
    await expectAppError(Promise.resolve(authenticator.verifyAgain('token', principal)), 'token_expired');
  });

  it('rejects an API key that has expired or was revoked, and a token whose signing key was withdrawn', async () => {
    keyErrors = ['token_expired'];
    await expectAppError(verifyAgain(apiKey), 'token_expired');
    keyErrors = ['invalid_token'];
    await expectAppError(verifyAgain(apiKey), 'invalid_token');
    tokenErrors = ['invalid_token'];
    await expectAppError(verifyAgain('token'), 'invalid_token');
  });

  it('counts no failure, and needs no count', async () => {
    tokenErrors = ['invalid_token'];
    for (let i = 0; i < 5; i++) await expectAppError(verifyAgain('token'), 'invalid_token');
    tokenErrors = [];
    expect((await authenticator.authenticate('other', 'here')).id).to.equal('key:7');
  });
});

describe('Authenticator.authenticateClient', () => {
  const clock = new FakeClock();
  let lookUps: number;
  let authenticator: Authenticator;

  beforeEach(() => {
    lookUps = 0;
    authenticator = testAuthenticator({
      cache: new CredentialCache(clock),
      failures: new MemoryRateLimiter({ name: 'auth', quota: 3, windowSeconds: 60 }, clock),
      apiKeys: {
        findValid: () => Promise.reject(invalidToken()),
        verify: async ({ token }) => {
          lookUps++;
          if (token !== 'secret') throw new AppError('invalid_token', 'no');
          return { id: 'key:7', scopes: ['users:read'], freshMs: 2_000 };
        },
      },
    });
  });

  it('reads the key for every call', async () => {
    for (let i = 0; i < 3; i++)
      expect(await authenticator.authenticateClient('7', 'secret', 'here')).to.deep.include({
        keyId: 7,
        scopes: ['users:read'],
      });
    expect(lookUps).to.equal(3);
  });

  it('keeps a secret that comes with the id of another client, so that it still passes the throttle', async () => {
    await authenticator.authenticateClient('7', 'secret', 'here');
    for (let i = 0; i < 3; i++)
      await expectAppError(authenticator.authenticateClient('8', 'secret', 'here'), 'invalid_token');
    await authenticator.authenticateClient('7', 'secret', 'here');
  });

  it('counts a wrong secret and the secret of another client as failures', async () => {
    for (const [id, secret] of [
      ['7', 'wrong'],
      ['8', 'secret'],
      ['07', 'secret'],
    ] as const)
      await expectAppError(authenticator.authenticateClient(id, secret, 'here'), 'invalid_token');
    await expectAppError(authenticator.authenticateClient('7', 'secret', 'here'), 'rate_limited');
    await authenticator.authenticateClient('7', 'secret', 'elsewhere');
  });
});

describe('Authenticator, by the kind of the token,', () => {
  const pair = makePair('one');
  let called: string[];
  const named = (name: string) => ({
    verify: async () => {
      called.push(name);
      return { id: name, scopes: [], freshMs: 0 };
    },
  });
  const authenticator = (external = true) =>
    testAuthenticator({
      cache: new CredentialCache(new FakeClock()),
      failures: new MemoryRateLimiter({ name: 'auth', quota: 100, windowSeconds: 60 }, new FakeClock()),
      apiKeys: { ...named('keys'), findValid: () => Promise.reject(invalidToken()) },
      accessTokens: named('own'),
      external: external ? { issuer: 'https://a.example', tokens: named('external') } : undefined,
      issuerOf,
    });

  const authenticate = async (one: Authenticator, token: string) => one.authenticate(token, 'here');

  beforeEach(() => (called = []));

  it('calls only the verifier of this kind', async () => {
    await authenticate(authenticator(), newApiKey());
    for (const iss of ['https://a.example', 'https://a.example/', 'https://localhost:8443'])
      await authenticate(authenticator(), signed({ iss }, pair));
    expect(called).to.deep.equal(['keys', 'external', 'own', 'own']);
  });

  it('calls no external verifier if none is configured', async () => {
    await authenticate(authenticator(false), signed({ iss: 'https://a.example' }, pair));
    expect(called).to.deep.equal(['own']);
  });

  it('calls no verifier for a text that is neither a key nor a JWT with an issuer', async () => {
    const tooLong = `${newApiKey()}0`;
    for (const token of [tooLong, 'pcs_', 'x', 'a.b.c', signed({ iss: 7 }, pair), signed({}, pair), signed([], pair)])
      await expectAppError(authenticate(authenticator(), token), 'invalid_token');
    expect(called).to.deep.equal([]);
  });
});
