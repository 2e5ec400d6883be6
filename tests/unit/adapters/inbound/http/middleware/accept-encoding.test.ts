import { expect } from 'chai';
import { preferredCoding } from '#src/adapters/inbound/http/middleware/negotiation.js';
import { list } from '../../../../../support/list.js';

const PREFERRED = {
  br: list`br  gzip, br  gzip, deflate, br, zstd  br;q=0.5, gzip;q=0.5`,
  gzip: [
    ...list`gzip  GZip  gzip;q=1.0, br;q=0.999  gzip ; q=0.1 , deflate  gzip;Q=0.1  *  *;q=0.1  gzip;q=0.5, *;q=0`,
    ...list`br;q=0, *  br;q=0.1, *  identity;q=0, gzip;q=0.001  identity, gzip`,
    ',gzip,, ',
  ],
  none: [
    ...list`deflate, zstd  gzip;q=0, *  gzip;q=0  *;q=0  identity  identity;q=0  identity, gzip;q=0.9  gzip;q=0.5, *;q=0.9`,
    ...list`gzip;q=2  gzip;q=-1  gzip;q=0.1234  gzip;q=  gzip;q  gzip;level=9  gzip br  br, "gzip"  br; q=x, gzip`,
    '',
  ],
};

describe('Accept-Encoding', () => {
  for (const [coding, fields] of Object.entries(PREFERRED))
    for (const field of fields)
      it(`"${field}" selects ${coding}`, () => {
        expect(preferredCoding(field) ?? 'none').to.equal(coding);
      });

  it('is parsed quickly, even if it is very long', () => {
    const long = `${'gzip;q=0.1,'.repeat(1_000)}${' '.repeat(16_000)}x${';'.repeat(16_000)}`;
    expect(preferredCoding(long)).to.equal(undefined);
  });
});
