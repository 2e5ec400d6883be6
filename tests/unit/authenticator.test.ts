import { expect } from 'chai';
import { MemoryRateLimiter } from '#src/adapters/outbound/memory/rate-limiter.js';
import { Authenticator } from '#src/application/authenticator.js';
import { CatalogueError, type ErrorCode } from '#src/domain/errors.js';
import { expectRefusal } from '../support/expect-refusal.js';
import { FakeClock } from '../support/fakes.js';

describe('the authenticator', () => {
  const clock = new FakeClock();
  let answers: Record<string, ErrorCode>;
  let verified: number;
  let expiresAt: number | undefined;
  let authenticator: Authenticator;

  beforeEach(() => {
    answers = {};
    verified = 0;
    expiresAt = undefined;
    authenticator = new Authenticator({
      verifier: {
        verify: async (token) => {
          verified++;
          const code = answers[token];
          if (code) throw new CatalogueError(code, 'no');
          return { id: token, scopes: [], ...(expiresAt !== undefined && { expiresAt }) };
        },
      },
      failures: new MemoryRateLimiter({ name: 'auth', quota: 3, windowSeconds: 60 }),
      digest: (token) => token,
      clock,
    });
  });

  const fail = (times: number) =>
    Promise.all(
      Array.from({ length: times }, () => authenticator.authenticate('bad', 'here').catch(() => {})),
    );

  it('verifies nothing more for an address that keeps failing', async () => {
    answers = { bad: 'invalid_token' };
    for (let i = 0; i < 3; i++)
      await expectRefusal(authenticator.authenticate('bad', 'here'), 'invalid_token');
    await expectRefusal(authenticator.authenticate('bad', 'here'), 'rate_limited');
    await expectRefusal(authenticator.authenticate('unknown', 'here'), 'rate_limited');
    expect(verified).to.equal(3);
    await authenticator.authenticate('unknown', 'elsewhere');
  });

  it('still verifies what was good within 10 minutes', async () => {
    answers = { bad: 'token_expired' };
    await authenticator.authenticate('good', 'here');
    await fail(10);
    clock.running += 10 * 60_000 - 1;
    await authenticator.authenticate('good', 'here');
    clock.running += 10 * 60_000;
    await expectRefusal(authenticator.authenticate('good', 'here'), 'rate_limited');
  });

  it('asks anew each time, so that a revoked key is refused', async () => {
    await authenticator.authenticate('key', 'here');
    answers = { key: 'invalid_token' };
    await expectRefusal(authenticator.authenticate('key', 'here'), 'invalid_token');
  });

  it('believes a token that names its end for 5 seconds, and verifies it anew then', async () => {
    expiresAt = clock.time + 60_000;
    for (let i = 0; i < 5; i++) await authenticator.authenticate('token', 'here');
    expect(verified).to.equal(1);
    answers = { token: 'invalid_token' };
    clock.running += 5_000;
    await expectRefusal(authenticator.authenticate('token', 'here'), 'invalid_token');
  });

  it('keeps nothing of a token that was refused', async () => {
    expiresAt = clock.time + 60_000;
    answers = { token: 'invalid_token' };
    for (let i = 0; i < 2; i++)
      await expectRefusal(authenticator.authenticate('token', 'here'), 'invalid_token');
    answers = {};
    await authenticator.authenticate('token', 'here');
    expect(verified).to.equal(3);
  });

  it('holds a store that is down against nobody', async () => {
    answers = { bad: 'unavailable' };
    for (let i = 0; i < 10; i++)
      await expectRefusal(authenticator.authenticate('bad', 'here'), 'unavailable');
  });

  it('still knows what was good after a flood of tokens that are not, and is no larger for it', async () => {
    await authenticator.authenticate('good', 'here');
    const flood = Array.from({ length: 20_000 }, (_, i) => `bad ${i}`);
    answers = Object.fromEntries(flood.map((token) => [token, 'invalid_token']));
    await Promise.all(
      flood.map((token, i) => authenticator.authenticate(token, i % 2 ? 'here' : `${i}`).catch(() => {})),
    );
    expect(authenticator['verified']['byDigest'].size).to.equal(1);
    await expectRefusal(authenticator.authenticate('unknown', 'here'), 'rate_limited');
    expect((await authenticator.authenticate('good', 'here')).id).to.equal('good');
  });

  it('remembers a bounded number of credentials', async () => {
    for (let i = 0; i < 10_001; i++) await authenticator.authenticate(`key ${i}`, 'here');
    answers = { bad: 'invalid_token' };
    await fail(10);
    await expectRefusal(authenticator.authenticate('key 0', 'here'), 'rate_limited');
    await authenticator.authenticate('key 1', 'here');
  });
});
