import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { SAMPLE_SEED, sampleProduct } from '#src/adapters/inbound/cli/seed/sample-product.js';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/definitions.js';
import { newDraft } from '#src/application/records/record-format.js';
import { presentablePattern } from '#src/application/records/record-json.js';
import { PRODUCT, type Product } from '#src/domain/product.js';
import { canonicalJson } from '#src/shared/json.js';

const COUNT = 2_000;

function samples(seed: number): Product[] {
  return Array.from({ length: COUNT }, (_, at) => sampleProduct(seed, at + 1));
}

/** The number of occurrences of each value, the most common first. */
function tally(values: readonly unknown[]): number[] {
  const counts = new Map<unknown, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts.values()].sort((a, b) => b - a);
}

describe('sampleProduct', () => {
  const bySeed = new Map([0, 1, 2, SAMPLE_SEED.max].map((seed) => [seed, samples(seed)]));
  const [first] = [...bySeed.values()];
  const products = first ?? [];
  const without = (field: keyof Product) => products.filter((product) => product[field] === undefined);

  it('returns the same products in every release', () => {
    const digest = createHash('sha256')
      .update(canonicalJson(bySeed.get(1)))
      .digest('hex');
    expect(digest).to.equal('c6844048d42c0303829a911ebf22f9cff5a8440168f68c80c8f9a147ed0f5e7b');
  });

  it('returns valid products for every seed and index', () => {
    const all = [...bySeed.values()].flat();
    all.push(...[9_999_999, 10_000_000].map((index) => sampleProduct(SAMPLE_SEED.max, index)));
    expect(all.flatMap((product) => newDraft(PRODUCTS, product).issues)).to.deep.equal([]);
  });

  it('returns fields in the order in which the service stores them', () => {
    const shown = presentablePattern(PRODUCT);
    expect(products.filter((product) => !shown.test(JSON.stringify(product)))).to.deep.equal([]);
  });

  it('returns unique skus, also across seeds', () => {
    const all = [...bySeed.values()].flat();
    expect(new Set(all.map(({ sku }) => sku))).to.have.length(all.length);
  });

  it('returns different products for different seeds', () => {
    const namesOf = (seed: number) => bySeed.get(seed)?.map(({ name }) => name) ?? [];
    const other = namesOf(2);
    expect(namesOf(1).filter((name, at) => name === other[at])).to.have.length.below(COUNT / 20);
  });

  it('returns varied names: some duplicate, some beyond ASCII, some beyond the Basic Multilingual Plane', () => {
    const names = products.map(({ name }) => name);
    expect(new Set(names)).to.have.length.within(COUNT * 0.8, COUNT - 1);
    expect(names.filter((name) => /[^\u0020-\u007e]/.test(name))).to.have.length.greaterThan(COUNT / 50);
    expect([...bySeed.values()].flat().some(({ name }) => /[\u{10000}-\u{10ffff}]/u.test(name))).to.equal(
      true,
    );
  });

  it('starts names with common and with rare words', () => {
    const counts = tally(products.map(({ name }) => name.split(' ')[0]));
    expect(counts[0]).to.be.greaterThan(COUNT / 10);
    expect(counts.filter((count) => count < COUNT / 200)).to.have.length.greaterThan(20);
  });

  it('returns prices in several currencies, most of them low and some high', () => {
    const prices = products.flatMap(({ price }) => (price ? [price] : []));
    expect(tally(prices.map(({ currency }) => currency))).to.have.length.greaterThan(5);
    const amounts = prices.map(({ amount }) => amount);
    expect(amounts.filter((amount) => amount < 10_000)).to.have.length.greaterThan(COUNT / 2);
    expect(Math.max(...amounts)).to.be.greaterThan(1_000_000);
  });

  it('omits each optional field sometimes, and returns attributes of every type', () => {
    const common = ['description', 'price', 'attributes', 'tags', 'images', 'brand', 'stock'] as const;
    for (const field of common) expect(without(field), field).to.have.length.within(1, COUNT / 4);
    for (const field of ['url', 'gtin', 'group', 'status'] as const)
      expect(without(field), field).to.have.length.within(COUNT / 4, COUNT - 1);
    const values = products.flatMap(({ attributes }) => Object.values(attributes ?? {}));
    expect([...new Set(values.map((value) => typeof value))].sort()).to.deep.equal([
      'boolean',
      'number',
      'string',
    ]);
  });

  it('returns paths and marks as tags, some common and some rare, and up to three pictures', () => {
    const counts = tally(products.flatMap(({ tags = [] }) => tags));
    expect(counts[0]).to.be.greaterThan(COUNT / 10);
    expect(counts.filter((count) => count < COUNT / 100)).to.have.length.greaterThan(20);
    expect(products.filter(({ tags = [] }) => tags.length > 1)).to.have.length.greaterThan(COUNT / 10);
    for (const { tags } of products) if (tags) expect(tags[0]).to.match(/^[a-z]{3}\/[^/ ]+$/u);
    expect(tally(products.flatMap(({ images }) => (images ? [images.length] : [])))).to.have.length(3);
  });

  it('returns variants, drafts, what is archived and what is sold out', () => {
    const variants = tally(products.flatMap(({ group }) => (group === undefined ? [] : [group])));
    expect(variants.filter((count) => count > 1)).to.have.length.greaterThan(COUNT / 50);
    const statuses = products.flatMap(({ status }) => (status === undefined ? [] : [status]));
    expect(new Set(statuses)).to.have.keys('draft', 'archived');
    expect(products.filter(({ stock }) => stock === 0)).to.have.length.within(COUNT / 50, COUNT / 4);
  });
});
