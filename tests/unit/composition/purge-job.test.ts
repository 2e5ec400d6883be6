import { expect } from 'chai';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/database.js';
import { createService } from '#src/composition/container.js';
import { PurgeJob } from '#src/composition/purge-job.js';
import { loadSettings } from '#src/config/settings.js';
import { yieldToEventLoop } from '#src/shared/event-loop.js';
import { RecordingLogger } from '../../support/fakes.js';
import { FIRST_KEY } from '../../support/in-process-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** Each sweep runs until the test ends it. */
class Purges {
  readonly begun: { isOver: () => boolean; end: () => void; fail: (error: Error) => void }[] = [];
  private report = () => {};

  purgeExpired(isOver: () => boolean = () => false): Promise<void> {
    return new Promise((end, fail) => {
      this.begun.push({ isOver, end, fail });
      this.report();
    });
  }

  /** The sweep that begins as the nth, from 1. */
  async nth(n: number) {
    while (this.begun.length < n) await new Promise<void>((resolve) => (this.report = resolve));
    return this.begun[n - 1] as Purges['begun'][number];
  }
}

describe('sweeping', () => {
  const LONG_MS = 3_600_000;
  let purges: Purges;
  let logger: RecordingLogger;
  let sweeping: PurgeJob;

  const make = (firstMs: number, intervalMs: number) => {
    purges = new Purges();
    logger = new RecordingLogger();
    sweeping = new PurgeJob(purges, logger, { firstMs, intervalMs });
  };
  const someTime = async () => {
    for (let turn = 0; turn < 50; turn++) await yieldToEventLoop();
  };

  it('begins some time after the start, and goes on again and again', async () => {
    make(1, 1);
    await someTime();
    expect(purges.begun, 'before the start').to.have.length(0);
    sweeping.start();
    expect(purges.begun, 'at the start').to.have.length(0);
    for (const n of [1, 2, 3]) (await purges.nth(n)).end();
    const stopped = sweeping.stop();
    for (const { end } of purges.begun) end();
    await stopped;
  });

  it('is done once at a time, however often it is started', async () => {
    make(1, 1);
    sweeping.start();
    sweeping.start();
    const first = await purges.nth(1);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(purges.begun).to.have.length(1);
    const stopped = sweeping.stop();
    first.end();
    await stopped;
  });

  it('is told to stop in the middle, and is waited for', async () => {
    make(1, 1);
    sweeping.start();
    const { isOver, end } = await purges.nth(1);
    expect(isOver()).to.equal(false);
    let hasStopped = false;
    const stopped = sweeping.stop().then(() => {
      hasStopped = true;
    });
    await someTime();
    expect([isOver(), hasStopped]).to.deep.equal([true, false]);
    end();
    await stopped;
    expect(purges.begun).to.have.length(1);
  });

  it('stops at once where it only waits, and never begins again', async () => {
    make(LONG_MS, LONG_MS);
    sweeping.start();
    await sweeping.stop();
    sweeping.start();
    await someTime();
    expect(purges.begun).to.have.length(0);
  });

  it('never begins where it was stopped before the start', async () => {
    make(0, 0);
    await sweeping.stop();
    sweeping.start();
    await sweeping.stop();
    expect(purges.begun).to.have.length(0);
  });

  it('warns of a failure once, and tries again', async () => {
    make(1, 1);
    sweeping.start();
    (await purges.nth(1)).fail(new Error('gone'));
    const second = await purges.nth(2);
    expect(logger.events).to.deep.equal(['expired entries could not be purged; the next run tries again']);
    const stopped = sweeping.stop();
    second.end();
    await stopped;
    expect(logger.events).to.have.length(1);
  });

  it('keeps no process alive', async () => {
    make(LONG_MS, LONG_MS);
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    sweeping.start();
    expect(timers()).to.equal(before);
    await sweeping.stop();
  });
});

describe('a service', () => {
  const folder = temporaryFolder();
  const events: string[] = [];
  const restore: (() => void)[] = [];
  afterEach(() => {
    for (const one of restore.splice(0)) one();
  });

  /** Notes when the method is done. */
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

  it('sweeps while its store is open, and at no other time', async () => {
    watch(SqliteDatabase.prototype, 'open', 'the store is open');
    watch(PurgeJob.prototype, 'start', 'sweeping has started');
    watch(PurgeJob.prototype, 'stop', 'sweeping has stopped');
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
      'sweeping has started',
      'sweeping has stopped',
      'the store is closed',
    ]);
  });
});
