import { expect } from 'chai';
import { GroupMetrics, MetricsServer } from '#src/adapters/outbound/cluster/metrics.js';
import type { Channel } from '#src/adapters/outbound/cluster/rate-limits.js';
import { PrometheusMerger } from '#src/adapters/outbound/prometheus/merger.js';
import type { MetricFigures } from '#src/application/ports/metrics.js';
import { JoinedChannels } from '../../../../contract/joined-channels.js';
import { expectAppError } from '../../../../support/expect-refusal.js';
import { Scrape } from '../../../../support/scrape.js';

/** A busy machine may stop this process for some time between two messages. */
const COLLECT_MS = 250;

type Workers = [Worker, Worker, ...Worker[]];

/** A worker whose figures a test sets. */
class Worker {
  requests = 0;
  active = 0;
  readonly channels = new JoinedChannels();
  readonly report: GroupMetrics;
  end: () => void = () => {};
  readonly errors: unknown[] = [];
  figuresOf = async (): Promise<readonly MetricFigures[]> => this.figures();

  constructor(server: MetricsServer, reportMs?: number) {
    const own = { contentType: 'text/plain', figures: () => this.figuresOf() };
    const onError = (error: unknown) => void this.errors.push(error);
    this.report = new GroupMetrics(own, this.channels.worker, onError, reportMs);
    const ended = new Promise<void>((resolve) => (this.end = resolve));
    server.serve(this.channels.primary, ended);
  }

  scrape = async () => new Scrape(await this.report.text());

  figures(): readonly MetricFigures[] {
    const figure = (name: string, type: string, aggregator: string, value: number): MetricFigures => ({
      ...{ name, help: 'Help.', type, aggregator },
      values: [{ labels: { route: '/a' }, value }],
    });
    return [
      figure('requests_total', 'counter', 'sum', this.requests),
      figure('active_requests', 'gauge', 'sum', this.active),
      figure('lag_seconds', 'gauge', 'max', this.active),
      {
        ...{ name: 'duration_seconds', help: 'Help.', type: 'histogram', aggregator: 'sum' },
        values: [
          { metricName: 'duration_seconds_bucket', labels: { le: '+Inf' }, value: this.requests },
          { metricName: 'duration_seconds_sum', labels: {}, value: this.requests },
          { metricName: 'duration_seconds_count', labels: {}, value: this.requests },
        ],
      },
    ];
  }
}

