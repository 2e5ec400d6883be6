import { expect } from 'chai';
import { Latencies, table } from '../../../scripts/statistics.js';

describe('the statistics of scripts', () => {
  it('compute quantiles of few and of many samples', () => {
    const latencies = new Latencies();
    expect(latencies.quantile(0.5)).to.deep.equal(Number.NaN);
    for (let sample = 100; sample >= 1; sample--) latencies.add(sample);
    expect([0.5, 0.99, 1].map((part) => latencies.quantile(part))).to.deep.equal([50, 99, 100]);
    const few = new Latencies();
    for (const sample of [30, 10, 20]) few.add(sample);
    expect(few.quantile(0.5)).to.equal(20);
  });

  it('print a Markdown table', () => {
    expect(table(['list', 'p50'], [['first page', '1.00']]).split('\n')).to.deep.equal([
      '| list       |  p50 |',
      '|------------|-----:|',
      '| first page | 1.00 |',
    ]);
  });
});
