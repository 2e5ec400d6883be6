import { expect } from 'chai';
import {
  amountText,
  decimalMark,
  decimalsIn,
  instantOf,
  isPrice,
  labelOf,
  localOf,
  numberText,
  priceText,
  timeText,
  typedAmount,
  typedNumber,
  typedText,
} from '#packages/pages/console/formats.js';

/** The digits of a text, whatever the locale of the machine puts between them. */
const digits = (text: string) => text.replace(/\D/g, '');

describe('the texts of values in the console', () => {
  for (const [amount, currency, text] of [
    [4990, 'EUR', /^\D*49\D90\D*$/],
    [4990, 'KWD', /^\D*4\D990\D*$/],
    [4990, 'JPY', /^\D*4\D?990\D*$/],
    [5, 'EUR', /^\D*0\D05\D*$/],
    [0, 'EUR', /^\D*0\D00\D*$/],
    // Browsers show none of the digits of ISO 4217.
    [4990, 'HUF', /^\D*49\D90\D*$/],
    [4990, 'IQD', /^\D*4\D990\D*$/],
    [4990, 'CLF', /^\D*0\D4990\D*$/],
    [1, '??', /^0\.01 \?\?$/],
  ] as const)
    it(`are prices with the digits of their currencies: ${amount} ${currency}`, () => {
      expect(priceText({ amount, currency })).to.match(text);
    });

  it('are exact for the largest amounts', () => {
    const price = { amount: Number.MAX_SAFE_INTEGER, currency: 'EUR' };
    expect(digits(priceText(price))).to.equal('9007199254740991');
  });

  it('are prices only for an amount and a currency', () => {
    expect(isPrice({ amount: 1, currency: 'EUR' })).to.equal(true);
    for (const other of [{ amount: 1 }, { amount: '1', currency: 'EUR' }, { amount: 1.5, currency: 'EUR' }, null])
      expect(isPrice(other)).to.equal(false);
  });

  it('are amounts that can be typed as they are shown', () => {
    for (const currency of ['EUR', 'JPY', 'KWD', 'CLF', 'HUF', ''])
      for (const amount of [0, 1, 99, 100, 4990, 123_456_789, Number.MAX_SAFE_INTEGER])
        expect(typedAmount(amountText(amount, currency), currency), `${amount} ${currency}`).to.equal(amount);
  });

  const outcome = (read: ReturnType<typeof typedAmount>) => (typeof read === 'number' ? read : read.code);

  it('read an amount as people write it', () => {
    for (const [text, currency, amount] of [
      ['4.99', 'EUR', 499],
      [' 4,9 ', 'EUR', 490],
      ['0,29', 'EUR', 29],
      ['34.0000', 'EUR', 3400],
      ['1,000.50', 'EUR', 100_050],
      ['1.000,50', 'EUR', 100_050],
      ["1'000.50", 'EUR', 100_050],
      ['1 000', 'EUR', 100_000],
      ['1.000.000', 'EUR', 100_000_000],
      [amountText(1005, 'KWD'), 'KWD', 1005],
      [amountText(1005, 'KWD').replace(decimalMark(), (mark) => (mark === '.' ? ',' : '.')), 'KWD', 'ambiguous'],
      ['4990', 'JPY', 4990],
      ['4.9', 'JPY', 'not_a_price'],
      ['4.999', 'EUR', 'not_a_price'],
      ['1.000', 'EUR', 'ambiguous'],
      ['1,000', 'JPY', 'ambiguous'],
      ['90071992547409.92', 'EUR', 'too_precise'],
      ['-1', 'EUR', 'not_a_price'],
      ['1e2', 'EUR', 'not_a_price'],
      ['€4.99', 'EUR', 'not_a_price'],
      ['', 'EUR', 'not_a_price'],
    ] as const)
      expect(outcome(typedAmount(text, currency)), `${text} ${currency}`).to.equal(amount);
  });

  it('read a number as people write it, or report both that it could be', () => {
    for (const [text, ...readings] of [
      ['1250', '1250'],
      [' -7,5 ', '-7.5'],
      ['−7.5', '-7.5'],
      ['1.000', '1000', '1.000'],
      ['12,345', '12345', '12.345'],
      ['0.500', '0.500'],
      ['1234.567', '1234.567'],
      ['1.0000', '1.0000'],
      ['1 000', '1000'],
      ['1\u202f000,5', '1000.5'],
      ["1'000'000", '1000000'],
      ['1.000.000', '1000000'],
      ['1,000,000.000', '1000000.000'],
      ['1.000,500', '1000.500'],
    ] as const)
      expect(decimalsIn(text), text).to.deep.equal(readings);
    for (const text of [
      '',
      '.5',
      '5.',
      '+5',
      '007',
      '1.00.000',
      '1,00,000',
      '1 00',
      '1.000 000',
      '1.000.50',
      'x',
      '0x1',
    ])
      expect(decimalsIn(text), text).to.deep.equal([]);
  });

  it('keep every digit of an integer', () => {
    const integer = (text: string) => outcome(typedNumber(text, true));
    expect(['1250', ' 7 ', '-5', '1 000', '1.000.000'].map(integer)).to.deep.equal([1250, 7, -5, 1000, 1_000_000]);
    for (const text of ['1.000', '1,000', '1.500']) expect(integer(text), text).to.equal('ambiguous');
    for (const text of ['1e3', '1,5', '100.0', '+5', 'x', '']) expect(integer(text), text).to.equal('not_an_integer');
    expect(integer('9007199254740993')).to.equal('too_precise');
  });

  it('show a number so that it is read as it was', () => {
    const { MAX_SAFE_INTEGER, MIN_VALUE, MAX_VALUE } = Number;
    for (const number of [0, 7, -7.5, 1.125, -12.345, 0.125, 1234.567, 1000, MAX_SAFE_INTEGER, MIN_VALUE, MAX_VALUE])
      expect(typedNumber(typedText(number)), `${number}`).to.equal(number);
    expect(typedText(1.125)).to.match(/^1\D1250$/);
  });

  it('tell any two numbers apart', () => {
    for (const [number, other] of [
      [0.0001, 0.0002],
      [12345.67891, 12345.67892],
      [0.1 + 0.2, 0.3],
      [0, Number.MIN_VALUE],
    ] as const)
      expect(numberText(number), `${number}`).to.not.equal(numberText(other));
    expect(numberText(0.1)).to.equal(typedText(0.1));
  });

  it('are local times, or what the record has', () => {
    expect(timeText('2026-01-31T12:00:00.000Z')).to.include('2026');
    expect(timeText('soon')).to.equal('soon');
  });

  it('keep an instant through a field for local times', () => {
    for (const instant of ['2026-01-31T12:34:56.000Z', '2026-07-31T23:59:59.000Z'])
      expect(instantOf(localOf(instant))).to.equal(instant);
    expect(localOf('soon')).to.equal('');
  });

  it('are labels of fields', () => {
    expect(['id', 'createdAt', 'price.amount', 'shelfLife.days'].map(labelOf)).to.deep.equal([
      'ID',
      'Created',
      'Price',
      'Shelf life days',
    ]);
  });
});
