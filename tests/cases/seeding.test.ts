import { expect } from 'chai';
import { type Seeding, type SeedingProgress, sampleProduct, seeding } from '#src/adapters/inbound/cli/samples.js';
import * as definitions from '#src/adapters/inbound/http/resources/definitions.js';
import { MemoryIdempotencyStore } from '#src/adapters/outbound/memory/expiring.js';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { BY_ID } from '#src/application/ports/list-query.js';
import type { Repository } from '#src/application/ports/repository.js';
import { newDraft } from '#src/application/records/record-format.js';
import { RecordWriter } from '#src/application/records/record-writer.js';
import { unavailable } from '#src/domain/errors.js';
import type { Product } from '#src/domain/product.js';
import { expectAppError } from '../support/expect-refusal.js';
import { CountingBackoff, FakeClock } from '../support/fakes.js';
import { withMethod } from '../support/record-creation-harness.js';
import { ENDLESS, PRODUCTS } from '../support/tables.js';

const SEED = 7;
const draft = (body: Product) => newDraft(definitions.PRODUCTS, body);

function seedingOf(products: Repository<Product>, clock: FakeClock): Seeding {
  const [reservations, backoff] = [new MemoryIdempotencyStore(), new CountingBackoff()];
  const deps = { records: products, reservations, clock, backoff, rules: {}, fields: PRODUCTS.fields };
  return seeding(products, (ids) => new RecordWriter({ ...deps, ids }), draft);
}

describe('Seeding', () => {
  let products: Repository<Product>;
  let clock: FakeClock;
  let seed: Seeding;

  beforeEach(() => {
    products = new MemoryRepository<Product>(PRODUCTS, ENDLESS);
    clock = new FakeClock();
    seed = seedingOf(products, clock);
  });

  async function fill(count: number, of = SEED): Promise<SeedingProgress | undefined> {
    let last: SeedingProgress | undefined;
    for await (last of seed(of, count));
    return last;
  }

  async function storedProducts() {
    return (await products.list({ limit: 10_000, filters: [], order: BY_ID })).records;
  }

  it('creates the products in order, with ascending ids and the time of the clock', async () => {
    expect(await fill(2_500)).to.deep.equal({ made: 2_500, existing: 0 });
    const records = await storedProducts();
    expect(records).to.have.length(2_500);
    for (const [at, { id, version, createdAt, updatedAt, fields }] of records.entries()) {
      expect([id, version, createdAt, updatedAt]).to.deep.equal([at + 1, 1, clock.time, clock.time]);
      expect(fields).to.deep.equal(sampleProduct(SEED, at + 1));
    }
  });

  it('creates nothing in a second run, and uses no id', async () => {
    await fill(2_500);
    expect(await fill(2_500)).to.deep.equal({ made: 0, existing: 2_500 });
    expect(await storedProducts()).to.have.length(2_500);
    expect(await products.reserveIds(1)).to.equal(2_501);
  });

  it('adds the missing products for a larger number, and those of another seed', async () => {
    await fill(1_500);
    expect(await fill(2_700)).to.deep.equal({ made: 1_200, existing: 1_500 });
    expect((await storedProducts()).map(({ id }) => id)).to.deep.equal(Array.from({ length: 2_700 }, (_, i) => i + 1));
    expect(await fill(10, SEED + 1)).to.deep.equal({ made: 10, existing: 0 });
  });

  it('reports its progress, and stops between batches if the caller stops', async () => {
    const reports: SeedingProgress[] = [];
    for await (const progress of seed(SEED, 10_000)) {
      reports.push(progress);
      if (reports.length === 2) break;
    }
    expect(reports.map(({ made, existing }) => `${made} ${existing}`)).to.deep.equal(['1000 0', '2000 0']);
    expect(await storedProducts()).to.have.length(2_000);
    expect(await fill(3_000)).to.deep.equal({ made: 1_000, existing: 2_000 });
  });

  it('releases unused ids if it is stopped', async () => {
    await fill(2_000);
    for await (const _ of seed(SEED, 2_000)) break;
    expect(await products.reserveIds(1)).to.equal(2_001);
  });

  it('recreates a deleted product with a new id', async () => {
    await fill(1_200);
    await products.removeAll([{ id: 600, expected: 1, at: clock.time }]);
    expect(await fill(1_200)).to.deep.equal({ made: 1, existing: 1_199 });
    const found = await products.findByUnique('sku', sampleProduct(SEED, 600).sku);
    expect(found?.id).to.be.greaterThan(1_200);
    expect(await products.reserveIds(1), 'the unused ids were released').to.equal((found?.id ?? 0) + 1);
  });

  it('releases no id if others have reserved later ones', async () => {
    await fill(1_000);
    let other = 0;
    for await (const _ of seed(SEED, 1_000)) other = await products.reserveIds(1);
    expect(await products.reserveIds(1)).to.be.greaterThan(other);
  });

  it('passes on an outage, and creates the missing products in the next run', async () => {
    let batches = 0;
    const failing = withMethod('insertAll', async (call) => {
      const outcomes = await call();
      if (++batches === 2) throw unavailable('written, but the response was lost');
      return outcomes;
    })(products);
    const run = async () => {
      for await (const _ of seedingOf(failing, clock)(SEED, 3_000));
    };
    await expectAppError(run(), 'unavailable');
    expect(await fill(3_000)).to.deep.equal({ made: 1_000, existing: 2_000 });
    expect(await storedProducts()).to.have.length(3_000);
  });
});
