/**
 * Two processes that share a Redis get 300 requests a second while it is killed, suspended, cut off, unreachable, 400
 * to 1,000 ms late, replaced, read-only, out of memory, or has another password, and while it replies with wrong types,
 * huge lengths, garbage, halves, doubles and nothing. There is no 5xx, and each process admits one quota per caller and
 * window, even if outages follow one another. The first command after a fault waits 24 ms for its reply; then the
 * circuit breaker is open, and only a probe beside the requests uses Redis.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Latencies } from '../../scripts/statistics.js';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import { FakeRedis, type Reply } from '../../tests/support/fake-redis.js';
import { figuresOf } from '../../tests/support/figure.js';
import type { HttpClient } from '../../tests/support/http-client.js';
import { FIRST_KEY } from '../../tests/support/in-process-service.js';
import { RedisServer } from '../../tests/support/redis-server.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';
import { ProxyThread } from './proxy-thread.js';

const figure = figuresOf('redis-outages');

const QUOTA = 150;
/** Far longer than a test takes, so that no window ends within one. */
const WINDOW_SECONDS = 60;
const REQUESTS_PER_SECOND = 300;
/** The load takes turns with keys, so that none reaches its quota however long a test takes. */
const LOAD_KEYS = 160;
/** More requests than the quota, through each process, but fewer than one that is overloaded refuses. */
const OVER_QUOTA = 180;

/** Callers that reach their quota while false replies come, one after the other. */
const CALLERS = 12;

/** The times are measured in these parts of an outage. */
const BEFORE_MS = 500;
const FIRST_MS = 300;
const LATER_MS = 400;
/** A false reply is given to all commands of one outage, which lasts at least half a second. */
const FALSE_REPLY_MS = 300;
/** Requests at a time of one caller to a process. More would keep the processes from their timers. */
const LANES = 4;
/** One of the false replies is a plausible count. It may admit the requests of two outages that wait for it. */
const FALSELY_ADMITTED = 2 * LANES;
/** Requests to each process, one after the other, while Redis does not respond. */
const UNANSWERED = 50;

const ALONE = 'rate limits are no longer shared: this process limits on its own';
const SHARED = 'rate limits are shared again';
const SECRET = 'password-of-redis-4711';

interface Sample {
  readonly sentAt: number;
  readonly ms: number;
  readonly status: number;
}

interface CircuitBreaker {
  begin(): unknown;
  end(): unknown;
}

/** The times of an outage, in milliseconds. */
interface Measurement {
  readonly firstExtra: number;
  readonly laterExtra: number;
  readonly sharedAgain: number;
}

/** Requests at a constant rate, through each process in turn, whether earlier ones are done or not. */
class Load {
  readonly samples: Sample[] = [];
  private readonly pending = new Set<Promise<void>>();
  private readonly timer: NodeJS.Timeout;
  private sent = 0;

  constructor(clients: readonly HttpClient[], tokens: readonly string[]) {
    const begin = performance.now();
    this.timer = setInterval(() => {
      const due = ((performance.now() - begin) / 1_000) * REQUESTS_PER_SECOND;
      for (; this.sent < due; this.sent++) {
        const client = clients[this.sent % clients.length] as HttpClient;
        const token = tokens[Math.floor(this.sent / clients.length) % tokens.length] as string;
        const request = this.send(client, token).finally(() => this.pending.delete(request));
        this.pending.add(request);
      }
    }, 1);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.pending);
  }

  /** Returns the 99th percentile of the requests that were sent in an interval. */
  p99(from: number, to: number): number {
    const times = new Latencies();
    for (const { sentAt, ms } of this.samples) if (sentAt >= from && sentAt < to) times.add(ms);
    return times.quantile(0.99);
  }

  private async send(client: HttpClient, token: string): Promise<void> {
    const sentAt = performance.now();
    const { status } = await client.get('/products?limit=1', { token });
    this.samples.push({ sentAt, ms: performance.now() - sentAt, status });
  }
}

/** Gives the user of the service a password. Open connections stay. */
const allow = (server: RedisServer, password: string) =>
  server.command('ACL', 'SETUSER', 'shop', 'reset', 'on', `>${password}`, '~*', '+@all');

