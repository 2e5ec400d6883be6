import { expect } from 'chai';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { IdAllocator, ReservedIds } from '#src/application/records/id-allocator.js';
import { ENDLESS, PRODUCTS } from '../../../support/tables.js';

describe('IdAllocator', () => {
  const source = () => new MemoryRepository<object>(PRODUCTS, ENDLESS);

  it('allocates ids in order, each once, to concurrent callers', async () => {
    const ids = new IdAllocator(source());
    const allocated = await Promise.all(Array.from({ length: 100 }, async () => (await ids.take(1))[0]));
    expect(allocated).to.deep.equal(Array.from({ length: 100 }, (_, i) => i + 1));
  });

  it('allocates many ids without a gap, in one lease', async () => {
    const shared = source();
    const leases: number[] = [];
    const ids = new IdAllocator({
      reserveIds: (count) => {
        leases.push(count);
        return shared.reserveIds(count);
      },
      releaseIds: async () => {},
    });
    const allocated = [await ids.take(1), await ids.take(200), await ids.take(2), await ids.take(0)];
    expect(allocated.flat()).to.deep.equal(Array.from({ length: 203 }, (_, i) => i + 1));
    expect(leases).to.deep.equal([32, 169, 32]);
  });

  it('leaves no gap between two processes with blocks of one id', async () => {
    const shared = source();
    const [first, second] = [new IdAllocator(shared, 1), new IdAllocator(shared, 1)];
    const allocated = [];
    for (const ids of [first, second, second, first]) allocated.push(await ids.take(1));
    expect(allocated.flat()).to.deep.equal([1, 2, 3, 4]);
    const more = await Promise.all(Array.from({ length: 20 }, () => first.take(1)));
    expect(more.flat()).to.deep.equal(Array.from({ length: 20 }, (_, i) => i + 5));
  });

  it('allocates different ids in two processes', async () => {
    const shared = source();
    const processes = [new IdAllocator(shared), new IdAllocator(shared)];
    const allocated = await Promise.all(Array.from({ length: 200 }, (_, i) => processes[i % 2]?.take(1)));
    expect(new Set(allocated.flat())).to.have.length(200);
  });

  it('releases the rest of its block once', async () => {
    const released: [first: number, end: number][] = [];
    const ids = new IdAllocator({
      reserveIds: async () => 1,
      releaseIds: async (first, end) => void released.push([first, end]),
    });
    await ids.release();
    await ids.take(2);
    await ids.release();
    await ids.release();
    expect(released).to.deep.equal([[3, 33]]);
  });

  it('leaves no gap if a process releases its ids', async () => {
    const shared = source();
    const first = new IdAllocator(shared);
    await first.take(1);
    await first.release();
    expect(await new IdAllocator(shared).take(1)).to.deep.equal([2]);
  });

  it('allocates again after a failure of the store', async () => {
    const shared = source();
    let failures = 1;
    const ids = new IdAllocator({
      reserveIds: (count) => (failures-- > 0 ? Promise.reject(new Error('down')) : shared.reserveIds(count)),
      releaseIds: async () => {},
    });
    const outcomes = await Promise.allSettled([ids.take(1), ids.take(1)]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    expect(await ids.take(1)).to.deep.equal([1]);
  });
});

describe('ReservedIds', () => {
  /** Reserves ids from 1 on, and records what it is asked. */
  class FakeSource {
    readonly calls: [name: string, ...numbers: number[]][] = [];
    private next = 1;

    async reserveIds(count: number): Promise<number> {
      this.calls.push(['reserve', count]);
      this.next += count;
      return this.next - count;
    }

    async releaseIds(first: number, end: number): Promise<void> {
      this.calls.push(['release', first, end]);
    }

    /** Another process reserves ids. */
    skip(count: number): void {
      this.next += count;
    }
  }

  it('reserve exactly what is missing, and use the ids of refused records first', async () => {
    const source = new FakeSource();
    const ids = new ReservedIds(source);
    expect(await ids.take(3)).to.deep.equal([1, 2, 3]);
    ids.giveBack([2, 3]);
    expect(await ids.take(1)).to.deep.equal([2]);
    expect(await ids.take(3)).to.deep.equal([3, 4, 5]);
    ids.giveBack([4, 5]);
    ids.giveBack([3]);
    expect(await ids.take(2)).to.deep.equal([3, 4]);
    expect(await ids.take(0)).to.deep.equal([]);
    expect(await ids.take(1)).to.deep.equal([5]);
    expect(source.calls).to.deep.equal([
      ['reserve', 3],
      ['reserve', 2],
    ]);
  });

  it('release the spare ids that were reserved last, without a gap', async () => {
    const source = new FakeSource();
    const ids = new ReservedIds(source);
    await ids.take(2);
    source.skip(5);
    await ids.take(3);
    ids.giveBack([1, 9, 10]);
    await ids.release();
    expect(source.calls.at(-1)).to.deep.equal(['release', 9, 11]);
    expect(await ids.take(1), 'the one before the gap').to.deep.equal([1]);
  });

  it('release nothing if none is spare', async () => {
    const source = new FakeSource();
    const ids = new ReservedIds(source);
    await ids.release();
    await ids.take(2);
    await ids.release();
    expect(source.calls).to.deep.equal([['reserve', 2]]);
  });
});