describe('the metrics of a group of workers', () => {
  let server: MetricsServer;
  let workers: [Worker, Worker];
  const own = {
    figures: async (): Promise<readonly MetricFigures[]> => [
      { name: 'process_memory', help: '', type: 'gauge', aggregator: 'sum', values: [{ labels: {}, value: 5 }] },
      { name: 'other', help: '', type: 'gauge', aggregator: 'sum', values: [{ labels: {}, value: 5 }] },
    ],
  };
  beforeEach(() => {
    server = new MetricsServer({ own, merger: new PrometheusMerger(), onError: () => {} }, COLLECT_MS);
    workers = [new Worker(server), new Worker(server)];
    Object.assign(workers[0], { requests: 3, active: 1 });
    Object.assign(workers[1], { requests: 4, active: 2 });
  });

  it('are the same from each worker: sums, or the worst', async () => {
    for (const worker of workers) {
      const report = await worker.scrape();
      expect(report.sum('requests_total', { route: '/a' })).to.equal(7);
      expect(report.sum('active_requests')).to.equal(3);
      expect(report.sum('lag_seconds')).to.equal(2);
      expect(report.sum('duration_seconds_bucket', { le: '+Inf' })).to.equal(7);
      expect(report.sum('duration_seconds_count')).to.equal(7);
      expect([report.sum('worker_processes'), report.sum('worker_processes_reporting')]).to.deep.equal([2, 2]);
    }
  });

  it('include those of the process of the primary', async () => {
    const report = await workers[0].scrape();
    expect([report.sum('process_memory'), report.find('other').length]).to.deep.equal([5, 0]);
  });

  it('keep the counts of workers that ended, but not what those had in progress', async () => {
    const [first, second] = workers;
    await first.scrape();
    for (let restarts = 1; restarts <= 3; restarts++) {
      const next = new Worker(server);
      Object.assign(next, { requests: 10, active: 1 });
      expect((await first.scrape()).sum('requests_total')).to.equal(7 + 10 * restarts);
      next.end();
    }
    second.end();
    const report = await first.scrape();
    expect(report.sum('requests_total')).to.equal(37);
    expect(report.sum('duration_seconds_count')).to.equal(37);
    expect(report.sum('active_requests')).to.equal(1);
    expect(report.sum('worker_processes')).to.equal(1);
  });

  it('have the last figures of a worker that is busy', async () => {
    const [first, second] = workers;
    await first.scrape();
    second.requests = 50;
    second.channels.hold();
    const report = await first.scrape();
    expect(report.sum('requests_total')).to.equal(7);
    expect([report.sum('worker_processes'), report.sum('worker_processes_reporting')]).to.deep.equal([2, 1]);
    second.channels.release();
    expect((await first.scrape()).sum('requests_total')).to.equal(53);
  });

  it('count a worker once that ends while the primary reads its own figures', async () => {
    const figures = async () => {
      second.end();
      await new Promise(setImmediate);
      return own.figures();
    };
    const during = new MetricsServer({ own: { figures }, merger: new PrometheusMerger(), onError: () => {} });
    const [first, second] = [new Worker(during), new Worker(during)];
    Object.assign(second, { requests: 4 });
    const report = await first.scrape();
    expect(report.sum('requests_total')).to.equal(4);
    expect(report.sum('worker_processes')).to.equal(1);
  });

  it('keep the counts of a worker that ends while those of earlier ones are added up', async () => {
    class SlowMerger extends PrometheusMerger {
      override async merge(processes: readonly (readonly MetricFigures[])[]) {
        const merged = await super.merge(processes);
        second.end();
        await new Promise(setImmediate);
        return merged;
      }
    }
    const during = new MetricsServer({ own, merger: new SlowMerger(), onError: () => {} });
    const [first, second, ...earlier] = Array.from({ length: 4 }, () => new Worker(during)) as Workers;
    Object.assign(second, { requests: 4 });
    await first.scrape();
    for (const worker of earlier) worker.end();
    await first.scrape();
    expect((await first.scrape()).sum('requests_total')).to.equal(4);
  });

  it('do not wait for a worker that dies while they are collected', async () => {
    const patient = new MetricsServer({ own, merger: new PrometheusMerger(), onError: () => {} }, 2 ** 30);
    const [first, second] = [new Worker(patient), new Worker(patient)];
    second.channels.hold();
    const report = first.scrape();
    setTimeout(second.end, 20);
    expect((await report).sum('worker_processes')).to.equal(1);
  });

  it('are collected once for concurrent scrapes', async () => {
    let calls = 0;
    workers[1].figuresOf = async () => {
      calls++;
      return workers[1].figures();
    };
    const reports = await Promise.all(Array.from({ length: 20 }, () => workers[0].scrape()));
    for (const report of reports) expect(report.sum('requests_total')).to.equal(7);
    expect(calls).to.equal(1);
  });

  it('are unavailable if the primary makes no report in time, or fails', async () => {
    const silent: Channel = { send: () => {}, receive: () => {} };
    const alone = new GroupMetrics({ contentType: '', figures: async () => [] }, silent, () => {}, 20);
    await expectAppError(alone.text(), 'unavailable');
    const errors: unknown[] = [];
    const failing = new MetricsServer({
      own: { figures: () => Promise.reject(new Error('no memory')) },
      merger: new PrometheusMerger(),
      onError: (error) => void errors.push(error),
    });
    await expectAppError(new Worker(failing).report.text(), 'unavailable');
    expect(errors).to.have.length(1);
  });

  it('name the error of a worker that cannot tell its figures, and do without it', async () => {
    const [first, second] = workers;
    second.figuresOf = () => Promise.reject(new Error('no disk'));
    expect((await first.scrape()).sum('requests_total')).to.equal(3);
    expect(String(second.errors[0])).to.include('no disk');
  });
});
