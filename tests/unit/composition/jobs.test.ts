import { expect } from 'chai';
import type { Tracing } from '#src/adapters/outbound/opentelemetry/tracing.js';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { SqliteUsageStore } from '#src/adapters/outbound/sqlite/records/small-tables.js';
import type { DerivedDataBuild } from '#src/application/maintenance/derived-data-build.js';
import { compose } from '#src/composition/application.js';
import { PeriodicJob, serviceJobs } from '#src/composition/jobs.js';
import { loadSettings } from '#src/config/settings.js';
import { createService, Service } from '#src/process/service.js';
import { yieldToEventLoop } from '#src/shared/promises.js';
import { RecordingLogger } from '../../support/fakes.js';
import { HttpClient } from '../../support/http-client.js';
import { FIRST_KEY } from '../../support/in-process-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** Each run lasts until the test ends it. */
class Runs {
  readonly started: { isOver: () => boolean; end: () => void; fail: (error: Error) => void }[] = [];
  private report = () => {};

  readonly job = (isOver: () => boolean): Promise<void> =>
    new Promise((end, fail) => {
      this.started.push({ isOver, end, fail });
      this.report();
    });

  /** Waits until the nth run (from 1) has started. */
  async nth(n: number) {
    while (this.started.length < n) await new Promise<void>((resolve) => (this.report = resolve));
    return this.started[n - 1] as Runs['started'][number];
  }
}

describe('PeriodicJob', () => {
  const LONG_MS = 3_600_000;
  let runs: Runs;
  let logger: RecordingLogger;
  let job: PeriodicJob;

  const make = (firstMs: number, intervalMs: number, runsAtStop = false) => {
    runs = new Runs();
    logger = new RecordingLogger();
    job = new PeriodicJob({ run: runs.job, firstMs, intervalMs, runsAtStop, failure: 'it failed' }, logger);
  };
  const someTime = async () => {
    for (let turn = 0; turn < 50; turn++) await yieldToEventLoop();
  };

  it('runs first after a delay, and then at each interval', async () => {
    make(1, 1);
    await someTime();
    expect(runs.started, 'before the start').to.have.length(0);
    job.start();
    expect(runs.started, 'at the start').to.have.length(0);
    for (const n of [1, 2, 3]) (await runs.nth(n)).end();
    const stopped = job.stop();
    for (const { end } of runs.started) end();
    await stopped;
  });

  it('runs once at a time, even if it is started twice', async () => {
    make(1, 1);
    job.start();
    job.start();
    const first = await runs.nth(1);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(runs.started).to.have.length(1);
    const stopped = job.stop();
    first.end();
    await stopped;
  });

  it('stops in the middle of a run, and waits for the run to end', async () => {
    make(1, 1);
    job.start();
    const { isOver, end } = await runs.nth(1);
    expect(isOver()).to.equal(false);
    let hasStopped = false;
    const stopped = job.stop().then(() => (hasStopped = true));
    await someTime();
    expect([isOver(), hasStopped]).to.deep.equal([true, false]);
    end();
    await stopped;
    expect(runs.started).to.have.length(1);
  });

  it('stops immediately between two runs, and does not start again', async () => {
    make(LONG_MS, LONG_MS);
    job.start();
    await job.stop();
    job.start();
    await someTime();
    expect(runs.started).to.have.length(0);
  });

  it('logs the first of several failures, and runs again', async () => {
    make(1, 1);
    job.start();
    for (const n of [1, 2]) (await runs.nth(n)).fail(new Error('gone'));
    const third = await runs.nth(3);
    expect(logger.events).to.deep.equal(['it failed']);
    third.end();
    (await runs.nth(4)).fail(new Error('gone again'));
    const fifth = await runs.nth(5);
    const stopped = job.stop();
    fifth.end();
    await stopped;
    expect(logger.events).to.deep.equal(['it failed', 'it failed']);
  });

  it('runs once more when it is stopped, if it has started and its options say so', async () => {
    make(LONG_MS, LONG_MS, true);
    job.start();
    const stopped = job.stop();
    (await runs.nth(1)).fail(new Error('gone'));
    await stopped;
    expect([runs.started.length, logger.events]).to.deep.equal([1, ['it failed']]);
    make(LONG_MS, LONG_MS, true);
    await job.stop();
    expect(runs.started).to.have.length(0);
  });

  it('does not keep the process alive', async () => {
    make(LONG_MS, LONG_MS);
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    job.start();
    expect(timers()).to.equal(before);
    await job.stop();
  });
});

describe('a service', () => {
  const folder = temporaryFolder();
  const events: string[] = [];
  const restore: (() => void)[] = [];
  const settings = () =>
    loadSettings({
      PORT: '0',
      MANAGEMENT_PORT: '0',
      DATA_DIR: folder,
      LOG_LEVEL: 'silent',
      BOOTSTRAP_API_KEY: FIRST_KEY,
    });
  afterEach(() => {
    for (const undo of restore.splice(0)) undo();
  });

  /** Records when the method has returned. */
  const watch = (prototype: object, name: string, event: string) => {
    const methods = prototype as Record<string, (...args: unknown[]) => unknown>;
    const original = methods[name] as (...args: unknown[]) => unknown;
    restore.push(() => (methods[name] = original));
    methods[name] = async function (this: unknown, ...args: unknown[]) {
      const result = await original.apply(this, args);
      events.push(event);
      return result;
    };
  };

  it('runs its jobs while its store is open, and saves usage before it closes the store', async () => {
    watch(SqliteDatabase.prototype, 'open', 'the store is open');
    watch(PeriodicJob.prototype, 'start', 'a job has started');
    watch(PeriodicJob.prototype, 'stop', 'a job has stopped');
    watch(SqliteUsageStore.prototype, 'save', 'usage is saved');
    watch(SqliteDatabase.prototype, 'close', 'the store is closed');
    const service = await createService(settings());
    const { port, authorityFile } = await service.start();
    const client = new HttpClient(port, authorityFile, FIRST_KEY);
    await client.get('/products');
    client.close();
    await service.stop();
    expect(events).to.deep.equal([
      'the store is open',
      ...Array(4).fill('a job has started'),
      'a job has stopped',
      'usage is saved',
      'a job has stopped',
      'a job has stopped',
      'a job has stopped',
      'the store is closed',
    ]);
  });

  it('looks often enough for what an earlier release writes meanwhile that it is found within 10 seconds', async () => {
    const pauses: number[] = [];
    let derives = false;
    const derivedDataBuild = { run: async () => (derives = true) } as unknown as DerivedDataBuild;
    for (const job of serviceJobs({ ...(await compose(settings())), derivedDataBuild })) {
      await job.run(() => true).catch(() => {});
      if (derives) pauses.push(job.firstMs, job.intervalMs);
      derives = false;
    }
    expect(Math.max(...pauses)).to.be.within(1, 5_000);
  });

  it('sends its traces even if it cannot close its store', async () => {
    const parts = await compose(settings());
    const store = Object.assign(Object.create(parts.store), {
      close: async () => {
        await parts.store.close();
        throw new Error('the store cannot be closed');
      },
    });
    const sent: string[] = [];
    const tracing = { close: async () => void sent.push('traces') } as unknown as Tracing;
    const service = new Service({ ...parts, store, tracing });
    const error = await service.stop().catch((thrown: unknown) => thrown);
    expect(error).to.be.an.instanceOf(Error).with.property('message', 'the store cannot be closed');
    expect(sent).to.deep.equal(['traces']);
  });
});
