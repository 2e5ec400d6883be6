import { expect } from 'chai';
import { preferredCoding } from '#src/adapters/inbound/http/middleware/negotiation.js';

const PREFERRED: [string, 'br' | 'gzip' | undefined][] = [
  ['', undefined],
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['GZip', 'gzip'],
  ['gzip, br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip;q=1.0, br;q=0.999', 'gzip'],
  ['br;q=0.5, gzip;q=0.5', 'br'],
  ['gzip ; q=0.1 , deflate', 'gzip'],
  ['gzip;Q=0.1', 'gzip'],
  [',gzip,, ', 'gzip'],
  ['deflate, zstd', undefined],
  ['*', 'gzip'],
  ['*;q=0.1', 'gzip'],
  ['gzip;q=0, *', undefined],
  ['gzip;q=0.5, *;q=0', 'gzip'],
  ['br;q=0, *', 'gzip'],
  ['br;q=0.1, *', 'gzip'],
  ['gzip;q=0', undefined],
  ['*;q=0', undefined],
  ['identity', undefined],
  ['identity;q=0', undefined],
  ['identity;q=0, gzip;q=0.001', 'gzip'],
  ['identity, gzip;q=0.9', undefined],
  ['identity, gzip', 'gzip'],
  ['gzip;q=0.5, *;q=0.9', undefined],
  ['gzip;q=2', undefined],
  ['gzip;q=-1', undefined],
  ['gzip;q=0.1234', undefined],
  ['gzip;q=', undefined],
  ['gzip;q', undefined],
  ['gzip;level=9', undefined],
  ['gzip br', undefined],
  ['br, "gzip"', undefined],
  ['br; q=x, gzip', undefined],
];

describe('Accept-Encoding', () => {
  for (const [field, coding] of PREFERRED) {
    it(`"${field}" selects ${coding ?? 'no coding'}`, () => {
      expect(preferredCoding(field)).to.equal(coding);
    });
  }

  it('is parsed quickly, even if it is very long', () => {
    const long = `${'gzip;q=0.1,'.repeat(1_000)}${' '.repeat(16_000)}x${';'.repeat(16_000)}`;
    expect(preferredCoding(long)).to.equal(undefined);
  });
});
