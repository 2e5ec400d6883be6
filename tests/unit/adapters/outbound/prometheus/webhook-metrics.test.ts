import { expect } from 'chai';
import { PrometheusMetrics } from '#src/adapters/outbound/prometheus/metrics.js';
import { WebhookMetrics } from '#src/adapters/outbound/prometheus/webhook-metrics.js';
import { FakeClock } from '../../../../support/fakes.js';
import { Scrape } from '../../../../support/scrape.js';

describe('the metrics of webhooks', () => {
  it('count pauses by reason from 0 on, so that the first one is an increase', async () => {
    const metrics = new PrometheusMetrics(new FakeClock());
    const webhooks = new WebhookMetrics(metrics, () => 1_500);
    const pauses = async () => {
      const { series } = new Scrape(await metrics.text());
      return series
        .filter(({ name }) => name === 'webhook_pauses_total')
        .map(({ labels: { reason }, value }) => [reason, value]);
    };
    expect(await pauses()).to.deep.equal([
      ['expired', 0],
      ['gone', 0],
      ['key', 0],
      ['damaged', 0],
    ]);
    webhooks.paused('gone');
    expect((await pauses())[1]).to.deep.equal(['gone', 1]);
  });
});
