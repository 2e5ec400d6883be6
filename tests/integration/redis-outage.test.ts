import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { MemoryRateLimiter } from '#src/adapters/outbound/memory/rate-limiter.js';
import { RedisConnection } from '#src/adapters/outbound/redis/connection.js';
import { FallbackRateLimiter } from '#src/adapters/outbound/redis/fallback-rate-limiter.js';
import { RedisRateLimiter } from '#src/adapters/outbound/redis/rate-limiter.js';
import { SystemClock } from '#src/adapters/outbound/system/clock.js';
import { RecordingLogger } from '../support/fakes.js';
import { RedisServer } from '../support/redis-server.js';

const POLICY = { name: 'default', quota: 20, windowSeconds: 600 };
const ALONE = 'rate limits are no longer shared: this process limits on its own';
const SHARED = 'rate limits are shared again';

/** Well above the promised 50 ms, so that a busy machine does not fail the tests. */
const MAX_WAIT_MS = 250;

/** The rate limiting of one process. */
class Replica {
  readonly logger = new RecordingLogger();
  readonly connection: RedisConnection;
  readonly limiter: FallbackRateLimiter;
  readonly waits: number[] = [];
  fallbacks = 0;

  constructor(url: string) {
    this.connection = new RedisConnection(url, this.logger);
    this.limiter = new FallbackRateLimiter({
      shared: new RedisRateLimiter(POLICY, this.connection),
      makeLocal: () => new MemoryRateLimiter(POLICY, new SystemClock()),
      metrics: { increment: () => void this.fallbacks++ },
      logger: this.logger,
    });
  }

  async consume(caller: string): Promise<boolean> {
    const start = performance.now();
    const { allowed } = await this.limiter.consume(caller);
    this.waits.push(performance.now() - start);
    return allowed;
  }

  /** Sends `count` requests one after the other. @returns how many were allowed */
  async allowedOf(count: number, caller: string): Promise<number> {
    let allowed = 0;
    for (let i = 0; i < count; i++) if (await this.consume(caller)) allowed++;
    return allowed;
  }

  /** Returns how often the event was logged. */
  timesLogged(event: string): number {
    return this.logger.events.filter((one) => one === event).length;
  }

  /** Waits until Redis counts the requests. */
  async untilShared(): Promise<void> {
    const end = performance.now() + 5_000;
    for (let before = -1; before !== this.fallbacks; await sleep(50)) {
      if (performance.now() > end) throw new Error('the limit is not shared again');
      before = this.fallbacks;
      await this.limiter.consume('someone else');
    }
  }
}

describe('if Redis', () => {
  let server: RedisServer;
  let replicas: Replica[] = [];
  const unhandled: unknown[] = [];
  const recordUnhandled = (error: unknown) => void unhandled.push(error);

  before(async () => {
    process.on('unhandledRejection', recordUnhandled);
    server = await RedisServer.onFreePort();
  });
  beforeEach(async () => {
    unhandled.length = 0;
    await server.run();
    replicas = [new Replica(server.url), new Replica(server.url)];
    for (const { connection } of replicas) while (connection.client.status !== 'ready') await sleep(5);
  });
  afterEach(async () => {
    for (const { connection } of replicas) connection.close();
    server.resume();
    await server.kill();
    expect(unhandled, 'unhandled rejections').to.deep.equal([]);
  });
  after(() => void process.off('unhandledRejection', recordUnhandled));

  const together = async (count: number, caller: string) => {
    const allowed = await Promise.all(replicas.map((replica) => replica.allowedOf(count, caller)));
    return allowed.reduce((sum, one) => sum + one, 0);
  };
  const longestWait = () => Math.max(...replicas.flatMap(({ waits }) => waits));

  async function expectOutage(): Promise<void> {
    for (const replica of replicas) {
      expect(await replica.allowedOf(30, 'a'), 'the full quota for each process, counted anew').to.equal(20);
      expect(replica.fallbacks).to.equal(30);
      expect(replica.timesLogged(ALONE), 'one line').to.equal(1);
    }
    expect(longestWait()).to.be.lessThan(MAX_WAIT_MS);
  }

  async function expectShared(): Promise<void> {
    await Promise.all(replicas.map((replica) => replica.untilShared()));
    expect(await together(30, `b${Math.random()}`), 'one quota for all').to.equal(20);
    for (const replica of replicas) expect(replica.timesLogged(SHARED)).to.equal(1);
    expect(longestWait()).to.be.lessThan(MAX_WAIT_MS);
  }

  it('is killed and restarted, each process limits on its own until then', async () => {
    expect(await together(30, 'a')).to.equal(20);
    await server.kill();
    await expectOutage();
    await sleep(1_000);
    for (const replica of replicas) expect(replica.timesLogged('Redis cannot be used')).to.equal(1);
    await server.run();
    await expectShared();
  });

  it('hangs and resumes, each process limits on its own until then', async () => {
    expect(await together(30, 'a')).to.equal(20);
    server.hang();
    await expectOutage();
    await sleep(1_000);
    expect(await replicas[0]?.consume('c')).to.equal(true);
    server.resume();
    await expectShared();
    expect(await together(1, 'a'), 'the count from before the outage remains').to.equal(0);
  });

  it('hangs under many concurrent requests, none fails or waits', async () => {
    server.hang();
    const allowed = await Promise.all(
      replicas.flatMap((replica) => Array.from({ length: 1_000 }, () => replica.consume('a'))),
    );
    expect(allowed.filter(Boolean)).to.have.length(2 * POLICY.quota);
    const other = await Promise.all(
      replicas.flatMap((replica) => Array.from({ length: 1_000 }, (_, i) => replica.consume(`${i}`))),
    );
    expect(other.filter(Boolean)).to.have.length(2_000);
    expect(longestWait()).to.be.lessThan(MAX_WAIT_MS);
    server.resume();
    await expectShared();
  });

  it('hangs and is replaced, the processes use the new one', async () => {
    server.hang();
    await expectOutage();
    await server.kill();
    await server.run();
    await expectShared();
  });

  it('refuses writes but allows reads, each process limits on its own', async () => {
    const [client] = replicas.map(({ connection }) => connection.client);
    await client?.config('SET', 'maxmemory', '1');
    for (const replica of replicas) {
      let allowed = 0;
      for (let i = 0; i < 40; i++) {
        if ((await replica.limiter.peek('a')).allowed && (await replica.consume('a'))) allowed++;
        await sleep(20);
      }
      expect(allowed).to.equal(20);
      expect(replica.timesLogged(ALONE)).to.equal(1);
    }
    await client?.config('SET', 'maxmemory', '0');
    await expectShared();
  });

  it('is not running at the start, each process limits on its own until it is', async () => {
    for (const { connection } of replicas) connection.close();
    await server.kill();
    replicas = [new Replica(server.url), new Replica(server.url)];
    await expectOutage();
    await server.run();
    await expectShared();
  });

  it('refuses the password, the log does not contain it', async () => {
    await replicas[0]?.connection.client.config('SET', 'requirepass', 'right');
    const logged: unknown[] = [];
    const logger = new RecordingLogger();
    logger.warn = (event: string, details?: object) => void logged.push([event, details]);
    const connection = new RedisConnection(server.url.replace('//', '//:wrong@'), logger);
    while (logged.length === 0) await sleep(5);
    connection.close();
    expect(logged).to.deep.equal([['Redis cannot be used', { reason: 'WRONGPASS' }]]);
  });
});
