import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { SAMPLE_SEED, sampleProduct } from '#src/adapters/inbound/cli/seed/sample-product.js';
import { type Product, validateProduct } from '#src/domain/product.js';

const COUNT = 2_000;

function samples(seed: number): Product[] {
  return Array.from({ length: COUNT }, (_, at) => sampleProduct(seed, at + 1));
}

/** How many of them have each value, the most common first. */
function tally(values: readonly unknown[]): number[] {
  const counts = new Map<unknown, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts.values()].sort((a, b) => b - a);
}

describe('sample products', () => {
  const bySeed = new Map([0, 1, 2, SAMPLE_SEED.max].map((seed) => [seed, samples(seed)]));
  const [first] = [...bySeed.values()];
  const products = first ?? [];

  it('are today what they were yesterday', () => {
    const digest = createHash('sha256')
      .update(JSON.stringify(bySeed.get(1)))
      .digest('hex');
    expect(digest).to.equal('8e056f110beabda7c19d13e131bc10b249e935fc82e7c8df1ef5b76c7ee78f92');
  });

  it('obey the rules of products, whatever the seed and the index', () => {
    const all = [...bySeed.values()].flat();
    all.push(...[9_999_999, 10_000_000].map((index) => sampleProduct(SAMPLE_SEED.max, index)));
    expect(all.filter((product) => validateProduct(product).length > 0)).to.deep.equal([]);
  });

  it('have a sku of their own, also beside those of another seed', () => {
    const all = [...bySeed.values()].flat();
    expect(new Set(all.map(({ sku }) => sku))).to.have.length(all.length);
  });

  it('differ from seed to seed', () => {
    const named = (seed: number) => bySeed.get(seed)?.map(({ name }) => name) ?? [];
    const other = named(2);
    expect(named(1).filter((name, at) => name === other[at])).to.have.length.below(COUNT / 20);
  });

  it('have names of great variety, some of them shared, some beyond ASCII and beyond the first plane', () => {
    const names = products.map(({ name }) => name);
    expect(new Set(names)).to.have.length.within(COUNT * 0.8, COUNT - 1);
    expect(names.filter((name) => /[^\u0020-\u007e]/.test(name))).to.have.length.greaterThan(COUNT / 50);
    expect([...bySeed.values()].flat().some(({ name }) => /[\u{10000}-\u{10ffff}]/u.test(name))).to.equal(
      true,
    );
  });

  it('begin with common and with rare words', () => {
    const counts = tally(products.map(({ name }) => name.split(' ')[0]));
    expect(counts[0]).to.be.greaterThan(COUNT / 10);
    expect(counts.filter((count) => count < COUNT / 200)).to.have.length.greaterThan(20);
  });

  it('cost something in several currencies, most of them little and some much', () => {
    const prices = products.flatMap(({ price }) => (price ? [price] : []));
    expect(tally(prices.map(({ currency }) => currency))).to.have.length.greaterThan(5);
    const amounts = prices.map(({ amount }) => amount);
    expect(amounts.filter((amount) => amount < 10_000)).to.have.length.greaterThan(COUNT / 2);
    expect(Math.max(...amounts)).to.be.greaterThan(1_000_000);
  });

  it('lack every optional field now and then, and have attributes of every type', () => {
    for (const field of ['description', 'price', 'attributes'] as const)
      expect(products.filter((product) => product[field] === undefined)).to.have.length.within(1, COUNT / 4);
    const values = products.flatMap(({ attributes }) => Object.values(attributes ?? {}));
    expect([...new Set(values.map((value) => typeof value))].sort()).to.deep.equal([
      'boolean',
      'number',
      'string',
    ]);
  });
});
