import { expect } from 'chai';
import { Deprecation, type Route, versionOf } from '#src/adapters/inbound/http/core/route.js';
import { list } from '../../../../../support/list.js';

const deprecation = new Deprecation({ since: '2026-01-01T00:00:00Z', sunset: '2027-01-01T00:00:00Z' });

const route = (version: number, path: string, more: Partial<Route> = {}): Route => {
  const template = `/v${version}/${path}`;
  return { template, path: /^\/$/, access: 'bearer', version, operations: {}, ...more };
};

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
    for (const others of [[], [route(1, 'products')], [route(3, 'products/{id}')]])
      expect(() => versions([last, ...others])).to.throw('/v2/products is deprecated');
  });

  it('rejects a version that is registered twice', () => {
    expect(() => versions([route(1, 'products'), route(1, 'products')])).to.throw('/v1/products');
  });
});

describe('Deprecation', () => {
  it('formats its headers as seconds since 1970 (RFC 9745) and as an HTTP date (RFC 8594)', () => {
    const { headers } = new Deprecation({ since: '2026-03-01T12:30:00.999+02:00', sunset: '2027-03-01T10:30:00.5Z' });
    expect(headers).to.deep.equal({ Deprecation: '@1772361000', Sunset: 'Mon, 01 Mar 2027 10:30:00 GMT' });
  });

  /** From the start of the first day to that of the second, or to a time. 2028 has 366 days. */
  const announced = (period: string) => {
    const [since = '', sunset = ''] = period
      .split(' ')
      .map((text) => (text.includes('T') ? text : `${text}T00:00:00Z`));
    return { sunset, deprecation: () => new Deprecation({ since, sunset }) };
  };

  for (const period of list`2026-03-01 2027-03-01  2027-03-01 2028-03-01  2028-02-29 2029-03-01  2026-03-01 2036-03-01`)
    it(`accepts at least 12 months: ${period}`, () => {
      const { sunset, deprecation } = announced(period);
      expect(deprecation().headers.Sunset).to.equal(new Date(sunset).toUTCString());
    });

  for (const period of list`2026-03-01 2027-02-28T23:59:59.999Z  2026-03-01 2027-03-01T00:00:00+00:01  2027-03-01 2028-02-29
    2028-02-29 2029-02-28  2026-03-01 2026-03-01  2027-03-01 2026-03-01`)
    it(`rejects less than 12 months: ${period}`, () => {
      expect(announced(period).deprecation).to.throw(RangeError, '12 months');
    });

  for (const text of ['', '2027-02-30T00:00:00Z', '2027-03-01', 'tomorrow'])
    it(`rejects an invalid time: ${JSON.stringify(text)}`, () => {
      expect(() => new Deprecation({ since: text, sunset: '2099-01-01T00:00:00Z' })).to.throw(RangeError);
      expect(() => new Deprecation({ since: '2026-01-01T00:00:00Z', sunset: text })).to.throw(RangeError);
    });
});
