import { expect } from 'chai';
import { DEFINITIONS } from '#src/adapters/outbound/prometheus/definitions.js';
import { PrometheusMetrics } from '#src/adapters/outbound/prometheus/metrics.js';
import type { RateState } from '#src/application/ports/rate-limiter.js';
import { unavailable } from '#src/domain/errors.js';
import { FakeClock } from '../../../../support/fakes.js';
import { REQUEST_ENTRY } from '../../../../support/request-entry.js';
import { Scrape } from '../../../../support/scrape.js';

describe('PrometheusMetrics', () => {
  let clock: FakeClock;
  let metrics: PrometheusMetrics;
  const scrape = async () => new Scrape(await metrics.text());
  beforeEach(() => {
    clock = new FakeClock();
    metrics = new PrometheusMetrics(clock);
  });

  it('shows a counter from the start, and counts each increment', async () => {
    expect((await scrape()).text).to.match(/^rate_limiter_fallback_total 0$/m);
    metrics.increment('rate_limiter_fallback_total');
    metrics.increment('rate_limiter_fallback_total');
    expect((await scrape()).text).to.match(/^rate_limiter_fallback_total 2$/m);
    expect(metrics.contentType).to.equal('text/plain; version=0.0.4; charset=utf-8');
  });

  it('counts pauses of webhooks by reason from 0 on, so that the first one is an increase', async () => {
    const pauses = async () =>
      (await scrape()).find('webhook_pauses_total').map(({ labels, value }) => [labels['reason'], value]);
    const none = ['expired', 'gone', 'key', 'damaged'].map((reason) => [reason, 0]);
    expect(await pauses()).to.deep.equal(none);
    metrics.increment('webhook_pauses_total', 'gone');
    expect(await pauses()).to.deep.equal(none.with(1, ['gone', 1]));
  });

  it('includes the metrics of the process, all of them numbers', async () => {
    const { text } = await scrape();
    expect(text).to.match(/^process_resident_memory_bytes \d+$/m);
    expect(text).to.match(/^nodejs_eventloop_lag_p99_seconds \S+$/m);
    expect(text).to.not.match(/NaN|null|undefined/i);
  });

  it('keeps the counters of each instance apart', async () => {
    new PrometheusMetrics(clock).increment('rate_limiter_fallback_total');
    expect((await scrape()).sum('rate_limiter_fallback_total')).to.equal(0);
  });

  it('counts a duration in the bucket of its bound and in all larger ones', async () => {
    const name = 'http_server_request_duration_seconds';
    for (const durationMs of [5, 5.001, 10_000, 10_001]) metrics.request().end({ ...REQUEST_ENTRY, durationMs });
    const report = await scrape();
    const counts = report.find(`${name}_bucket`).map(({ labels, value }) => [labels['le'], value]);
    expect(counts).to.have.length(15);
    expect(Object.fromEntries(counts)).to.include({ '0.005': 1, '0.01': 2, '7.5': 2, '10': 3, '+Inf': 4 });
    expect(report.sum(`${name}_count`)).to.equal(4);
    expect(report.sum(`${name}_sum`)).to.be.closeTo(20.011_001, 1e-6);
    expect(report.find(`${name}_count`)[0]?.labels).to.deep.equal({
      http_request_method: 'GET',
      http_route: '/v1/products/{id}',
      http_response_status_code: '200',
    });
  });

  it('has no status for a request whose client left, and names an unknown method _OTHER', async () => {
    metrics.request();
    metrics.request().end({ ...REQUEST_ENTRY, method: 'FROB', status: undefined });
    const report = await scrape();
    expect(report.find('http_server_request_duration_seconds_count')[0]?.labels).to.deep.equal({
      http_request_method: '_OTHER',
      http_route: '/v1/products/{id}',
    });
    expect(report.sum('http_server_active_requests')).to.equal(1);
  });

  it('counts versions, refused credentials and replays', async () => {
    for (const entry of [
      { replays: 2 },
      { isDeprecated: true },
      { version: 2, errorCode: 'token_expired' },
      { version: undefined, errorCode: 'not_found' },
    ])
      metrics.request().end({ ...REQUEST_ENTRY, ...entry });
    const report = await scrape();
    const versions = (api_version: string, deprecated: string) =>
      report.sum('api_requests_total', { api_version, deprecated });
    expect([versions('1', 'false'), versions('1', 'true'), versions('2', 'false')]).to.deep.equal([1, 1, 1]);
    expect(report.sum('authentication_failures_total')).to.equal(1);
    expect(report.sum('authentication_failures_total', { error_code: 'token_expired' })).to.equal(1);
    expect(report.sum('idempotent_replays_total')).to.equal(2);
  });

  it('measures calls of the store, with the code of their error', async () => {
    const call = { system: 'sqlite', operation: 'find', collection: 'products' };
    for (const error of [undefined, unavailable('The store is away.'), new TypeError('a secret')]) {
      const end = metrics.storeCall(call);
      clock.running += 2_000;
      end(error);
    }
    const report = await scrape();
    const counts = report.find('db_client_operation_duration_seconds_count');
    expect(counts.map(({ labels }) => labels['error_type'])).to.deep.equal([undefined, 'unavailable', '_OTHER']);
    expect(report.sum('db_client_operation_duration_seconds_sum')).to.equal(6);
    expect(report.sum('db_client_operation_duration_seconds_bucket', { le: '1' })).to.equal(0);
    expect(report.text).to.not.include('secret');
  });

  it('counts what a rate limiter decides, and passes its decisions on', async () => {
    const states: RateState[] = [true, false, true, false].map((allowed) => ({
      allowed,
      remaining: 0,
      resetSeconds: 1,
    }));
    const policy = { name: 'default', quota: 1, windowSeconds: 1 };
    const next = () => states.shift() as RateState;
    const limiter = metrics.counted({ policy, consume: next, peek: async () => next() });
    expect(limiter.policy).to.equal(policy);
    expect(limiter.consume('a')).to.include({ allowed: true });
    expect(limiter.consume('a')).to.include({ allowed: false });
    expect(await limiter.peek('a')).to.include({ allowed: true });
    expect(await limiter.peek('a')).to.include({ allowed: false });
    const report = await scrape();
    const count = (decision: string) => report.sum('rate_limit_decisions_total', { policy: 'default', decision });
    expect([count('allowed'), count('limited')]).to.deep.equal([1, 2]);
  });

  it('reads other values at every scrape, and omits those that are no numbers', async () => {
    let value = 1;
    metrics.collect('work_waiting', () => [
      { labels: { work: 'imports' }, value },
      { labels: { work: 'exports' }, value: Number.NaN },
    ]);
    expect((await scrape()).find('work_waiting')).to.deep.equal([
      { name: 'work_waiting', labels: { work: 'imports' }, value: 1 },
    ]);
    value = 2;
    expect((await scrape()).sum('work_waiting')).to.equal(2);
  });

  it('declares each of its metrics with type and help', async () => {
    for (const name of Object.keys(DEFINITIONS) as (keyof typeof DEFINITIONS)[])
      if (DEFINITIONS[name].type !== 'histogram') metrics.collect(name as 'work_waiting', () => []);
    const { text } = await scrape();
    for (const [name, { type, help }] of Object.entries(DEFINITIONS))
      expect(text).to.include(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
  });
});
