import { expect } from 'chai';
import fc from 'fast-check';
import { amountOf, currencyDigits, decimalOf } from '#src/domain/money.js';
import { list } from '../../support/list.js';

describe('an amount of money', () => {
  const currency = fc.constantFrom('EUR', 'JPY', 'KWD', 'CLF', 'XYZ', 'constructor');

  it('has the digits of ISO 4217, and two for a currency that it lacks', () => {
    expect(['EUR', 'HUF', 'JPY', 'ISK', 'KWD', 'IQD', 'CLF', 'XYZ'].map(currencyDigits)).to.deep.equal([
      2, 2, 0, 0, 3, 3, 4, 2,
    ]);
  });

  it('is shown with exactly these digits', () => {
    expect(decimalOf(1_990, 'EUR')).to.equal('19.90');
    expect(decimalOf(5, 'EUR')).to.equal('0.05');
    expect(decimalOf(0, 'KWD')).to.equal('0.000');
    expect(decimalOf(1_999, 'JPY')).to.equal('1999');
  });

  it('is read with at most these digits', () => {
    expect(['19.99', '19.9', '19', '0', '019'].map((text) => amountOf(text, 'EUR'))).to.deep.equal([
      1_999, 1_990, 1_900, 0, 1_900,
    ]);
    expect(amountOf('1999', 'JPY')).to.equal(1_999);
    expect(amountOf('19.999', 'KWD')).to.equal(19_999);
  });

  for (const text of [...list`19.  .99  -1  +1  1e2  19,99  1,999.00  19.999  0x1  ١٩  90071992547409.92`, '', ' 19'])
    it(`is not read from ${JSON.stringify(text)}`, () => {
      expect(amountOf(text, 'EUR')).to.equal(undefined);
    });

  it('is the same after it is shown and read, however large it is', () => {
    fc.assert(
      fc.property(fc.nat({ max: Number.MAX_SAFE_INTEGER }), currency, (amount, code) => {
        expect(amountOf(decimalOf(amount, code), code)).to.equal(amount);
      }),
    );
  });
});
