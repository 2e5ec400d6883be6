import { expect } from 'chai';
import { parseInstant } from '#src/domain/instant.js';
import { list } from '../../support/list.js';

describe('parseInstant', () => {
  const VALID: [number, string[]][] = [
    [0, list`1970-01-01T00:00:00Z  1970-01-01t00:00:00z  1970-01-01T00:00:00-00:00  1970-01-01T00:00:00+0000`],
    [
      0,
      list`1970-01-01T01:30:00+01:30  1969-12-31T22:00:00-02:00  1969-12-31T22:00:00-0200  1970-01-01T23:59:00+23:59`,
    ],
    [100, list`1970-01-01T00:00:00.1Z`],
    [120, list`1970-01-01T00:00:00.12Z`],
    [123, list`1970-01-01T00:00:00.123Z  1970-01-01T00:00:00.123000000000000000000Z`],
    [500, list`1970-01-01T05:30:00.5+0530`],
    [59_999, list`1970-01-01T00:00:59.999Z`],
    [60_000, list`1970-01-01T00:00:60Z`],
    [60_500, list`1970-01-01T00:00:60.5Z`],
    [Date.UTC(2024, 1, 29), list`2024-02-29T00:00:00Z`],
    [Date.UTC(2000, 1, 29, 12, 34, 56), list`2000-02-29T12:34:56Z`],
    [253_402_300_799_999, list`9999-12-31T23:59:59.999Z`],
    [-62_135_596_800_000, list`0001-01-01T00:00:00Z`],
    [-62_167_219_200_000, list`0000-01-01T00:00:00Z`],
  ];
  for (const [instant, texts] of VALID)
    for (const text of texts)
      it(`reads ${text}`, () => {
        expect(parseInstant(text)).to.equal(instant);
      });

  it('keeps a time between two milliseconds between them, for any number of digits', () => {
    for (const digits of ['1234', '123000000000000000000000000000001', `123${'0'.repeat(5_000)}9`, '1239999999']) {
      const instant = parseInstant(`2026-01-31T12:00:00.${digits}Z`) ?? Number.NaN;
      const before = Date.UTC(2026, 0, 31, 12, 0, 0, 123);
      expect(instant, digits)
        .to.be.greaterThan(before)
        .and.lessThan(before + 1);
    }
  });

  for (const text of [
    ...list`0  1700000000000  now  2024-01-01  2024-01-01T00:00:00  2024-01-01 00:00:00Z  2024-01-01T00:00:00 02:00`,
    ...list`2024-01-01T00:00Z  2024-01-01T00:00:00.Z  2024-01-01T00:00:00,5Z  2024-01-01T00:00:00+02`,
    ...list`2024-01-01T00:00:00+02:0  2024-01-01T00:00:00+020  2024-01-01T00:00:00+2400  2024-01-01T00:00:00+2:00`,
    ...list`2024-01-01T00:00:00+24:00  2024-01-01T00:00:00+02:60  2024-01-01T24:00:00Z  2024-01-01T00:60:00Z`,
    ...list`2024-01-01T00:00:61Z  2024-00-01T00:00:00Z  2024-13-01T00:00:00Z  2024-01-00T00:00:00Z`,
    ...list`2024-01-32T00:00:00Z  2023-02-29T00:00:00Z  1900-02-29T00:00:00Z  2024-04-31T00:00:00Z`,
    ...list`24-01-01T00:00:00Z  +002024-01-01T00:00:00Z  -2024-01-01T00:00:00Z  ２０２４-01-01T00:00:00Z`,
    '',
    '2024-01-01T00:00:00Z ',
    ' 2024-01-01T00:00:00Z',
    '2024-01-01T00:00:00Z\n',
  ])
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(parseInstant(text)).to.equal(undefined);
    });
});
