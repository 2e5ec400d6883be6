import { expect } from 'chai';
import { readAccessToken } from '#src/adapters/outbound/tokens/external-tokens.js';
import { AppError } from '#src/domain/errors.js';

const NOW = Date.UTC(2026, 0, 1);
const SECONDS = NOW / 1_000;
const LONG = 'x'.repeat(64);
const EXPECTED = { issuer: 'https://a.example/', audience: 'catalogue' };

describe('readAccessToken', () => {
  const read = (changes: object = {}, typ: unknown = 'at+jwt') => {
    const claims = {
      ...{ iss: EXPECTED.issuer, aud: 'catalogue', sub: 's', client_id: 'c' },
      ...{ iat: SECONDS, exp: SECONDS + 60 },
      ...changes,
    };
    return readAccessToken({ header: { typ }, claims }, EXPECTED, NOW);
  };
  const refusal = (changes: object = {}, typ?: unknown): AppError => {
    try {
      read(changes, typ);
    } catch (error) {
      if (error instanceof AppError) return error;
    }
    throw new Error('The token was accepted.');
  };

  it('accepts both spellings of typ', () => {
    for (const typ of ['at+jwt', 'application/at+jwt'])
      expect(read({}, typ).expiresAt, 'with the tolerance').to.equal(NOW + 120_000);
    expect(refusal({}, 'JWT').message).to.equal('The typ of this access token is not one that this service takes.');
  });

  it('accepts several audiences', () => {
    expect(read({ aud: ['x', 'catalogue'] }).id).to.equal(read().id);
  });

  it('reads scopes from `scope` or `scp`, and ignores unknown ones', () => {
    expect(read().scopes).to.deep.equal([]);
    for (const granted of [
      { scope: 'openid users:read  orders:write users:read' },
      { scp: ['users:read', 'email', 'orders:write'] },
      { scp: 'users:read orders:write constructor' },
      { scope: 'users:read orders:write', scp: ['keys:admin'] },
    ])
      expect(read(granted).scopes, JSON.stringify(granted)).to.deep.equal(['users:read', 'orders:write']);
    expect(read({ scope: 'Users:Read users:read\tkeys:admin' }).scopes).to.deep.equal([]);
  });

  it('tolerates clocks that differ by 60 seconds, and says which clocks to compare', () => {
    read({ iat: SECONDS + 60, nbf: SECONDS + 60, exp: SECONDS - 59.999 });
    for (const claim of ['iat', 'nbf']) {
      const { code, message } = refusal({ [claim]: SECONDS + 60.1 });
      expect([code, message]).to.deep.equal([
        'invalid_token',
        `The ${claim} of this access token is over 60 seconds in the future: compare the clocks of its issuer and this service.`,
      ]);
    }
    expect(refusal({ exp: SECONDS - 60 }).code).to.equal('token_expired');
  });

  it('reports an expired token only if nothing else is wrong', () => {
    const exp = SECONDS - 60;
    expect(refusal({ exp }).code).to.equal('token_expired');
    for (const wrong of [{ iss: 'x' }, { aud: 'x' }, { sub: {} }, { client_id: '' }, { scope: [] }, { nbf: 9e9 }])
      expect(refusal({ exp, ...wrong }).code, JSON.stringify(wrong)).to.equal('invalid_token');
    expect(refusal({ exp }, 'JWT').code).to.equal('invalid_token');
  });

  it('derives the principal from issuer, client and subject alone', () => {
    const { id } = read();
    expect(read({ exp: SECONDS + 9, scope: 'users:read', jti: 'x', aud: ['catalogue'] }).id).to.equal(id);
    expect(read({ client_id: undefined, azp: 'c' }).id).to.equal(id);
    expect(read({ azp: 'other' }).id).to.equal(id);
    const another = { issuer: 'https://b.example', audience: 'catalogue' };
    const claims = { iss: another.issuer, aud: 'catalogue', sub: 's', client_id: 'c', iat: 1, exp: 9e9 };
    const ids = [
      id,
      readAccessToken({ header: { typ: 'at+jwt' }, claims }, another, NOW).id,
      ...[read({ sub: 'c', client_id: 's' }).id, read({ sub: 'c', client_id: 'c' }).id],
      ...[read({ sub: 'b:c', client_id: 'a' }).id, read({ sub: 'c', client_id: 'a:b' }).id],
      ...[read({ sub: 'b","c', client_id: 'a' }).id, read({ sub: 'c', client_id: 'a","b' }).id],
      ...[read({ client_id: 'é' }).id, read({ client_id: 'è' }).id],
      ...[read({ client_id: LONG, sub: 'ab' }).id, read({ client_id: `${LONG}a`, sub: 'b' }).id],
      ...[read({ client_id: `${LONG}a` }).id, read({ client_id: `${LONG}b` }).id],
    ];
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('makes an id that is short, and safe in logs and as a key', () => {
    for (const name of ['x'.repeat(5_000), 'ann@example.com', '😀'.repeat(99), '"; DROP\u2028', '\u0085'])
      expect(read({ sub: name, client_id: name }).id).to.match(/^oauth:[\w.~-]{1,64}:[\w-]{43}$/);
    expect(read({ client_id: 'web-shop', sub: 'ann@example.com' }).id).to.match(/^oauth:web-shop:/);
  });
});
