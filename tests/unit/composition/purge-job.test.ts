import { expect } from 'chai';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/database.js';
import { createService } from '#src/composition/container.js';
import { PurgeJob } from '#src/composition/purge-job.js';
import { loadSettings } from '#src/config/settings.js';
import { yieldToEventLoop } from '#src/shared/event-loop.js';
import { RecordingLogger } from '../../support/fakes.js';
import { FIRST_KEY } from '../../support/in-process-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** Each run lasts until the test ends it. */
class Purges {
  readonly started: { isOver: () => boolean; end: () => void; fail: (error: Error) => void }[] = [];
  private report = () => {};

  purgeExpired(isOver: () => boolean = () => false): Promise<void> {
    return new Promise((end, fail) => {
      this.started.push({ isOver, end, fail });
      this.report();
    });
  }

  /** Waits until the nth run (from 1) has started. */
  async nth(n: number) {
    while (this.started.length < n) await new Promise<void>((resolve) => (this.report = resolve));
    return this.started[n - 1] as Purges['started'][number];
  }
}

describe('PurgeJob', () => {
  const LONG_MS = 3_600_000;
  let purges: Purges;
  let logger: RecordingLogger;
  let job: PurgeJob;

  const make = (firstMs: number, intervalMs: number) => {
    purges = new Purges();
    logger = new RecordingLogger();
    job = new PurgeJob(purges, logger, { firstMs, intervalMs });
  };
  const someTime = async () => {
    for (let turn = 0; turn < 50; turn++) await yieldToEventLoop();
  };

  it('runs first after a delay, and then at each interval', async () => {
    make(1, 1);
    await someTime();
    expect(purges.started, 'before the start').to.have.length(0);
    job.start();
    expect(purges.started, 'at the start').to.have.length(0);
    for (const n of [1, 2, 3]) (await purges.nth(n)).end();
    const stopped = job.stop();
    for (const { end } of purges.started) end();
    await stopped;
  });

  it('runs once at a time, even if it is started twice', async () => {
    make(1, 1);
    job.start();
    job.start();
    const first = await purges.nth(1);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(purges.started).to.have.length(1);
    const stopped = job.stop();
    first.end();
    await stopped;
  });

  it('stops in the middle of a run, and waits for the run to end', async () => {
    make(1, 1);
    job.start();
    const { isOver, end } = await purges.nth(1);
    expect(isOver()).to.equal(false);
    let hasStopped = false;
    const stopped = job.stop().then(() => {
      hasStopped = true;
    });
    await someTime();
    expect([isOver(), hasStopped]).to.deep.equal([true, false]);
    end();
    await stopped;
    expect(purges.started).to.have.length(1);
  });

  it('stops immediately between two runs, and does not start again', async () => {
    make(LONG_MS, LONG_MS);
    job.start();
    await job.stop();
    job.start();
    await someTime();
    expect(purges.started).to.have.length(0);
  });

  it('never runs if it is stopped before the start', async () => {
    make(0, 0);
    await job.stop();
    job.start();
    await job.stop();
    expect(purges.started).to.have.length(0);
  });

  it('logs a failure once, and runs again', async () => {
    make(1, 1);
    job.start();
    (await purges.nth(1)).fail(new Error('gone'));
    const second = await purges.nth(2);
    expect(logger.events).to.deep.equal(['expired entries could not be purged; the next run tries again']);
    const stopped = job.stop();
    second.end();
    await stopped;
    expect(logger.events).to.have.length(1);
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
  afterEach(() => {
    for (const undo of restore.splice(0)) undo();
  });

  /** Records when the method has returned. */
  const watch = (prototype: object, name: string, event: string) => {
    const methods = prototype as Record<string, (...args: unknown[]) => unknown>;
    const original = methods[name] as (...args: unknown[]) => unknown;
    restore.push(() => {
      methods[name] = original;
    });
    methods[name] = async function (this: unknown, ...args: unknown[]) {
      const result = await original.apply(this, args);
      events.push(event);
      return result;
    };
  };

  it('purges only while its store is open', async () => {
    watch(SqliteDatabase.prototype, 'open', 'the store is open');
    watch(PurgeJob.prototype, 'start', 'the purge job has started');
    watch(PurgeJob.prototype, 'stop', 'the purge job has stopped');
    watch(SqliteDatabase.prototype, 'close', 'the store is closed');
    const service = await createService(
      loadSettings({
        PORT: '0',
        MANAGEMENT_PORT: '0',
        DATA_DIR: folder,
        LOG_LEVEL: 'silent',
        BOOTSTRAP_API_KEY: FIRST_KEY,
      }),
    );
    await service.start();
    await service.stop();
    expect(events).to.deep.equal([
      'the store is open',
      'the purge job has started',
      'the purge job has stopped',
      'the store is closed',
    ]);
  });
});
