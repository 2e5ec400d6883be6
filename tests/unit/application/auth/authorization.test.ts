import { expect } from 'chai';
import {
  denialReason,
  InsufficientScope,
  insufficientScope,
  type Principal,
  SCOPES,
  type Scope,
} from '#src/domain/access.js';

const somebody = (...scopes: Scope[]): Principal => ({ id: 'somebody', scopes });

describe('authorization', () => {
  it('allows public requests to anyone', () => {
    for (const principal of [undefined, somebody(), somebody(...SCOPES)])
      expect(denialReason(principal, 'none')).to.equal(undefined);
  });

  it('requires a credential for everything else', () => {
    for (const requirement of ['authenticated', ...SCOPES.map((scope) => [scope])] as const)
      expect(denialReason(undefined, requirement)?.code, `${requirement}`).to.equal('unauthenticated');
  });

  it('accepts any credential if no scope is required', () => {
    expect(denialReason(somebody(), 'authenticated')).to.equal(undefined);
  });

  it('accepts only the required scope', () => {
    for (const scope of SCOPES) {
      const others = SCOPES.filter((other) => other !== scope);
      expect(denialReason(somebody(scope), [scope]), scope).to.equal(undefined);
      expect(denialReason(somebody(...others), [scope]), scope)
        .to.be.instanceOf(InsufficientScope)
        .and.to.include({ code: 'insufficient_scope' })
        .and.to.deep.include({ missing: [scope] });
    }
  });

  it('names every scope that is missing', () => {
    const both = ['users:write', 'users:read'] as const;
    expect(denialReason(somebody(...both), both)).to.equal(undefined);
    expect(denialReason(somebody('users:write'), both)).to.deep.include({ missing: ['users:read'] });
    expect(denialReason(somebody(), both)).to.deep.include({ missing: both });
  });

  it('denies grants of missing scopes, and names all of them', () => {
    const maker = somebody('keys:admin', 'users:read');
    expect(insufficientScope(maker, ['users:read'])).to.equal(undefined);
    expect(insufficientScope(maker, ['keys:admin', 'users:read'])).to.equal(undefined);
    expect(insufficientScope(maker, ['users:write', 'users:read', 'orders:read'])?.missing).to.deep.equal([
      'users:write',
      'orders:read',
    ]);
    expect(insufficientScope(undefined, ['users:read'])?.missing).to.deep.equal(['users:read']);
  });
});
