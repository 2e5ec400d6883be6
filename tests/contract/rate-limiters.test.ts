import { expect } from 'chai';
import fc from 'fast-check';
import {
  type Channel,
  ClusterRateLimiter,
  PrimaryChannel,
  type PrimaryMessage,
  RateLimitServer,
  type WorkerMessage,
} from '#src/adapters/outbound/cluster/rate-limits.js';
import { MemoryRateLimiter } from '#src/adapters/outbound/memory/rate-limiter.js';
import { SystemClock } from '#src/adapters/outbound/system/clock.js';
import type { Clock } from '#src/application/ports/clock.js';
import type { RatePolicy, RateState } from '#src/application/ports/rate-limiter.js';
import { expectAppError } from '../support/expect-refusal.js';
import { FakeClock } from '../support/fakes.js';
import { until } from '../support/until.js';
import { JoinedChannels } from './joined-channels.js';
import { rateLimiterContract } from './rate-limiter.contract.js';

const POLICY: RatePolicy = { name: 'default', quota: 20, windowSeconds: 60 };

/** The primary has this long to respond, where a test does not wait for the time-out. */
const LONG_MS = 600_000;

/** The workers of a machine with one primary. */
class Machine {
  readonly channels: JoinedChannels[] = [];
  private readonly server: RateLimitServer;
  private readonly ends: (() => void)[] = [];

  constructor(
    policies: readonly RatePolicy[],
    private readonly clock: Clock = new SystemClock(),
  ) {
    this.server = new RateLimitServer(policies.map((policy) => new MemoryRateLimiter(policy, clock)));
  }

  connect(timeoutMs = LONG_MS): PrimaryChannel {
    const channels = new JoinedChannels();
    const closed = new Promise<void>((resolve) => void this.ends.push(resolve));
    this.server.serve(channels.primary, closed);
    this.channels.push(channels);
    return new PrimaryChannel(channels.worker, timeoutMs);
  }

  worker(policy = POLICY): ClusterRateLimiter {
    return new ClusterRateLimiter(policy, this.connect(), this.clock);
  }

  /** The worker neither responds nor sends any more. */
  async kill(worker: number): Promise<void> {
    this.channels[worker]?.hold();
    this.ends[worker]?.();
    await new Promise((resolve) => setImmediate(resolve));
  }

  get delivered(): number {
    return this.channels.reduce((sum, { delivered }) => sum + delivered, 0);
  }
}

const isAllowed = ({ allowed }: RateState) => allowed;

const clock = new FakeClock();
const pass = (ms: number) => {
  clock.running += ms;
};
rateLimiterContract('memory', (policy) => new MemoryRateLimiter(policy, clock), pass);
rateLimiterContract('the workers of a cluster', (policy) => new Machine([policy], clock).worker(policy), pass);

