import { expect } from 'chai';
import { PrometheusMetrics } from '#src/adapters/outbound/prometheus/metrics.js';

describe('PrometheusMetrics', () => {
  it('shows each counter from the start, and counts each increment', async () => {
    const metrics = new PrometheusMetrics();
    expect(await metrics.text()).to.match(/^rate_limiter_fallback_total 0$/m);
    metrics.increment('rate_limiter_fallback_total');
    metrics.increment('rate_limiter_fallback_total');
    expect(await metrics.text()).to.match(/^rate_limiter_fallback_total 2$/m);
    expect(metrics.contentType).to.equal('text/plain; version=0.0.4; charset=utf-8');
  });

  it('includes the metrics of the process', async () => {
    expect(await new PrometheusMetrics().text()).to.match(/^process_resident_memory_bytes \d+$/m);
  });

  it('keeps the counters of each instance apart', async () => {
    new PrometheusMetrics().increment('rate_limiter_fallback_total');
    expect(await new PrometheusMetrics().text()).to.match(/^rate_limiter_fallback_total 0$/m);
  });
});