/** Replies to the commands that count, by a Redis that is otherwise honest. */
const FALSE_REPLIES: Readonly<Record<string, () => Reply>> = {
  'text for a count': () => '*2\r\n$4\r\nmany\r\n:60000\r\n',
  'a map': () => '%1\r\n$1\r\na\r\n:1\r\n',
  'a negative count': () => '*2\r\n:-7\r\n:60000\r\n',
  'a text of gigabytes': () => '$9999999999\r\n',
  'an array of 30 million elements': () => '*30000000\r\n',
  garbage: () => Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 167) % 256)),
  'half a reply': () => '*2\r\n:1\r',
  'every reply twice': () => '*2\r\n:1\r\n:60000\r\n'.repeat(2),
  'the reply to another command': () => '+PONG\r\n',
  'an error of the server': () => '-LOADING Redis is loading the dataset in memory\r\n',
  nothing: () => '',
};

describe('two processes that share a Redis, under load,', () => {
  const folder = temporaryFolder();
  const services: ChildProcessService[] = [];
  const clients: HttpClient[] = [];
  const fake = new FakeRedis();
  const proxy = new ProxyThread();
  let server: RedisServer;
  const measured: Measurement[] = [];
  let requests = 0;
  let failures = 0;
  let overruns = 0;
  let marks = 0;
  let loadKeys: readonly string[];

  before(async () => {
    server = await RedisServer.onFreePort();
    await Promise.all([server.run(), fake.listen()]);
    const port = await proxy.listen(server.port);
    await proxy.set({ fault: 'cut' });
    const environment = {
      BOOTSTRAP_API_KEY: FIRST_KEY,
      RATE_LIMITER: 'redis',
      REDIS_URL: `redis://shop:${SECRET}@127.0.0.1:${port}`,
      RATE_LIMIT_REQUESTS: `${QUOTA}`,
      RATE_LIMIT_WINDOW_SECONDS: `${WINDOW_SECONDS}`,
    };
    await allow(server, SECRET);
    for (let i = 0; i < 2; i++) services.push(new ChildProcessService(folder, environment));
    for (const service of services) {
      const client = await service.started(FIRST_KEY);
      client.documented = undefined;
      clients.push(client);
    }
    loadKeys = await newKeys(LOAD_KEYS);
  });
  after(async () => {
    const worst = (name: keyof Measurement) => Math.max(...measured.map((one) => one[name]));
    figure('requests', requests);
    figure('5xx', failures);
    figure('over a limit', overruns);
    figure('p99 in the first 300 ms, more', worst('firstExtra'), 'ms');
    figure('p99 later, more', worst('laterExtra'), 'ms');
    figure('shared again', worst('sharedAgain'), 'ms');
    for (const client of clients) client.close();
    for (const service of services) await service.stop('SIGKILL');
    await proxy.close();
    await fake.close();
    server.resume();
    await server.kill();
  });

  const newKeys = (count: number): Promise<string[]> =>
    Promise.all(
      Array.from({ length: count }, async (_, i) => {
        // Each process has its own quota of the first key while Redis is down.
        const client = clients[i % clients.length] as HttpClient;
        return (await client.post('/api-keys', { name: 'load', scopes: ['products:read'] })).json.key;
      }),
    );

  /** Sends more requests than the quota through each process. @returns how many each admitted */
  const exhaust = (token: string): Promise<number[]> =>
    Promise.all(
      clients.map(async (client) => {
        let [left, admitted] = [OVER_QUOTA, 0];
        const lane = async () => {
          while (left-- > 0) {
            const { status } = await client.get('/products?limit=1', { token });
            requests++;
            if (status >= 500) failures++;
            if (status === 200) admitted++;
          }
        };
        await Promise.all(Array.from({ length: LANES }, lane));
        return admitted;
      }),
    );

  /** Returns when each process logged an event since, by the clock of the system. */
  const timesLogged = (event: string, since: number): number[][] =>
    services.map(({ log }) => {
      const times: number[] = [];
      // Most lines are of requests: to parse them all would spoil the times.
      for (let at = log.lastIndexOf(event); at >= 0; at = log.lastIndexOf(event, at - 1)) {
        const line = log.slice(log.lastIndexOf('\n', at) + 1, log.indexOf('\n', at));
        const time = Date.parse(JSON.parse(line).time);
        if (time < since) break;
        times.unshift(time);
      }
      return times;
    });

  const aloneSince = (since: number) => timesLogged(ALONE, since);

  /** Waits until each process has logged it. @returns after how many milliseconds */
  const sharedAgainAfter = async (since: number): Promise<number> => {
    await until('the limit is shared again', async () => {
      await sleep(50);
      return timesLogged(SHARED, since).every(({ length }) => length > 0);
    });
    return Math.max(...timesLogged(SHARED, since).map((times) => times.at(-1) ?? 0)) - since;
  };

  /** Whether a process limited alone at this time, or began to do so later. */
  const wasAlone = (since: number): boolean => {
    const shared = timesLogged(SHARED, 0);
    return timesLogged(ALONE, 0).some((times, at) => {
      const last = times.at(-1) ?? 0;
      const back = shared[at]?.filter((time) => time <= since).at(-1) ?? 0;
      return last >= since || last > back;
    });
  };

  /** Resolves when the logs have everything that happened before. */
  const logsAreComplete = () =>
    Promise.all(
      clients.map(async (client, at) => {
        const id = `mark-${++marks}`;
        const [token = ''] = loadKeys;
        await client.get('/products?limit=1', { token, headers: { 'X-Request-Id': id } });
        await until('the request is logged', () => services[at]?.log.includes(id));
      }),
    );

  /**
   * Tests the shared limit, which is exact while Redis responds in time. A process that was paused, as its log shows,
   * limited alone meanwhile, so only a test that no pause disturbs decides.
   */
  const holdsUndisturbed = async (test: () => Promise<boolean>): Promise<boolean> => {
    let holds = false;
    await until('no pause disturbs the test of the limit', async () => {
      const since = Date.now();
      holds = await test();
      if (holds) return true;
      await logsAreComplete();
      return !wasAlone(since);
    });
    return holds;
  };

  /** @returns a key whose quota is used up */
  const expectOneQuota = async (): Promise<string> => {
    let token = '';
    let admitted = 0;
    let most = 0;
    const isOne = await holdsUndisturbed(async () => {
      [token = ''] = await newKeys(1);
      admitted = (await exhaust(token)).reduce((sum, one) => sum + one, 0);
      most = Math.max(most, admitted);
      return admitted === QUOTA;
    });
    if (!isOne) overruns += Math.max(0, admitted - QUOTA);
    expect(most, 'the shared quota, and one of each process').to.be.at.most(3 * QUOTA);
    expect(isOne, `one quota for both processes: ${admitted}`).to.equal(true);
    return token;
  };

  const expectOneQuotaEach = async (token: string): Promise<void> => {
    for (const admitted of await exhaust(token)) {
      overruns += Math.max(0, admitted - QUOTA);
      expect(admitted, 'the full quota for each process').to.equal(QUOTA);
    }
  };

  /** Counts the responses. @throws AssertionError if one is neither 200 nor, where it may be, 429 */
  const expectAllAdmitted = ({ samples }: Load, mayLimit = false): void => {
    requests += samples.length;
    failures += samples.filter(({ status }) => status >= 500).length;
    const statuses = new Set(samples.map(({ status }) => status));
    if (mayLimit) statuses.delete(429);
    expect(statuses).to.deep.equal(new Set([200]));
  };

  async function play(outage: CircuitBreaker): Promise<void> {
    const load = new Load(clients, loadKeys);
    let isOver = false;
    const end = async () => {
      isOver = true;
      await outage.end();
    };
    try {
      await measure({ begin: outage.begin, end }, load);
    } finally {
      // The next test begins without an outage, whatever this one has found.
      await load.stop();
      if (!isOver) await end();
    }
  }

  async function measure({ begin, end }: CircuitBreaker, load: Load): Promise<void> {
    const startedAt = Date.now();
    const [local = ''] = await newKeys(1);
    await sleep(BEFORE_MS);
    const since = Date.now();
    const beganAt = performance.now();
    await begin();
    await sleep(FIRST_MS + LATER_MS - (performance.now() - beganAt));
    const later = performance.now();
    await until('each process limits alone', () => aloneSince(startedAt).every(({ length }) => length > 0));
    await expectOneQuotaEach(local);

    const endedAt = Date.now();
    await end();
    const sharedAgain = await sharedAgainAfter(endedAt);
    await load.stop();
    const stoppedAt = Date.now();
    await expectOneQuota();
    await logsAreComplete();
    const begun = aloneSince(startedAt).map((times) => times.filter((time) => time <= stoppedAt));
    // A pause of a process is an outage of its own, before or after the fault.
    const isDisturbed = begun.some(
      ([first = 0, ...more]) => more.length > 0 && (first < since || (more[0] ?? 0) > endedAt),
    );
    if (!isDisturbed) for (const times of begun) expect(times, 'one line').to.have.length(1);
    expectAllAdmitted(load, isDisturbed);

    const before = load.p99(0, beganAt);
    measured.push({
      firstExtra: load.p99(beganAt, beganAt + FIRST_MS) - before,
      laterExtra: load.p99(beganAt + FIRST_MS, later) - before,
      sharedAgain,
    });
  }

  it('begin to share the limit when Redis is there', async () => {
    const load = new Load(clients, loadKeys);
    await sleep(BEFORE_MS);
    const enabledAt = Date.now();
    await proxy.set({ fault: 'none' });
    const sharedAgain = await sharedAgainAfter(enabledAt);
    await load.stop();
    expectAllAdmitted(load);
    await expectOneQuota();
    measured.push({ firstExtra: 0, laterExtra: 0, sharedAgain });
  });

  const delayedBy = (ms: number): CircuitBreaker => ({
    begin: () => proxy.set({ delayMs: ms }),
    end: () => proxy.set({ delayMs: 0 }),
  });

  const OUTAGES: Readonly<Record<string, CircuitBreaker>> = {
    'is killed and started again': {
      begin: () => server.kill(),
      end: async () => {
        await server.run();
        await allow(server, SECRET);
      },
    },
    'is suspended and goes on': { begin: () => server.hang(), end: () => server.resume() },
    'is cut off': { begin: () => proxy.set({ fault: 'cut' }), end: () => proxy.set({ fault: 'none' }) },
    'is behind a network that loses everything': {
      begin: () => proxy.set({ fault: 'hang' }),
      end: () => proxy.set({ fault: 'none' }),
    },
    // Far later than the 24 ms that a command waits: a paused process reads a reply before it looks at the clock.
    'responds 400 ms later': delayedBy(200),
    'responds a second later': delayedBy(500),
    'is replaced by an empty one': {
      begin: () => server.kill(),
      end: async () => {
        server = await RedisServer.onFreePort();
        await server.run();
        await allow(server, SECRET);
        await proxy.set({ target: server.port });
      },
    },
    'becomes a replica that refuses writes': {
      begin: () => server.command('REPLICAOF', '127.0.0.1', '1'),
      end: () => server.command('REPLICAOF', 'NO', 'ONE'),
    },
    'is out of memory': {
      begin: () => server.command('CONFIG', 'SET', 'maxmemory', '1'),
      end: () => server.command('CONFIG', 'SET', 'maxmemory', '0'),
    },
    'gets another password': {
      begin: async () => {
        await allow(server, 'another');
        await server.command('CLIENT', 'KILL', 'USER', 'shop');
      },
      end: () => allow(server, SECRET),
    },
  };

  for (const [what, outage] of Object.entries(OUTAGES))
    it(`serve and limit requests if it ${what}`, () => play(outage));

  it('limit hundreds of requests of one instant in which it hangs, and keep its counts for later', async () => {
    const [local = ''] = await newKeys(1);
    const shared = await expectOneQuota();
    server.hang();
    const statuses = await Promise.all(
      clients.flatMap((client) =>
        Array.from({ length: OVER_QUOTA }, async () => {
          return (await client.get('/products?limit=1', { token: local })).status;
        }),
      ),
    );
    requests += statuses.length;
    failures += statuses.filter((status) => status >= 500).length;
    const admitted = statuses.filter((status) => status === 200).length;
    overruns += Math.max(0, admitted - 2 * QUOTA);
    expect([admitted, new Set(statuses)]).to.deep.equal([2 * QUOTA, new Set([200, 429])]);
    const resumedAt = Date.now();
    server.resume();
    const load = new Load(clients, loadKeys);
    await sharedAgainAfter(resumedAt);
    await load.stop();
    const areKept = await holdsUndisturbed(async () => {
      const again = await Promise.all(clients.map((client) => client.get('/products?limit=1', { token: shared })));
      return again.every(({ status }) => status === 429);
    });
    expect(areKept, 'the counts are kept').to.equal(true);
  });

  /** Gives the processes another Redis, and waits until they share the limit by it. */
  async function switchTo(target: number): Promise<void> {
    const since = Date.now();
    await proxy.set({ fault: 'cut', target });
    await proxy.set({ fault: 'none' });
    const load = new Load(clients, loadKeys);
    await sharedAgainAfter(since);
    await load.stop();
    expectAllAdmitted(load);
  }

  it('send one command each to a Redis that does not reply, and then none', async () => {
    const [token = ''] = await newKeys(1);
    const counted: string[] = [];
    await switchTo(fake.port);
    fake.override = (name) => {
      if (/^(eval|get|pttl|exec)/.test(name)) counted.push(name);
      // The connection stays, so that nothing but the circuit breaker keeps commands back.
      return /^(eval|get|pttl|exec|ping)/.test(name) ? '' : undefined;
    };
    for (const client of clients)
      for (let at = 0; at < UNANSWERED; at++)
        expect((await client.get('/products?limit=1', { token })).status).to.equal(200);
    figure('commands that a silent Redis gets', counted.length);
    expect(counted.length).to.be.within(1, clients.length);
    fake.override = () => undefined;
    await switchTo(server.port);
  });

  it('limit requests whatever it replies', async () => {
    const callers = await newKeys(CALLERS);
    await proxy.set({ fault: 'cut', target: fake.port });
    await proxy.set({ fault: 'none' });
    const load = new Load(clients, loadKeys);
    const replies = Object.values(FALSE_REPLIES);
    let given = 0;
    let outages = 0;
    const current = new Map<unknown, { readonly reply: () => Reply; readonly endsAt: number }>();
    fake.override = (name, connection) => {
      if (!/^(eval|exec)/.test(name)) return undefined;
      const now = performance.now();
      let { reply, endsAt } = current.get(connection) ?? { reply: undefined, endsAt: 0 };
      if (!reply || now > endsAt) {
        reply = replies[outages++ % replies.length] as () => Reply;
        endsAt = now + FALSE_REPLY_MS;
        current.set(connection, { reply, endsAt });
      }
      given++;
      return reply();
    };
    const limited: number[] = [];
    await until('each reply is given, and the last outage begins', async () => {
      const caller = callers.pop();
      if (caller !== undefined) limited.push(...(await exhaust(caller)));
      await sleep(FALSE_REPLY_MS);
      return outages > replies.length;
    });
    fake.override = () => undefined;
    await proxy.set({ fault: 'cut', target: server.port });
    const endedAt = Date.now();
    await proxy.set({ fault: 'none' });
    const sharedAgain = await sharedAgainAfter(endedAt);
    await load.stop();
    expectAllAdmitted(load);
    await expectOneQuota();
    figure('false replies', given);
    figure('p99 with false replies', load.p99(0, Number.POSITIVE_INFINITY), 'ms');
    figure('shared again after false replies', sharedAgain, 'ms');
    figure('the most that a process admits meanwhile', Math.max(...limited));
    expect(limited).to.not.be.empty;
    expect(Math.min(...limited)).to.be.at.least(QUOTA);
    expect(Math.max(...limited)).to.be.at.most(QUOTA + FALSELY_ADMITTED);
  });

  it('log the reasons of the outages, and never the password', () => {
    for (const { out, log } of services) {
      expect(log)
        .to.match(/"reason":"WRONGPASS"/)
        .and.to.match(/"reason":"ECONNREFUSED"/);
      expect(out + log).to.not.include(SECRET);
    }
  });
});
