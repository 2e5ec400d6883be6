import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:tls';
import { expect } from 'chai';
import { MemoryRateLimiter } from '#src/adapters/outbound/memory/rate-limiter.js';
import { RedisConnection } from '#src/adapters/outbound/redis/connection.js';
import { FallbackRateLimiter, RedisRateLimiter } from '#src/adapters/outbound/redis/rate-limiter.js';
import { GuardedConnector, ReplyGuard } from '#src/adapters/outbound/redis/reply-guard.js';
import { SystemClock } from '#src/adapters/outbound/system/clock.js';
import type { RateState } from '#src/application/ports/rate-limiter.js';
import type { AppError } from '#src/domain/errors.js';
import { listen } from '#src/process/listen.js';
import { serverPair } from '../../../../support/certificates.js';
import { FakeRedis, type Reply } from '../../../../support/fake-redis.js';
import { RecordingLogger } from '../../../../support/fakes.js';
import { temporaryFolder } from '../../../../support/temporary-folder.js';
import { until } from '../../../../support/until.js';

const POLICY = { name: 'default', quota: 5, windowSeconds: 60 };
const MIB = 1024 * 1024;

const BLOCK = Buffer.alloc(16 * 1024, 'x');
function* endless(head: string, piece: string | Buffer): Generator<string | Buffer> {
  yield head;
  for (;;) yield piece;
}
const counted = (count: string, msLeft: string) => `*2\r\n${count}\r\n${msLeft}\r\n`;
const bulk = (text: string) => `$${text.length}\r\n${text}`;

