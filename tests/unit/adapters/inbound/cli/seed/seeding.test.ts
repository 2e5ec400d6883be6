import { expect } from 'chai';
import { sampleProduct } from '#src/adapters/inbound/cli/seed/sample-product.js';
import { Seeding, type SeedingProgress } from '#src/adapters/inbound/cli/seed/seeding.js';
import { MemoryIdempotencyStore } from '#src/adapters/outbound/memory/idempotency-store.js';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import type { Repository } from '#src/application/ports/repository.js';
import { BY_ID } from '#src/application/records/list-query.js';
import { unavailable } from '#src/domain/errors.js';
import { normalizeProduct, type Product } from '#src/domain/product.js';
import { expectRefusal } from '../../../../../support/expect-refusal.js';
import { FakeClock } from '../../../../../support/fakes.js';
import { ENDLESS, PRODUCTS } from '../../../../../support/tables.js';

const SEED = 7;

describe('seeding', () => {
  let products: Repository<Product>;
  let clock: FakeClock;
  let seeding: Seeding;

  beforeEach(() => {
    products = new MemoryRepository<Product>(PRODUCTS, ENDLESS);
    clock = new FakeClock();
    seeding = new Seeding({ products, reservations: new MemoryIdempotencyStore(), clock });
  });

  async function fill(count: number, seed = SEED): Promise<SeedingProgress | undefined> {
    let last: SeedingProgress | undefined;
    for await (last of seeding.fill(seed, count));
    return last;
  }

  async function kept() {
    return (await products.list({ limit: 10_000, filters: [], order: BY_ID })).records;
  }

  it('makes the products from the first on, with ids in their order, at the time of the clock', async () => {
    expect(await fill(2_500)).to.deep.equal({ made: 2_500, existing: 0 });
    const records = await kept();
    expect(records).to.have.length(2_500);
    for (const [at, { id, version, createdAt, updatedAt, fields }] of records.entries()) {
      expect([id, version, createdAt, updatedAt]).to.deep.equal([at + 1, 1, clock.time, clock.time]);
      expect(fields).to.deep.equal(normalizeProduct(sampleProduct(SEED, at + 1)));
    }
  });

  it('makes nothing a second time, and uses up no id for it', async () => {
    await fill(2_500);
    expect(await fill(2_500)).to.deep.equal({ made: 0, existing: 2_500 });
    expect(await kept()).to.have.length(2_500);
    expect(await products.reserveIds(1)).to.equal(2_501);
  });

  it('adds what a larger number asks for, and another seed', async () => {
    await fill(1_500);
    expect(await fill(2_700)).to.deep.equal({ made: 1_200, existing: 1_500 });
    expect((await kept()).map(({ id }) => id)).to.deep.equal(Array.from({ length: 2_700 }, (_, i) => i + 1));
    expect(await fill(10, SEED + 1)).to.deep.equal({ made: 10, existing: 0 });
  });

  it('tells how far it has come, and stops between batches when nobody asks on', async () => {
    const reported: SeedingProgress[] = [];
    for await (const progress of seeding.fill(SEED, 10_000)) {
      reported.push(progress);
      if (reported.length === 2) break;
    }
    expect(reported).to.deep.equal([
      { made: 1_000, existing: 0 },
      { made: 2_000, existing: 0 },
    ]);
    expect(await kept()).to.have.length(2_000);
    expect(await fill(3_000)).to.deep.equal({ made: 1_000, existing: 2_000 });
  });

  it('gives ids back when it is stopped among products that were there', async () => {
    await fill(2_000);
    for await (const _ of seeding.fill(SEED, 2_000)) break;
    expect(await products.reserveIds(1)).to.equal(2_001);
  });

  it('makes what was removed in the midst of others, under an id of its own', async () => {
    await fill(1_200);
    await products.remove(600, 1, clock.time);
    expect(await fill(1_200)).to.deep.equal({ made: 1, existing: 1_199 });
    const found = await products.findByUnique('sku', sampleProduct(SEED, 600).sku);
    expect(found?.id).to.be.greaterThan(1_200);
    expect(await products.reserveIds(1), 'the ids behind it were given back').to.equal((found?.id ?? 0) + 1);
  });

  it('gives back no id that others were given before', async () => {
    await fill(1_000);
    let other = 0;
    for await (const _ of seeding.fill(SEED, 1_000)) other = await products.reserveIds(1);
    expect(await products.reserveIds(1)).to.be.greaterThan(other);
  });

  it('lets an outage through, and completes the rest later', async () => {
    let batches = 0;
    const failing = new Seeding({
      clock,
      reservations: new MemoryIdempotencyStore(),
      products: {
        findUsedIds: (ids) => products.findUsedIds(ids),
        reserveIds: (count) => products.reserveIds(count),
        releaseIds: (first, end) => products.releaseIds(first, end),
        insertAll: async (records) => {
          const outcomes = await products.insertAll(records);
          if (++batches === 2) throw unavailable('written, and the answer lost');
          return outcomes;
        },
      },
    });
    const run = async () => {
      for await (const _ of failing.fill(SEED, 3_000));
    };
    await expectRefusal(run(), 'unavailable');
    expect(await fill(3_000)).to.deep.equal({ made: 1_000, existing: 2_000 });
    expect(await kept()).to.have.length(3_000);
  });
});
