import { expect } from 'chai';
import { Deprecation, type Route, versionOf } from '#src/adapters/inbound/http/core/route.js';

const deprecation = new Deprecation({ since: '2026-01-01T00:00:00Z', sunset: '2027-01-01T00:00:00Z' });

const route = (version: number, path: string, more: Partial<Route> = {}): Route => ({
  template: `/v${version}/${path}`,
  path: /^\/$/,
  access: 'bearer',
  version,
  operations: {},
  ...more,
});

const versions = (routes: readonly Route[]) =>
  routes.map((one) => {
    const { number, all, deprecation } = versionOf(one, routes);
    return [number, all, deprecation?.successor];
  });

describe('versionOf', () => {
  it('lists the versions of the same path in ascending order', () => {
    expect(
      versions([
        route(10, 'products'),
        route(1, 'products'),
        route(1, 'products/{id}'),
        route(2, 'products'),
        route(1, 'users'),
      ]),
    ).to.deep.equal([
      [10, [1, 2, 10], undefined],
      [1, [1, 2, 10], undefined],
      [1, [1], undefined],
      [2, [1, 2, 10], undefined],
      [1, [1], undefined],
    ]);
  });

  it('returns version 1 for a route without a version', () => {
    expect(versions([{ template: '/health/live', path: /^\/$/, access: 'probe', operations: {} }])).to.deep.equal([
      [1, [1], undefined],
    ]);
  });

  it('names the next version as the successor of a deprecated one', () => {
    expect(
      versions([route(1, 'products', { deprecation }), route(3, 'products'), route(2, 'products', { deprecation })]),
    ).to.deep.equal([
      [1, [1, 2, 3], 2],
      [3, [1, 2, 3], undefined],
      [2, [1, 2, 3], 3],
    ]);
  });

  it('rejects a deprecated version without a successor', () => {
    const last = route(2, 'products', { deprecation });
    for (const others of [[], [route(1, 'products')], [route(3, 'products/{id}')]]) {
      expect(() => versions([last, ...others])).to.throw('/v2/products is deprecated');
    }
  });

  it('rejects a version that is registered twice', () => {
    expect(() => versions([route(1, 'products'), route(1, 'products')])).to.throw('/v1/products');
  });
});
