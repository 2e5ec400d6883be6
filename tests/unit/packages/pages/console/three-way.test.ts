import { expect } from 'chai';
import fc from 'fast-check';
import { isSame, type JsonObject, mergePatch } from '#packages/pages/console/edit/json.js';
import { differencesOf, mergedRecord, type Side, type ThreeWay } from '#packages/pages/console/edit/three-way.js';
import { PRODUCT_FIELDS } from './product-fields.js';

/** Few values, so that the sides often agree. */
const price = fc.record({ amount: fc.nat(1), currency: fc.constantFrom('EUR', 'USD') });
const scalar = fc.constantFrom<(string | number | boolean)[]>('', 'x', '1', 1, true);
const record = fc.record(
  {
    name: fc.constantFrom('a', 'b', 'c'),
    description: fc.constantFrom('', 'd', 'e'),
    sku: fc.constantFrom('s', 't'),
    price,
    attributes: fc.dictionary(fc.constantFrom('k', 'l', 'a/b', '__proto__'), scalar, { minKeys: 1 }),
  },
  { requiredKeys: ['name'], noNullPrototype: true },
) as fc.Arbitrary<JsonObject>;
const versions: fc.Arbitrary<ThreeWay> = fc.record({ base: record, yours: record, theirs: record });

function taking(side: Side, all: ThreeWay): JsonObject {
  const chosen = differencesOf(PRODUCT_FIELDS, all).map((one) => ({ path: one.path, value: one[side] }));
  return mergedRecord(all.theirs, chosen);
}

/** Applies a merge patch in the words of RFC 7396 section 2. */
function patched(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null) return patch;
  const result = new Map(Object.entries(typeof target === 'object' && target !== null ? target : {}));
  for (const [name, value] of Object.entries(patch))
    if (value === null) result.delete(name);
    else result.set(name, patched(result.get(name), value));
  return Object.fromEntries(result);
}

describe('a merge patch of what changed', () => {
  it('turns one record into the other, and names only fields that differ', () => {
    fc.assert(
      fc.property(record, record, (from, to) => {
        const patch = mergePatch(from, to);
        expect(isSame(patched(from, patch) as JsonObject, to)).to.equal(true);
        for (const name of Object.keys(patch)) expect(isSame(from[name], to[name])).to.equal(false);
      }),
    );
  });
});

describe('the differences of a conflict', () => {
  it('taken all from one side give the record of that side', () => {
    fc.assert(
      fc.property(versions, (all) => {
        expect(isSame(taking('theirs', all), all.theirs)).to.equal(true);
        expect(isSame(taking('yours', all), all.yours)).to.equal(true);
      }),
    );
  });

  it('lose no change unseen: preselected sides keep what the only changing side wrote', () => {
    fc.assert(
      fc.property(versions, ({ base, yours, theirs }) => {
        const all = { base, yours, theirs };
        const differences = differencesOf(PRODUCT_FIELDS, all);
        const find = (name: string, key?: string) =>
          differences.find(({ path }) => path[0] === name && path[1] === key);
        const check = (name: string, key: string | undefined, of: (one: JsonObject) => unknown) => {
          const [was, mine, other] = [of(base), of(yours), of(theirs)].map((one) => JSON.stringify(one));
          const found = find(name, key);
          expect(found !== undefined, name).to.equal(mine !== other);
          const sole = mine === was ? 'theirs' : other === was ? 'yours' : undefined;
          if (found) expect(found.changed, name).to.equal(sole);
        };
        for (const name of ['name', 'description', 'sku', 'price'])
          check(name, undefined, (one) => (Object.hasOwn(one, name) ? one[name] : undefined));
        for (const key of ['k', 'l', 'a/b', '__proto__'])
          check('attributes', key, (one) => new Map(Object.entries(one['attributes'] ?? {})).get(key));
      }),
    );
  });

  it('treat a price as a whole, attributes key by key, and the same change on both sides as none', () => {
    const base = { name: 'a', price: { amount: 1, currency: 'EUR' }, attributes: { k: 1, l: 1 } };
    const yours = { ...base, name: 'z', price: { amount: 2, currency: 'EUR' }, attributes: { k: 2, l: 1 } };
    const theirs = { ...base, name: 'z', price: { amount: 1, currency: 'USD' }, attributes: { k: 1 } };
    const found = differencesOf(PRODUCT_FIELDS, { base, yours, theirs });
    expect(found.map(({ path, changed }) => [path.join(' '), changed])).to.deep.equal([
      ['price', undefined],
      ['attributes k', 'yours'],
      ['attributes l', 'theirs'],
    ]);
  });

  it('remove a map with its last key', () => {
    const all = {
      base: { name: 'a', attributes: { k: 1 } },
      yours: { name: 'a' },
      theirs: { name: 'b', attributes: { k: 1 } },
    };
    expect(mergedRecord(all.theirs, [{ path: ['attributes', 'k'], value: undefined }])).to.deep.equal({
      name: 'b',
    });
  });
});
