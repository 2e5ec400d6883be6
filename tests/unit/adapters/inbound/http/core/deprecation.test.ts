import { expect } from 'chai';
import { Deprecation } from '#src/adapters/inbound/http/core/route.js';

describe('Deprecation', () => {
  it('formats its headers as seconds since 1970 (RFC 9745) and as an HTTP date (RFC 8594)', () => {
    const { headers } = new Deprecation({ since: '2026-03-01T12:30:00.999+02:00', sunset: '2027-03-01T10:30:00.5Z' });
    expect(headers).to.deep.equal({ Deprecation: '@1772361000', Sunset: 'Mon, 01 Mar 2027 10:30:00 GMT' });
  });

  for (const [since, sunset] of [
    ['2026-03-01T00:00:00Z', '2027-03-01T00:00:00Z'],
    ['2027-03-01T00:00:00Z', '2028-03-01T00:00:00Z'],
    ['2028-02-29T00:00:00Z', '2029-03-01T00:00:00Z'],
    ['2026-03-01T00:00:00Z', '2036-03-01T00:00:00Z'],
  ] as const) {
    it(`accepts at least 12 months: ${since} to ${sunset}`, () => {
      expect(new Deprecation({ since, sunset }).headers.Sunset).to.equal(new Date(sunset).toUTCString());
    });
  }

  for (const [since, sunset] of [
    ['2026-03-01T00:00:00Z', '2027-02-28T23:59:59.999Z'],
    ['2026-03-01T00:00:00Z', '2027-03-01T00:00:00+00:01'],
    // 365 days of a year with 366 days
    ['2027-03-01T00:00:00Z', '2028-02-29T00:00:00Z'],
    ['2028-02-29T00:00:00Z', '2029-02-28T00:00:00Z'],
    ['2026-03-01T00:00:00Z', '2026-03-01T00:00:00Z'],
    ['2027-03-01T00:00:00Z', '2026-03-01T00:00:00Z'],
  ] as const) {
    it(`rejects less than 12 months: ${since} to ${sunset}`, () => {
      expect(() => new Deprecation({ since, sunset })).to.throw(RangeError, '12 months');
    });
  }

  for (const text of ['', '2027-02-30T00:00:00Z', '2027-03-01', 'tomorrow']) {
    it(`rejects an invalid time: ${JSON.stringify(text)}`, () => {
      expect(() => new Deprecation({ since: text, sunset: '2099-01-01T00:00:00Z' })).to.throw(RangeError);
      expect(() => new Deprecation({ since: '2026-01-01T00:00:00Z', sunset: text })).to.throw(RangeError);
    });
  }
});
