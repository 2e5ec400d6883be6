import { expect } from 'chai';
import { instantOf, labelOf, localOf, priceText, timeText } from '#browser/console/formats.js';

/** The digits of a text, whatever the locale of the machine puts between them. */
const digits = (text: string) => text.replace(/\D/g, '');

describe('the texts of values in the console', () => {
  it('are prices with the minor units of their currencies', () => {
    expect(digits(priceText(4990, 'EUR'))).to.equal('4990');
    expect(priceText(4990, 'EUR')).to.match(/49\D90/);
    expect(priceText(4990, 'KWD')).to.match(/4\D990/);
    expect(digits(priceText(4990, 'JPY'))).to.equal('4990');
    expect(priceText(5, 'EUR')).to.match(/0\D05/);
    expect(priceText(0, 'EUR')).to.match(/0\D00/);
  });

  it('are exact for the largest amounts', () => {
    expect(digits(priceText(9_007_199_254_740_991, 'EUR'))).to.equal('9007199254740991');
  });

  it('are what the record has if the currency is none', () => {
    expect(priceText(1, '??')).to.equal('1 ??');
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
    expect(['id', 'sku', 'createdAt', 'price.amount', 'userId', 'name'].map(labelOf)).to.deep.equal([
      'ID',
      'SKU',
      'Created at',
      'Price amount',
      'User ID',
      'Name',
    ]);
  });
});