describe('the rate limiter of a cluster', () => {
  it('allows exactly the quota in any order of requests of any workers', async () => {
    const step = fc.record({
      worker: fc.nat(2),
      requests: fc.integer({ min: 1, max: 9 }),
      /** Turns of the event loop until the next step. Messages are on their way meanwhile. */
      turns: fc.nat(4),
      ms: fc.constantFrom(0, 1, 100),
    });
    const quotas = fc.integer({ min: 1, max: 150 });
    await fc.assert(
      fc.asyncProperty(quotas, fc.array(step, { minLength: 1, maxLength: 60 }), async (quota, steps) => {
        const clock = new FakeClock();
        const policy = { name: 'default', quota, windowSeconds: 60 };
        const machine = new Machine([policy], clock);
        const workers = Array.from({ length: 3 }, () => machine.worker(policy));
        const all: (RateState | Promise<RateState>)[] = [];
        for (const { worker, requests, turns, ms } of steps) {
          for (let i = 0; i < requests; i++) all.push(workers[worker]?.consume('a') ?? Promise.reject());
          for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
          clock.running += ms;
        }
        const allowed = (await Promise.all(all)).filter(isAllowed);
        expect(allowed).to.have.length(Math.min(quota, all.length));
        for (const { remaining } of allowed) expect(remaining).to.be.within(0, quota - 1);
        if (all.length < quota) return;
        for (const worker of workers) expect((await worker.consume('a')).allowed).to.equal(false);
        for (const worker of workers) expect((await worker.peek('a')).allowed).to.equal(false);
        clock.running += 60_000;
        expect((await workers[0]?.consume('a'))?.remaining).to.equal(quota - 1);
      }),
      { numRuns: 300 },
    );
  });

  it('answers most requests without a message and without a promise', async () => {
    const policy = { ...POLICY, quota: 1_000 };
    const machine = new Machine([policy], new FakeClock());
    const worker = machine.worker(policy);
    await worker.consume('a');
    for (let i = 0; i < 64; i++)
      expect(worker.consume('a')).to.deep.equal({ allowed: true, remaining: 998 - i, resetSeconds: 60 });
    expect(worker.consume('a')).to.be.instanceOf(Promise);
  });

  it('refuses without a message what is over the quota, until the window ends', async () => {
    const clock = new FakeClock();
    const machine = new Machine([POLICY], clock);
    const worker = machine.worker();
    await Promise.all(Array.from({ length: 21 }, () => worker.consume('a')));
    const before = machine.delivered;
    clock.running += 59_000;
    expect(worker.consume('a')).to.deep.equal({ allowed: false, remaining: 0, resetSeconds: 1 });
    expect(machine.delivered).to.equal(before);
    clock.running += 1_000;
    expect(await worker.consume('a')).to.deep.equal({ allowed: true, remaining: 19, resetSeconds: 60 });
  });

  it('shows the same state on each worker, and counts nothing for it', async () => {
    const clock = new FakeClock();
    const machine = new Machine([POLICY], clock);
    const [one, two] = [machine.worker(), machine.worker()];
    expect(await two.peek('a')).to.deep.equal({ allowed: true, remaining: 20, resetSeconds: 60 });
    clock.running += 10_000;
    expect((await two.consume('a')).resetSeconds, 'a peek begins no window').to.equal(60);
    clock.running += 30_000;
    expect((await one.consume('a')).resetSeconds).to.equal(30);
    const { delivered } = machine;
    const known = await one.peek('a');
    expect(known).to.deep.equal(await one.peek('a'));
    expect(known).to.include({ allowed: true, resetSeconds: 30 });
    expect(machine.delivered, 'the lease is enough').to.equal(delivered);
    expect((await one.consume('a')).remaining).to.equal(known.remaining - 1);
    await Promise.all(Array.from({ length: 20 }, () => one.consume('a')));
    for (const worker of [one, two])
      expect(await worker.peek('a')).to.deep.equal({ allowed: false, remaining: 0, resetSeconds: 30 });
  });

  it('does not call a quota exhausted while a worker may allow more of it', async () => {
    const policy = { ...POLICY, quota: 3 };
    const machine = new Machine([policy], new FakeClock());
    const one = machine.worker(policy);
    await one.consume('a');
    const two = machine.worker(policy);
    expect((await two.consume('a')).allowed).to.equal(true);
    expect(await two.peek('a')).to.deep.equal({ allowed: true, remaining: 0, resetSeconds: 60 });
    expect((await one.consume('a')).allowed).to.equal(true);
    expect((await two.consume('a')).allowed).to.equal(false);
  });

  it('ignores other messages of the channel, and leases that do not exist', async () => {
    const machine = new Machine([POLICY], new FakeClock());
    const worker = machine.worker();
    const [{ worker: up, primary: down } = new JoinedChannels()] = machine.channels;
    const returned = { policy: 'unknown', caller: 'a', lease: 1, unused: 20 };
    const others = [null, 'text', 5, {}, [], { returned }, { returned: { ...returned, policy: POLICY.name } }];
    for (const message of others) up.send(message as WorkerMessage);
    const recall = { policy: 'unknown', caller: 'a', lease: 1 };
    const lease = { allowed: 9, ahead: 9, lease: 1, remaining: 9, msLeft: 60_000, isExhausted: false };
    for (const message of [null, 'text', 5, {}, { recall }, { leases: [[99, lease]] }])
      down.send(message as PrimaryMessage);
    const states = await Promise.all(Array.from({ length: 30 }, () => worker.consume('a')));
    expect(states.filter(isAllowed)).to.have.length(20);
  });

  it('keeps nothing of a request after its response', async () => {
    const machine = new Machine([POLICY], new FakeClock());
    const worker = machine.worker();
    await Promise.all(Array.from({ length: 100 }, (_, i) => worker.consume(`${i}`)));
    expect(worker['requests'].size).to.equal(0);
  });

  it('shows a rest that is at most 100 ms old', async () => {
    const clock = new FakeClock();
    const policy = { ...POLICY, quota: 1_000 };
    const machine = new Machine([policy], clock);
    const [one, two] = [machine.worker(policy), machine.worker(policy)];
    await one.consume('a');
    for (let i = 0; i < 100; i++) await two.consume('a');
    clock.running += 100;
    const { remaining } = await one.consume('a');
    expect(remaining).to.be.within(1_000 - 102 - 64, 1_000 - 102);
  });

  it('counts the lease of a dead worker as used until the window ends', async () => {
    const clock = new FakeClock();
    const machine = new Machine([POLICY], clock);
    const [dead, alive] = [machine.worker(), machine.worker()];
    await dead.consume('a');
    const killed = machine.kill(0);
    const states = await Promise.all(Array.from({ length: 30 }, () => alive.consume('a')));
    await killed;
    const allowed = states.filter(isAllowed).length;
    expect(allowed).to.be.within(10, 19);
    clock.running += 60_000;
    const next = await Promise.all(Array.from({ length: 30 }, () => alive.consume('a')));
    expect(next.filter(isAllowed)).to.have.length(20);
  });

  it('loses nothing of a lease that is recalled while its rest is on the way back', async () => {
    const clock = new FakeClock();
    const machine = new Machine([POLICY], clock);
    const [one, two] = [machine.worker(), machine.worker()];
    await one.consume('a');
    clock.running += 100;
    machine.channels[0]?.hold();
    const { delivered } = machine;
    const others = Array.from({ length: 30 }, () => two.consume('a'));
    await until('the primary recalls the lease', () => machine.delivered > delivered);
    const own = one.consume('a');
    machine.channels[0]?.release();
    const states = await Promise.all([...others, own]);
    expect(states.filter(isAllowed)).to.have.length(19);
  });

  it('returns a lease that is recalled in the turn in which it is granted', async () => {
    const sent: WorkerMessage[] = [];
    let deliver: (message: PrimaryMessage) => void = () => {};
    const channel: Channel = {
      send: (message) => void sent.push(message),
      receive: (listener) => (deliver = listener),
    };
    const limiter = new ClusterRateLimiter(POLICY, new PrimaryChannel(channel, LONG_MS), new FakeClock());
    const state = limiter.consume('a');
    await until('the request is sent', () => sent.length > 0);
    const lease = { allowed: 1, ahead: 5, lease: 7, remaining: 14, msLeft: 60_000, isExhausted: false };
    deliver({ leases: [[sent[0]?.requests?.[0]?.id ?? 0, lease]] });
    deliver({ recall: { policy: POLICY.name, caller: 'a', lease: 7 } });
    expect(sent[1]).to.deep.equal({ returned: { policy: POLICY.name, caller: 'a', lease: 7, unused: 5 } });
    expect((await state).allowed).to.equal(true);
    expect(limiter.consume('a'), 'the lease is gone').to.be.instanceOf(Promise);
  });

  for (const [end, finish] of [
    ['dies', (machine: Machine) => machine.kill(0)],
    ['responds after the window', (machine: Machine) => machine.channels[0]?.release()],
  ] as const)
    it(`answers a lease request that waits for a worker that ${end}`, async () => {
      const clock = new FakeClock();
      const machine = new Machine([POLICY], clock);
      const [slow, alive] = [machine.worker(), machine.worker()];
      await slow.consume('a');
      machine.channels[0]?.hold();
      const waiting = Promise.all(Array.from({ length: 30 }, () => alive.consume('a')));
      const { delivered } = machine;
      await until('the primary waits', () => machine.delivered > delivered);
      clock.running += 60_000;
      expect((await alive.consume('a')).allowed, 'the next window').to.equal(true);
      await finish(machine);
      expect((await waiting).filter(isAllowed).length).to.be.within(1, 20);
    });

  it('returns the leases that it does not keep', async () => {
    const machine = new Machine([POLICY], new FakeClock());
    const [one, two] = [machine.worker(), machine.worker()];
    await Promise.all(Array.from({ length: 10_050 }, (_, i) => one.consume(`${i}`)));
    expect(one['leases'].size).to.equal(10_000);
    await until('a lease is returned', async () => (await two.consume('0')).remaining > 0);
    const states = await Promise.all(Array.from({ length: 30 }, () => two.consume('1')));
    expect(states.filter(isAllowed)).to.have.length(19);
  });

  it('separates the counts of two policies on one channel', async () => {
    const other = { ...POLICY, name: 'auth', quota: 1 };
    const channel = new Machine([POLICY, other]).connect();
    const clock = new SystemClock();
    const [requests, failures] = [
      new ClusterRateLimiter(POLICY, channel, clock),
      new ClusterRateLimiter(other, channel, clock),
    ];
    await failures.consume('a');
    expect((await failures.peek('a')).allowed).to.equal(false);
    expect((await requests.consume('a')).remaining).to.equal(19);
  });

  it('sends the requests of one turn of the event loop as one message', async () => {
    const machine = new Machine([POLICY]);
    const worker = machine.worker();
    await Promise.all(Array.from({ length: 50 }, () => worker.consume('a')));
    expect(machine.delivered).to.equal(2);
  });

  it('is unavailable if the primary does not respond in time, and uses the lease of the late response', async () => {
    const machine = new Machine([POLICY]);
    const limiter = new ClusterRateLimiter(POLICY, machine.connect(20), new SystemClock());
    const [channels] = machine.channels;
    channels?.hold();
    await expectAppError(Promise.resolve(limiter.consume('a')), 'unavailable');
    channels?.release();
    const states = await Promise.all(Array.from({ length: 30 }, () => limiter.consume('a')));
    expect(states.filter(isAllowed), 'the first request counts').to.have.length(19);
  });

  it('is unavailable for a policy that the primary does not know', async () => {
    await expectAppError(new Machine([]).worker().peek('a'), 'unavailable');
  });
});
