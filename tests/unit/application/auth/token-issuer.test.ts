import { expect } from 'chai';
import { KeyAdministration, presentApiKey } from '#src/application/auth/key-administration.js';
import { KeyUsageReader } from '#src/application/auth/key-usage.js';
import { TokenIssuer } from '#src/application/auth/token-issuer.js';
import type { AccessToken } from '#src/domain/access-token.js';
import { expectAppError } from '../../../support/expect-refusal.js';
import { FakeClock } from '../../../support/fakes.js';

const HOUR = 3_600_000;

describe('TokenIssuer', () => {
  const issue = async (now: number, expiresAt?: number) => {
    const signed: AccessToken[] = [];
    const key = { sign: async (claims: AccessToken) => `token ${signed.push(claims)}` };
    const issuer = new TokenIssuer({
      signingKeys: { current: async () => key as never },
      publicUrl: { url: 'https://here' },
      clock: new FakeClock(now),
    });
    const client = { keyId: 7, scopes: ['users:read'], ...(expiresAt !== undefined && { expiresAt }) };
    return { issued: await issuer.issue(client as never, ['users:read']), claims: signed[0] };
  };

  it('signs whole seconds, for ten minutes', async () => {
    expect(await issue(5_999)).to.deep.equal({
      issued: { token: 'token 1', lifetimeSeconds: 600 },
      claims: {
        issuer: 'https://here',
        keyId: 7,
        scopes: ['users:read'],
        issuedAt: 5_000,
        expiresAt: 605_000,
      },
    });
  });

  it('issues no token that outlives its key, nor one that has already expired', async () => {
    expect((await issue(5_000, 9_999)).issued.lifetimeSeconds).to.equal(4);
    expect((await issue(5_000, 6_000)).issued.lifetimeSeconds).to.equal(1);
    await expectAppError(issue(5_000, 5_999), 'token_expired');
    await expectAppError(issue(5_000, 1_000), 'token_expired');
  });
});

describe('the presentation of an API key', () => {
  const fields = { name: 'k', scopes: ['users:read'], digest: 'secret' } as const;
  const key = { id: 7, version: 1, createdAt: 0, updatedAt: 0 };

  it('has times as texts, and no digest', () => {
    const usage = { since: 0, requests: 3, byRoute: [] };
    expect(
      presentApiKey({ ...key, fields: { ...fields, expiresAt: 1, lastUsedAt: 2, createdBy: 3, usage } }),
    ).to.deep.equal({
      id: 7,
      name: 'k',
      scopes: ['users:read'],
      expiresAt: '1970-01-01T00:00:00.001Z',
      createdAt: '1970-01-01T00:00:00.000Z',
      lastUsedAt: '1970-01-01T00:00:00.002Z',
      createdBy: 3,
      createdBySubject: undefined,
      usage: { since: '1970-01-01T00:00:00.000Z', requests: 3, byRoute: [] },
    });
  });

  it('lacks what the key lacks', () => {
    const shown = presentApiKey({ ...key, fields });
    expect([shown.expiresAt, shown.lastUsedAt, shown.usage]).to.deep.equal([undefined, undefined, undefined]);
  });
});

describe('the first API key', () => {
  it('is the one of this call, or of an earlier one with the same key', async () => {
    const inserted: { readonly fields: { readonly digest: string } }[] = [];
    const keys = {
      insertAll: async ([record]: [never]) => {
        if (inserted.length > 0) return ['id_conflict'];
        inserted.push(record);
        return ['inserted'];
      },
      find: async () => inserted[0],
    };
    const format = {
      isWellFormed: (key: string) => key !== 'bad',
      digest: (key: string) => `digest of ${key}`,
    };
    const administration = new KeyAdministration({ keys, format, clock: new FakeClock() } as never);
    await expectAppError(administration.createFirst('bad'), 'validation_failed');
    expect(await administration.createFirst('one')).to.equal(true);
    expect(await administration.createFirst('one')).to.equal(true);
    expect(await administration.createFirst('two')).to.equal(false);
  });
});

describe('KeyUsageReader', () => {
  it('adds the counts of the last 25 hours up, the most used routes first', async () => {
    const asked: unknown[] = [];
    const used = (route: string, requests: number) => ({ method: 'GET', route, version: 1, requests });
    const store = {
      find: async (...args: unknown[]) => {
        asked.push(args);
        return [
          { keyId: 1, hour: 0, counter: 'a', routes: [used('/b', 2), used('/c', 1)] },
          { keyId: 1, hour: 0, counter: 'b', routes: [used('/c', 4), used('/a', 2)] },
        ];
      },
    };
    const reader = new KeyUsageReader(store, new FakeClock(100 * HOUR + 5));
    expect(await reader.read([])).to.have.length(0);
    expect([...(await reader.read([1, 2]))]).to.deep.equal([
      [1, { since: 76 * HOUR, requests: 9, byRoute: [used('/c', 5), used('/a', 2), used('/b', 2)] }],
    ]);
    expect(asked).to.deep.equal([[[1, 2], 76 * HOUR]]);
  });
});
