import { expect } from 'chai';
import { type AccessControl, authenticate } from '#src/adapters/inbound/http/middleware/authenticate.js';
import { CredentialCache } from '#src/application/auth/credential-cache.js';
import type { RateLimiter } from '#src/application/ports/rate-limiter.js';
import { invalidToken } from '#src/domain/access-token.js';
import { testAuthenticator } from '../../../../../support/authenticator.js';
import { expectAppError } from '../../../../../support/expect-refusal.js';
import { FakeClock } from '../../../../../support/fakes.js';
import { contextWith } from '../../../../../support/koa-context.js';

/** Allows two requests of each caller. */
class TestLimiter implements RateLimiter {
  readonly policy = { name: 'default', quota: 2, windowSeconds: 60 };
  readonly callers: string[] = [];

  consume(caller: string) {
    this.callers.push(caller);
    const count = this.callers.filter((one) => one === caller).length;
    return { allowed: count <= 2, remaining: Math.max(0, 2 - count), resetSeconds: 60 };
  }

  peek() {
    return { allowed: true, remaining: 2, resetSeconds: 60 };
  }
}

describe('authenticate', () => {
  let limiter: TestLimiter;
  let accessControl: AccessControl;

  beforeEach(() => {
    limiter = new TestLimiter();
    const accessTokens = {
      verify: async ({ token }: { readonly token: string }) => {
        if (token.startsWith('bad')) throw invalidToken();
        return { id: token, scopes: [], freshMs: 5_000 };
      },
    };
    const cache = new CredentialCache(new FakeClock());
    accessControl = { limiter, authenticator: testAuthenticator({ cache, failures: limiter, accessTokens }) };
  });

  const requestWith = (authorization: string) => {
    const context = contextWith('Authorization', authorization);
    context.state.address = 'here';
    return context;
  };

  it('returns no promise for a cached token', async () => {
    await authenticate(requestWith('Bearer one'), accessControl);
    const ctx = requestWith('Bearer one');
    expect(authenticate(ctx, accessControl)).to.equal(undefined);
    expect(ctx.state.principal).to.deep.include({ id: 'one' });
    expect(ctx.response.get('RateLimit-Policy')).to.equal('"default";q=2;w=60');
    expect(ctx.response.get('RateLimit')).to.equal('"default";r=0;t=60');
    const over = requestWith('Bearer one');
    expect(() => authenticate(over, accessControl)).to.throw('Over 2 requests');
    expect(over.response.get('Retry-After')).to.equal('60');
  });

  it('returns no promise for a request without a token, and counts its address', () => {
    for (const authorization of ['', 'Basic YTpi', 'Bearer', 'Bearerx one']) {
      const ctx = requestWith(authorization);
      limiter.callers.length = 0;
      expect(authenticate(ctx, accessControl)).to.equal(undefined);
      expect(ctx.state.principal).to.equal(undefined);
      expect(limiter.callers).to.deep.equal(['address:here']);
    }
  });

  it('finds the token after the scheme in any case, and passes on a malformed one whole', async () => {
    for (const [authorization, token] of [
      ['Bearer one', 'one'],
      ['bEARER   one two ', 'one two '],
      ['Bearer=one', 'Bearer=one'],
      ['bearer,one', 'bearer,one'],
    ] as const) {
      const ctx = requestWith(authorization);
      await authenticate(ctx, accessControl);
      expect(ctx.state.principal?.id).to.equal(token);
    }
  });

  it('counts a request whose token is rejected, against its address', async () => {
    const ctx = requestWith('Bearer bad');
    await expectAppError(Promise.resolve(authenticate(ctx, accessControl)), 'invalid_token');
    expect(limiter.callers).to.deep.equal(['here', 'address:here']);
    expect(ctx.response.get('RateLimit')).to.equal('"default";r=1;t=60');
  });
});
