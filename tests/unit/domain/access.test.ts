import { expect } from 'chai';
import { isScope } from '#src/domain/access.js';
import { ACCESS_TOKEN_FRESH_MS, ACCESS_TOKEN_MS, invalidToken } from '#src/domain/access-token.js';
import {
  type ApiKey,
  administersKeys,
  keyIdOf,
  keyPrincipalId,
  validateExpiry,
} from '#src/domain/api-key.js';

describe('an API key', () => {
  it('is found by the id of its principal, and by no other', () => {
    expect(keyPrincipalId(7)).to.equal('key:7');
    expect(keyIdOf({ id: keyPrincipalId(7) })).to.equal(7);
    expect(keyIdOf({ id: 'key:1234567890123456' })).to.equal(1_234_567_890_123_456);
    for (const id of ['key:0', 'key:07', 'key:', 'key:7x', 'xkey:7', 'key:-1', '7', 'key:12345678901234567'])
      expect(keyIdOf({ id }), id).to.equal(undefined);
  });

  it('administers keys with the scope and before its expiry', () => {
    const key = (scopes: ApiKey['scopes'], expiresAt?: number): ApiKey => ({
      name: 'k',
      digest: '',
      scopes,
      ...(expiresAt !== undefined && { expiresAt }),
    });
    expect(administersKeys(key(['keys:admin']), 5)).to.equal(true);
    expect(administersKeys(key(['users:read', 'keys:admin'], 6), 5)).to.equal(true);
    expect(administersKeys(key(['keys:admin'], 5), 5)).to.equal(false);
    expect(administersKeys(key(['users:read']), 5)).to.equal(false);
  });

  it('expires after its creation, at the latest with the year 9999', () => {
    const last = Date.parse('9999-12-31T23:59:59.999Z');
    const issues = (expiresAt?: number) =>
      validateExpiry(expiresAt, 100).map(({ code, pointer }) => `${code} ${pointer}`);
    for (const valid of [undefined, 101, last]) expect(issues(valid)).to.deep.equal([]);
    for (const wrong of [100, 99, last + 1]) expect(issues(wrong)).to.deep.equal(['out_of_range /expiresAt']);
  });
});

describe('a scope', () => {
  it('is one of the known texts', () => {
    expect(isScope('products:read')).to.equal(true);
    for (const wrong of ['products', '', 'toString', 'products:read '])
      expect(isScope(wrong)).to.equal(false);
  });
});

describe('an access token', () => {
  it('lives ten minutes, and is verified again after five seconds', () => {
    expect(ACCESS_TOKEN_MS).to.equal(600_000);
    expect(ACCESS_TOKEN_FRESH_MS).to.equal(5_000);
  });

  it('is refused without a reason, or with one', () => {
    expect(invalidToken()).to.include({ code: 'invalid_token' });
    expect(invalidToken('late')).to.include({ code: 'invalid_token', message: 'late' });
  });
});
