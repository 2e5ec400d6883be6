import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { FairSemaphore, type Permit } from '#src/shared/fair-semaphore.js';

const PATIENT = { maxWaiting: 100, patienceMs: 10_000 };

/** Takes permits in order and records the order in which they are granted. */
class Requests {
  readonly granted: string[] = [];
  private readonly permits = new Map<string, Permit>();

  constructor(private readonly semaphore: FairSemaphore) {}

  async request(client: string, name: string, size?: number): Promise<boolean> {
    const permit = await this.semaphore.acquire(client, size);
    if (!permit) return false;
    this.granted.push(name);
    this.permits.set(name, permit);
    return true;
  }

  async done(name: string): Promise<void> {
    this.permits.get(name)?.release();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('FairSemaphore', () => {
  it('grants a permit immediately, unless the request has to wait', async () => {
    const permits = new FairSemaphore({ total: 2, perClient: 1, ...PATIENT });
    const first = permits.acquire('a');
    expect(first).to.not.be.instanceOf(Promise);
    const second = permits.acquire('a');
    expect(second).to.be.instanceOf(Promise);
    (await first)?.release();
    expect((await second)?.size).to.equal(1);
  });

  it('tells what is in use, who waits and how many were refused', async () => {
    const permits = new FairSemaphore({ total: 10, perClient: 5, maxWaiting: 1, patienceMs: 10_000 });
    const inUse = await permits.acquire('a', 4);
    const waiting = permits.acquire('a', 3);
    expect(permits.figures).to.deep.equal({ inUse: 4, waiting: 1, refused: 0 });
    expect(await permits.acquire('a', 3)).to.equal(undefined);
    expect(permits.figures).to.deep.equal({ inUse: 4, waiting: 1, refused: 1 });
    inUse?.shrink(1);
    await waiting;
    expect(permits.figures).to.deep.equal({ inUse: 4, waiting: 0, refused: 1 });
  });

  it('limits the permits of one client, and of all clients', async () => {
    const requests = new Requests(new FairSemaphore({ total: 3, perClient: 2, maxWaiting: 0, patienceMs: 10_000 }));
    const outcomes = await Promise.all(
      ['a1', 'a2', 'a3', 'b1', 'b2'].map((name) => requests.request(name.charAt(0), name)),
    );
    expect(outcomes).to.deep.equal([true, true, false, true, false]);
  });

  it('rotates between waiting clients, even if one client has queued more', async () => {
    const requests = new Requests(new FairSemaphore({ total: 1, perClient: 1, ...PATIENT }));
    const waiting = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map((name) => requests.request(name.charAt(0), name));
    await waiting[0];
    const order = ['a1', 'a2', 'b1', 'c1', 'a3', 'b2'];
    for (const name of order) await requests.done(name);
    expect(requests.granted).to.deep.equal(order);
    expect(await Promise.all(waiting)).to.deep.equal(Array(6).fill(true));
  });

  it('does not block other clients behind a client that is at its own limit', async () => {
    const requests = new Requests(new FairSemaphore({ total: 3, perClient: 1, ...PATIENT }));
    void requests.request('a', 'a1');
    void requests.request('a', 'a2');
    expect(await requests.request('b', 'b1')).to.equal(true);
    expect(requests.granted).to.deep.equal(['a1', 'b1']);
  });

  it('grants no small request while a large one waits', async () => {
    const requests = new Requests(new FairSemaphore({ total: 10, perClient: 10, ...PATIENT }));
    await requests.request('a', 'a small', 5);
    const large = requests.request('b', 'b large', 10);
    const small = requests.request('c', 'c small', 5);
    await requests.done('a small');
    await large;
    await requests.done('b large');
    await small;
    expect(requests.granted).to.deep.equal(['a small', 'b large', 'c small']);
  });

  it('keeps a reserve for clients that hold nothing, even if others use up the total', async () => {
    const permits = new FairSemaphore({ total: 4, perClient: 2, reserve: 2, ...PATIENT, maxWaiting: 0 });
    for (const client of ['a', 'a', 'b', 'b']) expect(await permits.acquire(client)).to.not.equal(undefined);
    expect(await permits.acquire('c')).to.not.equal(undefined);
    expect(await permits.acquire('c')).to.equal(undefined);
    expect(await permits.acquire('d')).to.not.equal(undefined);
    expect(await permits.acquire('e')).to.equal(undefined);
  });

  it('grants the reserve to a client that holds nothing before clients that wait for the total', async () => {
    const requests = new Requests(new FairSemaphore({ total: 4, perClient: 3, reserve: 1, ...PATIENT }));
    for (const name of ['a1', 'a2', 'b1', 'b2']) await requests.request(name.charAt(0), name);
    void requests.request('a', 'a3');
    expect(await requests.request('c', 'c1')).to.equal(true);
    await requests.done('b1');
    await requests.done('b2');
    expect(requests.granted).to.deep.equal(['a1', 'a2', 'b1', 'b2', 'c1', 'a3']);
  });

  it('takes back a permit in parts, and counts a second release only once', async () => {
    const permits = new FairSemaphore({ total: 10, perClient: 10, maxWaiting: 0, patienceMs: 0 });
    const permit = await permits.acquire('a', 10);
    expect(await permits.acquire('b', 4)).to.equal(undefined);
    permit?.shrink(6);
    permit?.shrink(8);
    const other = await permits.acquire('b', 4);
    expect(other).to.not.equal(undefined);
    permit?.release();
    permit?.release();
    expect(await permits.acquire('c', 7)).to.equal(undefined);
    expect(await permits.acquire('c', 6)).to.not.equal(undefined);
  });

  it('grants a request that is larger than the limit of a client', async () => {
    const permits = new FairSemaphore({ total: 10, perClient: 5, maxWaiting: 0, patienceMs: 0 });
    expect(await permits.acquire('a', 50)).to.not.equal(undefined);
    expect(await permits.acquire('a', 1)).to.equal(undefined);
  });

  it('refuses a request that waited too long, and gives it no permit later', async () => {
    const permits = new FairSemaphore({ total: 1, perClient: 1, maxWaiting: 2, patienceMs: 5 });
    const first = await permits.acquire('a');
    expect(await permits.acquire('a')).to.equal(undefined);
    first?.release();
    expect(await permits.acquire('b')).to.not.equal(undefined);
  });

  it('grants the requests behind one that waited too long', async () => {
    const permits = new FairSemaphore({ total: 10, perClient: 10, maxWaiting: 2, patienceMs: 20 });
    await permits.acquire('a', 6);
    const large = permits.acquire('b', 8);
    await sleep(10);
    const small = permits.acquire('c', 2);
    expect(await large).to.equal(undefined);
    expect((await small)?.size).to.equal(2);
  });

  it('refuses a request immediately if the queue is full', async () => {
    const permits = new FairSemaphore({ total: 1, perClient: 1, maxWaiting: 1, patienceMs: 10_000 });
    const first = await permits.acquire('a');
    const waiting = permits.acquire('a');
    expect(await permits.acquire('a')).to.equal(undefined);
    first?.release();
    expect(await waiting).to.not.equal(undefined);
  });

  it('keeps no state of clients that neither hold nor wait', async () => {
    const permits = new FairSemaphore({ total: 10, perClient: 1, maxWaiting: 1, patienceMs: 1 });
    for (let client = 0; client < 100; client++) {
      const permit = await permits.acquire(`client ${client}`);
      await permits.acquire(`client ${client}`);
      permit?.release();
    }
    const { inUse, waiting } = permits as unknown as {
      inUse: Map<string, unknown>;
      waiting: { queues: Map<string, unknown> };
    };
    expect([inUse.size, waiting.queues.size]).to.deep.equal([0, 0]);
  });
});
