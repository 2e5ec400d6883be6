import { expect } from 'chai';
import { rateLimitOf } from '#packages/pages/console/rate-limit.js';
import { keyIn, type Probe, permissionsOf, SENDABLE } from '#packages/pages/console/session.js';
import type { Resource } from '#packages/pages/console/types.js';

const RESOURCES = ['things', 'others', 'keys'].map(
  (name) => ({ name, path: `/v1/${name}`, canImport: name !== 'keys' }) as Resource,
);
const SCOPES = ['things:read', 'things:write', 'others:read', 'others:write', 'keys:admin'];

describe('the session of the console', () => {
  it('finds what the key allows, and the scopes that it has', async () => {
    const lacking = new Map([
      ['get /v1/others', 'others:read'],
      ['post /v1/things/imports', 'things:write'],
      ['post /v1/others/imports', 'others:write'],
    ]);
    const probe = async (method: string, path: string): Promise<Probe> => {
      const scope = lacking.get(`${method} ${path}`);
      return { isAllowed: scope === undefined, scope };
    };
    const { mayRead, mayWrite, scopes } = await permissionsOf(probe, RESOURCES, SCOPES);
    expect([[...mayRead], [...mayWrite], scopes]).to.deep.equal([
      ['things', 'keys'],
      ['keys'],
      ['things:read', 'keys:admin'],
    ]);
  });

  it('tries a wrong key once', async () => {
    const requests: string[] = [];
    const probe = async (method: string, path: string) => {
      requests.push(`${method} ${path}`);
      throw new Error('invalid_token');
    };
    const error = await permissionsOf(probe, RESOURCES, SCOPES).catch(({ message }) => message);
    expect([error, requests]).to.deep.equal(['invalid_token', ['get /v1/things']]);
  });

  it('takes a key with the parts of the header that people copy too', () => {
    for (const text of ['pcs_1', ' pcs_1\n', 'Bearer pcs_1', 'Authorization: bearer pcs_1'])
      expect(keyIn(text)).to.equal('pcs_1');
    expect(['pcs_1', '', 'a b', 'é', 'a\u0000'].map((key) => SENDABLE.test(key))).to.deep.equal([
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  it('reads the rate limit of a response', () => {
    const headers = (limit: string, policy: string) => new Headers({ RateLimit: limit, 'RateLimit-Policy': policy });
    expect(rateLimitOf(headers('"default";r=599;t=60', '"default";q=600;w=60'))).to.deep.equal({
      remaining: 599,
      resetSeconds: 60,
      limit: 600,
    });
    expect(rateLimitOf(headers('"default";r=0', ''))).to.deep.equal({
      remaining: 0,
      resetSeconds: 0,
      limit: undefined,
    });
    expect(rateLimitOf(new Headers())).to.equal(undefined);
  });
});
