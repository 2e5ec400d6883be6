import { expect } from 'chai';
import {
  amountText,
  instantOf,
  isPrice,
  labelOf,
  localOf,
  priceText,
  timeText,
  typedAmount,
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

  for (const [text, currency, amount] of [
    ['4.99', 'EUR', 499],
    [' 4.9 ', 'EUR', 490],
    ['4', 'EUR', 400],
    ['0.29', 'EUR', 29],
    ['1.005', 'KWD', 1005],
    ['4990', 'JPY', 4990],
    ['4.999', 'EUR', undefined],
    ['1.000', 'EUR', undefined],
    ['1.0', 'JPY', undefined],
    ['4.9', 'JPY', undefined],
    ['1,000.50', 'EUR', undefined],
    ['1.000.50', 'EUR', undefined],
    ["1'000", 'EUR', undefined],
    ['1 000', 'EUR', undefined],
    ['-1', 'EUR', undefined],
    ['1e2', 'EUR', undefined],
    ['4.', 'EUR', undefined],
    ['€4.99', 'EUR', undefined],
    ['', 'EUR', undefined],
  ] as const)
    it(`read ${JSON.stringify(text)} ${currency} as ${amount}`, () => {
      expect(typedAmount(text, currency)).to.equal(amount);
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
    expect(['id', 'sku', 'url', 'gtin', 'createdAt', 'price.amount', 'userId', 'name'].map(labelOf)).to.deep.equal([
      'ID',
      'SKU',
      'URL',
      'GTIN',
      'Created at',
      'Price amount',
      'User ID',
      'Name',
    ]);
  });
});
