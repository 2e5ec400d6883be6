import { expect } from 'chai';
import { ExpiringMap, MemoryIdempotencyStore } from '#src/adapters/outbound/memory/expiring.js';

describe('ExpiringMap', () => {
  it('purges the oldest values before a moment, at most so many, in whatever order they came', async () => {
    const map = new ExpiringMap<string, { at: number }>(5, ({ at }) => at);
    for (const [key, at] of [
      ['c', 3],
      ['a', 1],
      ['d', 4],
      ['b', 2],
    ] as const)
      map.add(key, { at });
    const kept = () => ['a', 'b', 'c', 'd'].filter((key) => map.has(key)).join('');
    expect(await map.purgeBefore(1, 9)).to.equal(0);
    expect(await map.purgeBefore(9, 0)).to.equal(0);
    expect(kept()).to.equal('abcd');
    expect(await map.purgeBefore(3, 1)).to.equal(1);
    expect(kept()).to.equal('bcd');
    expect(await map.purgeBefore(4, 9)).to.equal(2);
    expect([kept(), map.get('b'), map.get('d')]).to.deep.equal(['d', undefined, { at: 4 }]);
    expect(await map.purgeBefore(5, 9)).to.equal(1);
    expect(kept()).to.equal('');
  });
});

describe('MemoryIdempotencyStore', () => {
  const reservation = (key: string, id: number) => ({ key, id, fingerprint: 'f', reservedAt: id });

  it('keeps the first reservation of a key, and returns copies', async () => {
    const store = new MemoryIdempotencyStore();
    const own = reservation('k', 1);
    const reserved = await store.reserve([own, reservation('l', 2)]);
    expect([...reserved]).to.deep.equal([
      ['k', own],
      ['l', reservation('l', 2)],
    ]);
    expect((await store.reserve([reservation('k', 9)])).get('k')).to.deep.equal(own);
    for (const copy of [own, reserved.get('k') ?? own]) Object.assign(copy, { id: 7 });
    expect([...(await store.find(['x', 'k']))]).to.deep.equal([['k', reservation('k', 1)]]);
  });

  it('forgets purged reservations', async () => {
    const store = new MemoryIdempotencyStore();
    await store.reserve([reservation('k', 1)]);
    expect(await store.purgeBefore(2, 5)).to.equal(1);
    expect(await store.find(['k'])).to.have.length(0);
    expect(store.retentionMs).to.be.above(0);
  });
});
