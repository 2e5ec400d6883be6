import { expect } from 'chai';
import type { Route } from '#src/adapters/inbound/http/route.js';
import { versionOf } from '#src/adapters/inbound/http/versioning/api-version.js';
import { Deprecation } from '#src/adapters/inbound/http/versioning/deprecation.js';

const deprecation = new Deprecation({ since: '2026-01-01T00:00:00Z', sunset: '2027-01-01T00:00:00Z' });

const endpoint = (version: number, path: string, more: Partial<Route> = {}): Route => ({
  template: `/v${version}/${path}`,
  path: /^\/$/,
  access: 'bearer',
  version,
  operations: {},
  ...more,
});

const versions = (endpoints: readonly Route[]) =>
  endpoints.map((one) => {
    const { number, all, deprecation } = versionOf(one, endpoints);
    return [number, all, deprecation?.successor];
  });

describe('the versions that are served', () => {
  it('are those of the same address, in their order, however they are listed', () => {
    expect(
      versions([
        endpoint(10, 'products'),
        endpoint(1, 'products'),
        endpoint(1, 'products/{id}'),
        endpoint(2, 'products'),
        endpoint(1, 'users'),
      ]),
    ).to.deep.equal([
      [10, [1, 2, 10], undefined],
      [1, [1, 2, 10], undefined],
      [1, [1], undefined],
      [2, [1, 2, 10], undefined],
      [1, [1], undefined],
    ]);
  });

  it('are the first alone where an endpoint says nothing', () => {
    expect(
      versions([{ template: '/health/live', path: /^\/$/, access: 'probe', operations: {} }]),
    ).to.deep.equal([[1, [1], undefined]]);
  });

  it('have the next one for a successor where they are deprecated', () => {
    expect(
      versions([
        endpoint(1, 'products', { deprecation }),
        endpoint(3, 'products'),
        endpoint(2, 'products', { deprecation }),
      ]),
    ).to.deep.equal([
      [1, [1, 2, 3], 2],
      [3, [1, 2, 3], undefined],
      [2, [1, 2, 3], 3],
    ]);
  });

  it('are refused where one is deprecated and has no successor', () => {
    const last = endpoint(2, 'products', { deprecation });
    for (const others of [[], [endpoint(1, 'products')], [endpoint(3, 'products/{id}')]]) {
      expect(() => versions([last, ...others])).to.throw('/v2/products is deprecated');
    }
  });

  it('are refused where one is there twice', () => {
    expect(() => versions([endpoint(1, 'products'), endpoint(1, 'products')])).to.throw('/v1/products');
  });
});
