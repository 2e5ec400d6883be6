import { expect } from 'chai';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { IdAllocator } from '#src/application/records/id-allocator.js';
import { ENDLESS, PRODUCTS } from '../../../support/tables.js';

describe('leased ids', () => {
  const source = () => new MemoryRepository<object>(PRODUCTS, ENDLESS);

  it('are handed out in order, each once, however many ask at once', async () => {
    const ids = new IdAllocator(source());
    const taken = await Promise.all(Array.from({ length: 100 }, async () => (await ids.take(1))[0]));
    expect(taken).to.deep.equal(Array.from({ length: 100 }, (_, i) => i + 1));
  });

  it('come many at once too, without a gap to those before and after, in one lease', async () => {
    const shared = source();
    const leases: number[] = [];
    const ids = new IdAllocator({
      reserveIds: (count) => {
        leases.push(count);
        return shared.reserveIds(count);
      },
      releaseIds: async () => {},
    });
    const taken = [await ids.take(1), await ids.take(200), await ids.take(2), await ids.take(0)];
    expect(taken.flat()).to.deep.equal(Array.from({ length: 203 }, (_, i) => i + 1));
    expect(leases).to.deep.equal([32, 169, 32]);
  });

  it('never overlap between two processes', async () => {
    const shared = source();
    const processes = [new IdAllocator(shared), new IdAllocator(shared)];
    const taken = await Promise.all(Array.from({ length: 200 }, (_, i) => processes[i % 2]?.take(1)));
    expect(new Set(taken.flat())).to.have.length(200);
  });

  it('leave no gap behind a process that stops in good order', async () => {
    const shared = source();
    const first = new IdAllocator(shared);
    await first.take(1);
    await first.release();
    expect(await new IdAllocator(shared).take(1)).to.deep.equal([2]);
  });

  it('go on when the store failed once', async () => {
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
