import { expect } from 'chai';
import { denialReason, grantDenialReason, InsufficientScope } from '#src/application/auth/authorization.js';
import { type Principal, SCOPES, type Scope } from '#src/domain/access.js';

const somebody = (...scopes: Scope[]): Principal => ({ id: 'somebody', scopes });

describe('authorization', () => {
  it('lets anyone do what needs nothing', () => {
    for (const principal of [undefined, somebody(), somebody(...SCOPES)])
      expect(denialReason(principal, 'public')).to.equal(undefined);
  });

  it('asks who is unknown for a credential, whatever else is needed', () => {
    for (const need of ['authenticated', ...SCOPES] as const)
      expect(denialReason(undefined, need)?.code, need).to.equal('unauthenticated');
  });

  it('is content with any credential where no scope is needed', () => {
    expect(denialReason(somebody(), 'authenticated')).to.equal(undefined);
  });

  it('lets a scope do what it says and nothing else', () => {
    for (const scope of SCOPES) {
      const others = SCOPES.filter((other) => other !== scope);
      expect(denialReason(somebody(scope), scope), scope).to.equal(undefined);
      expect(denialReason(somebody(...others), scope), scope)
        .to.be.instanceOf(InsufficientScope)
        .and.to.include({ code: 'insufficient_scope' })
        .and.to.deep.include({ missing: [scope] });
    }
  });

  it('lets nobody give out what they lack, and names all of that', () => {
    const maker = somebody('keys:admin', 'users:read');
    expect(grantDenialReason(maker, ['users:read'])).to.equal(undefined);
    expect(grantDenialReason(maker, ['keys:admin', 'users:read'])).to.equal(undefined);
    expect(grantDenialReason(maker, ['users:write', 'users:read', 'orders:read'])?.missing).to.deep.equal([
      'users:write',
      'orders:read',
    ]);
    expect(grantDenialReason(undefined, ['users:read'])?.missing).to.deep.equal(['users:read']);
  });
});