/** Invalid replies to the command that counts. */
const INVALID_REPLIES: readonly [name: string, reply: Reply][] = [
  ['a string announced as gigabytes', () => endless('$9999999999\r\n', BLOCK)],
  ['a RESP3 string announced as gigabytes', () => endless('=9999999999\r\ntxt:', BLOCK)],
  ['an error announced as gigabytes', () => endless('!9999999999\r\n', BLOCK)],
  ['an endless line', () => endless('+', BLOCK)],
  ['an endless error', () => endless('-', BLOCK)],
  ['an endless number', () => endless(':', BLOCK.toString().replaceAll('x', '1'))],
  ['an endless length', () => endless('*', BLOCK.toString().replaceAll('x', '1'))],
  ['an endless array', () => endless('*2147483647\r\n', ':1\r\n'.repeat(1_000))],
  ['arrays that reserve memory', '*30000000\r\n'.repeat(8)],
  ['maps that reserve memory', '%15000000\r\n'.repeat(8)],
  ['sets that reserve memory', '~30000000\r\n'.repeat(8)],
  ['pushes that reserve memory', '>30000000\r\n'.repeat(8)],
  ['an array above the maximum length', '*99999999999\r\n'],
  ['an array of negative length', '*-7\r\n'],
  ['deeply nested arrays', '*1\r\n'.repeat(10_000)],
  ['deeply nested maps', '%1\r\n+a\r\n'.repeat(10_000)],
  ['many small replies at once', () => endless('', ':1\r\n'.repeat(1_000))],
  ['endless pushes', () => endless('', '>1\r\n+x\r\n'.repeat(1_000))],
  ['binary garbage', Buffer.from(Array.from({ length: 4_096 }, (_, i) => (i * 151 + 7) % 256))],
  ['HTTP', 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'],
  ['zeros', Buffer.alloc(1_024)],
  ['an error that Redis does not have', '-ERR no\r\n'],
  ['an error that a busy Redis sends', '-BUSY a script runs\r\n'],
  ['OK', '+OK\r\n'],
  ['null', '_\r\n'],
  ['null of RESP2', '$-1\r\n'],
  ['a number alone', ':3\r\n'],
  ['digits in a string', '$2\r\n31\r\n'],
  ['an empty array', '*0\r\n'],
  ['an array of one', '*1\r\n:3\r\n'],
  ['a count that is a string', counted(bulk('many'), ':60000')],
  ['a count that is NaN', counted(bulk('NaN'), ':60000')],
  ['a count that is a double', counted(',nan', ':60000')],
  ['a count of the number type without digits', counted(':abc', ':60000')],
  ['a count below zero', counted(':-3', ':60000')],
  ['a count of zero', counted(':0', ':60000')],
  ['a count above the safe integers', counted(':99999999999999999999', ':60000')],
  ['a count that is an array', counted('*1\r\n:1', '*1\r\n:1')],
  ['a count that is null', counted('_', '_')],
  ['a rest that is a string', counted(':3', bulk('soon'))],
  ['a rest that is null', counted(':3', '_')],
  ['a rest below zero', counted(':3', ':-60000')],
  ['a rest above the safe integers', counted(':3', ':99999999999999999999')],
];

/** The rate limiter of one process of the service, with the Redis that it uses. */
class Replica {
  readonly logger = new RecordingLogger();
  readonly connection: RedisConnection;
  readonly limiter: FallbackRateLimiter;
  fallbacks = 0;
  /** What the observer of the calls was told. */
  readonly calls: string[] = [];

  private constructor(readonly redis: FakeRedis) {
    this.connection = new RedisConnection(redis.url, this.logger);
    this.limiter = new FallbackRateLimiter({
      shared: new RedisRateLimiter(POLICY, this.connection, [
        {
          storeCall:
            ({ system, collection, operation }) =>
            (error) =>
              void this.calls.push(
                `${system} ${collection} ${operation} ${(error as AppError | undefined)?.code ?? 'ok'}`,
              ),
        },
      ]),
      makeLocal: () => new MemoryRateLimiter(POLICY, new SystemClock()),
      metrics: { increment: () => void this.fallbacks++ },
    });
  }

  static async start(override: FakeRedis['override'] = () => undefined): Promise<Replica> {
    const redis = new FakeRedis();
    redis.override = override;
    await redis.listen();
    return new Replica(redis);
  }

  lieTo(name: string, reply: Reply): void {
    this.redis.override = (command) => (command.startsWith(name) ? reply : undefined);
  }

  async ready(): Promise<void> {
    await until('Redis is connected to', () => this.connection.client.status === 'ready');
  }

  /** Waits until Redis counts the requests. */
  async untilShared(): Promise<void> {
    this.redis.override = () => undefined;
    await until('the limit is shared', async () => {
      const before = this.fallbacks;
      await this.limiter.consume('someone else');
      return this.fallbacks === before;
    });
  }

  countEvents(event: string): number {
    return this.logger.events.filter((one) => one.includes(event)).length;
  }

  async close(): Promise<void> {
    this.connection.close();
    await this.redis.close();
  }
}

describe('the rate limiter with a faulty Redis', () => {
  const folder = temporaryFolder();
  let replica: Replica;
  const strays: unknown[] = [];
  const record = (error: unknown) => void strays.push(error);

  before(() => void process.on('unhandledRejection', record));
  beforeEach(async () => {
    strays.length = 0;
    replica = await Replica.start();
    await replica.ready();
    await replica.untilShared();
  });
  afterEach(async () => {
    await replica.close();
    expect(strays, 'unhandled rejections').to.deep.equal([]);
  });
  after(() => void process.off('unhandledRejection', record));

  for (const [name, reply] of INVALID_REPLIES)
    it(`limits locally if Redis replies with ${name}`, async () => {
      const { redis, limiter } = replica;
      replica.lieTo('eval', reply);
      const states = [];
      for (let i = 0; i < 7; i++) states.push(await limiter.consume('a'));
      expect(states.map(({ allowed, remaining }) => [allowed, remaining])).to.deep.equal(
        [4, 3, 2, 1, 0, 0, 0].map((remaining, at) => [at < POLICY.quota, remaining]),
      );
      for (const { resetSeconds } of states) expect(resetSeconds).to.be.within(1, POLICY.windowSeconds);
      expect(replica.fallbacks, 'requests counted locally').to.equal(7);
      if (!name.startsWith('an error that')) await until('another connection', () => redis.connections > 1);
      expect(redis.bytesWritten, 'bytes read, and buffered by the kernel').to.be.lessThan(32 * MIB);
    });

  for (const [name, reply] of [
    ['a count below zero', '*2\r\n$2\r\n-3\r\n:60000\r\n'],
    ['null', '_\r\n'],
    ['a number alone', ':3\r\n'],
  ] as const)
    it(`ignores ${name} in the reply to a peek`, async () => {
      replica.lieTo('exec', reply);
      expect(await replica.limiter.peek('a')).to.deep.equal({ allowed: true, remaining: 5, resetSeconds: 60 });
      expect(replica.redis.received).to.include('exec');
    });

  it('counts the requests of one turn of the event loop with one command', async () => {
    let commands = 0;
    replica.redis.override = (command) => {
      if (command.startsWith('eval')) commands++;
      return undefined;
    };
    const states: Promise<RateState>[] = [];
    for (let i = 0; i < 7; i++) {
      states.push(replica.limiter.consume('one turn'));
      for (let microtask = 0; microtask < 10; microtask++) await undefined;
    }
    const remaining = (await Promise.all(states)).map((state) => state.remaining);
    expect(remaining).to.deep.equal([4, 3, 2, 1, 0, 0, 0]);
    expect(commands).to.equal(1);
  });

  it('accepts a count and a rest that are possible', async () => {
    const before = replica.fallbacks;
    replica.lieTo('eval', counted(':3', ':60000'));
    expect(await replica.limiter.consume('a')).to.deep.equal({ allowed: true, remaining: 2, resetSeconds: 60 });
    replica.lieTo('exec', '*2\r\n$1\r\n5\r\n:-1\r\n');
    expect(await replica.limiter.peek('a')).to.deep.equal({ allowed: false, remaining: 0, resetSeconds: 1 });
    expect(replica.fallbacks).to.equal(before);
    expect(replica.redis.connections).to.equal(1);
  });

  it('sends no further command after one that failed', async () => {
    let commands = 0;
    replica.redis.override = (name) => {
      if (!name.startsWith('eval')) return undefined;
      commands++;
      return '-ERR no\r\n';
    };
    for (const caller of ['a', 'b', 'c']) await replica.limiter.consume(caller);
    expect([commands, replica.fallbacks]).to.deep.equal([1, 3]);
  });

  it('lets a window end after its length if it has longer to go, as after a clock was set back', async () => {
    replica.redis.override = (name) => {
      if (name === 'pexpire') return ':1\r\n';
      return name.startsWith('eval') ? counted(':1', ':86400000') : undefined;
    };
    expect(await replica.limiter.consume('a')).to.deep.equal({ allowed: true, remaining: 4, resetSeconds: 60 });
    expect(replica.redis.received).to.include('pexpire');
  });

  it('tells its observer of each command and its error', async () => {
    replica.calls.length = 0;
    await replica.limiter.consume('a');
    await replica.limiter.peek('a');
    replica.lieTo('eval', counted(bulk('many'), ':60000'));
    await replica.limiter.consume('a');
    expect(replica.calls).to.deep.equal([
      `redis ${POLICY.name} consume ok`,
      `redis ${POLICY.name} peek ok`,
      `redis ${POLICY.name} consume unavailable`,
    ]);
  });

  for (const [name, reply] of [
    ['gigabytes', () => endless('$9999999999\r\n', BLOCK)],
    ['a count that is not a number', counted(bulk('many'), ':60000')],
    ['an error', '-ERR no\r\n'],
  ] as readonly (readonly [name: string, reply: Reply])[])
    it(`counts in Redis again after ${name}, and logs it once`, async () => {
      replica.lieTo('eval', reply);
      await replica.limiter.consume('a');
      await replica.untilShared();
      expect(replica.countEvents('no longer shared')).to.equal(1);
      expect(replica.countEvents('shared again')).to.equal(1);
    });

  it('reconnects after a pause, and logs each problem once', async () => {
    const to = (names: RegExp, reply: Reply) => (name: string) => (names.test(name) ? reply : undefined);
    const begin = performance.now();
    const replicas = await Promise.all(
      [
        to(/^hello/, '$9999999999\r\n'),
        to(/^hello/, 'nonsense\r\n'),
        to(/^hello/, '*30000000\r\n'),
        to(/^(ping|eval)/, '*30000000\r\n'),
        to(/^eval/, '*30000000\r\n'),
        to(/^eval/, counted(':NaN', ':NaN')),
        to(/^(?!hello)/, '-LOADING for less than no time\r\n'),
      ].map((lie) => Replica.start(lie)),
    );
    try {
      const wrong: RateState[] = [];
      await until('the first three have connected six times', async () => {
        const states = await Promise.all(replicas.map(({ limiter }) => limiter.consume('a')));
        wrong.push(...states.filter(({ remaining }) => remaining < 0 || remaining > POLICY.quota));
        return replicas.slice(0, 3).every(({ redis }) => redis.connections >= 6);
      });
      expect(wrong).to.deep.equal([]);
      for (const [at, one] of replicas.entries()) {
        const { connections } = one.redis;
        const pauses = Array.from({ length: connections - 1 }, (_, lost) => Math.min((lost + 1) * 50, 250));
        const least = pauses.reduce((sum, ms) => sum + ms, 0);
        // A timer may end a millisecond early.
        expect(performance.now() - begin, `pauses ${at}`).to.be.at.least(0.95 * least);
        expect(one.countEvents('Redis cannot be used'), `reasons ${at}`).to.be.at.most(3);
        expect(one.countEvents('no longer shared'), `outages ${at}`).to.equal(1);
      }
    } finally {
      for (const one of replicas) await one.close();
    }
  });

  it('passes no invalid bytes from TLS to the parser before the first command', async () => {
    const { cert, key, authority } = await serverPair(folder);
    const server = createServer({ cert, key }, (socket) => {
      socket.on('error', () => {});
      socket.write('*30000000\r\n');
    });
    const port = await listen(server, '127.0.0.1', 0);
    const tls = { ca: readFileSync(authority), servername: 'localhost' };
    const socket = await new GuardedConnector({ host: '127.0.0.1', port, tls }).connect();
    const read: unknown[] = [];
    socket.on('data', (chunk) => read.push(chunk));
    const [error] = await once(socket, 'error');
    server.close();
    expect(String(error)).to.include('a reply is over 16384 bytes');
    expect(read).to.deep.equal([]);
  });

  it('closes a connection that sends replies without commands', async () => {
    const { redis } = replica;
    redis.push(() => endless('', ':1\r\n'.repeat(1_000)));
    await until('another connection', () => redis.connections > 1);
    expect(redis.bytesWritten).to.be.lessThan(32 * MIB);
    await replica.untilShared();
  });

  it('logs the outage and its reason, without quoting the reply', async () => {
    const lines: unknown[] = [];
    replica.logger.warn = (event: string, details?: object) => void lines.push({ event, ...details });
    replica.lieTo('eval', '$9999999999\r\nsecret');
    await replica.limiter.consume('a');
    await until('the reason', () => lines.length > 1);
    expect(lines).to.deep.equal([
      { event: 'rate limits are no longer shared: this process limits on its own' },
      { event: 'Redis cannot be used', reason: 'a reply is over 16384 bytes, or of too many parts' },
    ]);
    expect(JSON.stringify(lines)).to.not.include('secret').and.not.include('9999');
  });
});

describe('ReplyGuard', () => {
  it('rejects a reply that announces more than it may have, before the rest arrives', () => {
    for (const head of ['$9999999999\r\n', '*30000000\r\n', '%15000000\r\n'])
      expect(() => new ReplyGuard().check(Buffer.from(head)), head).to.throw('a reply is over');
  });

  it('rejects more replies than commands', () => {
    const guard = new ReplyGuard();
    const replies = (count: number) => Buffer.from(':1\r\n'.repeat(count));
    for (let i = 0; i < 20; i++) guard.check(replies(1_024));
    expect(() => guard.check(replies(1_200))).to.throw('more replies than commands');
  });

  it('parses replies that are split at any byte', () => {
    const text =
      '%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n+modules\r\n*2\r\n%1\r\n+name\r\n=7\r\ntxt:bf\n\r\n*0\r\n' +
      '+OK\r\n-ERR no\r\n$0\r\n\r\n$-1\r\n_\r\n#t\r\n:-2\r\n*2\r\n:1\r\n:60000\r\n*-1\r\n!3\r\nno!\r\n';
    for (let size = 1; size <= text.length; size++) {
      const guard = new ReplyGuard();
      for (let at = 0; at < text.length; at += size) guard.check(Buffer.from(text.slice(at, at + size)));
      guard.check(Buffer.from('+OK\r\n'));
      expect(() => guard.check(Buffer.from('OK\r\n')), `${size}`).to.throw('violates the Redis protocol');
    }
  });
});
