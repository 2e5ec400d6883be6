import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { SAMPLE_SEED, sampleProduct } from '#src/adapters/inbound/cli/samples.js';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/definitions.js';
import { newDraft } from '#src/application/records/record-format.js';
import { presentablePattern } from '#src/application/records/record-json.js';
import { PRODUCT, type Product } from '#src/domain/product.js';
import { canonicalJson } from '#src/shared/json.js';

const LINES = 200;
const COUNT = 2_000;

const samplesOf = (seed: number) => Array.from({ length: COUNT }, (_, at) => sampleProduct(seed, at + 1));

describe('sampleProduct', () => {
  const ofSeeds = [SAMPLE_SEED.default, 0, 2, SAMPLE_SEED.max].map(samplesOf);
  const all = ofSeeds.flat();
  const [products = [], other = []] = ofSeeds;
  const lines = products.slice(0, LINES);

  it('returns the same products in every release', () => {
    const digest = createHash('sha256').update(canonicalJson(products)).digest('hex');
    expect(digest).to.equal('b9f9871183cd7f43a7880e5fdf879f3ba81c0478a0a05afb772f6652aa351340');
  });

  it('returns valid products with the fields in the order in which the service stores them', () => {
    all.push(...[9_999_999, 10_000_000].map((index) => sampleProduct(SAMPLE_SEED.max, index)));
    expect(all.flatMap((product) => newDraft(PRODUCTS, product).issues)).to.deep.equal([]);
    const shown = presentablePattern(PRODUCT);
    expect(all.filter((product) => !shown.test(JSON.stringify(product)))).to.deep.equal([]);
  });

  it('returns unique skus, also across seeds, and other products for another seed', () => {
    expect(new Set(all.map(({ sku }) => sku))).to.have.length(all.length);
    const names = new Set(products.map(({ name }) => name));
    expect(other.filter(({ name }) => names.has(name))).to.have.length.below(COUNT / 20);
  });

  it('begins with products as of a shop: unique names, real categories, no address that nobody serves', () => {
    for (const field of ['name', 'description'] as const)
      expect(new Set(lines.map((line) => line[field])).size).to.be.greaterThan(LINES / 2);
    expect(new Set(lines.map(({ name }) => name))).to.have.length(LINES);
    for (const { tags, images, url } of all) {
      expect(tags?.[0]).to.match(/^[A-Z][a-z]+(\/[A-Z][a-z]+( [a-z]+)*)?$/);
      expect([images, url]).to.deep.equal([undefined, undefined]);
    }
    const has = (isSo: (line: Product) => unknown) => lines.filter(isSo).length;
    expect(has(({ status }) => status === 'draft')).to.be.greaterThan(0);
    expect(has(({ status }) => status === 'archived')).to.be.greaterThan(0);
    expect(has(({ stock }) => stock === 0)).to.be.greaterThan(2);
    expect(has(({ gtin }) => gtin)).to.be.greaterThan(LINES / 2);
    expect(has(({ price }) => price?.currency === 'EUR')).to.be.greaterThan(LINES / 2);
    expect(new Set(lines.map(({ price }) => price?.currency)).size).to.be.greaterThan(5);
    const values = lines.flatMap(({ attributes = {} }) => Object.values(attributes));
    expect(new Set(values.map((value) => typeof value))).to.have.keys('boolean', 'number', 'string');
    expect(lines.filter(({ name }) => /[^\u0020-\u007e]/.test(name)).length).to.be.greaterThan(5);
  });

  it('has variants: a group is what several products share that differ in one attribute', () => {
    const groups = new Map<string, Product[]>();
    for (const product of products)
      if (product.group) groups.set(product.group, [...(groups.get(product.group) ?? []), product]);
    expect(groups.size).to.be.greaterThan(100);
    for (const variants of groups.values()) {
      expect(variants.length).to.be.within(2, 4);
      expect(new Set(variants.map(({ attributes = {} }) => Object.keys(attributes)[0]))).to.have.length(1);
    }
  });
});
