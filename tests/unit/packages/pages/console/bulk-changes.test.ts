import { expect } from 'chai';
import { actionsOf, type BulkChange, editOf, newChange, patchOf } from '#packages/pages/console/bulk/changes.js';
import { resourcesOf } from '#packages/pages/console/resources.js';
import type { CatalogueRecord } from '#packages/pages/console/types.js';
import type { OpenApi } from '#packages/pages/docs/openapi.js';
import { References } from '#packages/pages/docs/references.js';
import { documentOf } from '../../../../support/openapi/described.js';

const DOCUMENT = documentOf({}) as OpenApi;
const actions = Object.fromEntries(
  resourcesOf(DOCUMENT, new References(DOCUMENT)).map((resource) => [resource.name, actionsOf(resource)]),
);
const change = (name: string, value: BulkChange['value'], isPercent = true): BulkChange => {
  const action = actions['products']?.find(({ kind, field }) => `${kind} ${field.name}` === name);
  if (!action) throw new Error(name);
  return { ...newChange(action), value, isPercent };
};
const chips = (...texts: string[]) => ({ texts, typed: '' });

/** What changes make of a record: a merge patch, and what is skipped; or the code of the problem. */
function made(record: Omit<CatalogueRecord, 'id'>, ...changes: readonly BulkChange[]) {
  const edits = changes.map((one) => ({ name: one.action.field.name, edit: editOf(one) }));
  const problem = edits.map(({ edit }) => edit).find((edit) => typeof edit === 'object');
  if (problem) return problem.code;
  const skipped: string[] = [];
  const patch = patchOf({ id: 1, ...record }, edits as Parameters<typeof patchOf>[1], (why) => skipped.push(why));
  return [patch, ...skipped];
}

describe('changes of many records', () => {
  it('exist for lists of texts, choices, prices, numbers and texts that records share', () => {
    const names = (resource: string) => actions[resource]?.map(({ kind, field }) => `${kind} ${field.name}`).sort();
    const found = names('products');
    expect(found).to.include.members([
      'add tags',
      'price price',
      'remove tags',
      'set brand',
      'set status',
      'set stock',
    ]);
    expect(found).to.not.include.oneOf(['set name', 'set description', 'set sku', 'set gtin', 'set group', 'set url']);
    expect([names('users'), names('orders')]).to.deep.equal([[], []]);
  });

  for (const [amount, percent, expected] of [
    [1990, '5', 2090],
    [10, '5', 11],
    [30, '-5', 29],
    [50, '-1', 50],
    [999, '+2,5 %', 1024],
    [1, '-100', 0],
    [9_007_199_254_740_991, '0.000001', 9_007_199_344_812_984],
    [100, '-101', 'not_a_number'],
    [100, '', 'missing'],
    [100, 'x', 'not_a_number'],
  ] as const)
    it(`round half away from zero to the smallest unit: ${amount} by ${percent} % is ${expected}`, () => {
      const found = made({ price: { amount, currency: 'EUR' } }, change('price price', percent));
      const patch = expected === amount ? {} : { price: { amount: expected, currency: 'EUR' } };
      expect(found).to.deep.equal(typeof expected === 'string' ? expected : [patch]);
    });

  it('set a price in the currency of each record, and skip those without', () => {
    const to = change('price price', '19,9', false);
    expect(made({ price: { amount: 1, currency: 'EUR' } }, to)).to.deep.equal([
      { price: { amount: 1990, currency: 'EUR' } },
    ]);
    expect(made({ price: { amount: 1, currency: 'JPY' } }, to)).to.deep.equal([{}, 'otherCurrency']);
    expect(made({}, to, change('add tags', chips('new')))).to.deep.equal([{ tags: ['new'] }, 'noPrice']);
    expect(made({}, change('price price', '1.000', false))).to.equal('ambiguous');
    expect(made({}, change('price price', '-1', false))).to.equal('not_a_price');
  });

  it('add and remove tags, and leave out what is so already', () => {
    const tagged = { tags: ['a', 'b'], status: 'draft', stock: 4 };
    expect(made(tagged, change('add tags', chips('b', 'c')))).to.deep.equal([{ tags: ['a', 'b', 'c'] }]);
    expect(made(tagged, change('add tags', chips('b')))).to.deep.equal([{}]);
    expect(made(tagged, change('remove tags', chips('a', 'b')))).to.deep.equal([{ tags: null }]);
    expect(made({}, change('remove tags', chips('a')))).to.deep.equal([{}]);
    expect(made(tagged, change('add tags', chips('c')), change('remove tags', chips('a')))).to.deep.equal([
      { tags: ['b', 'c'] },
    ]);
    expect(made(tagged, change('add tags', chips('c')), change('remove tags', chips('c')))).to.deep.equal([{}]);
    expect(made(tagged, change('add tags', chips()))).to.equal('missing');
  });

  it('set a choice, also to none, a number and a text', () => {
    const draft = { status: 'draft', stock: 4 };
    expect(made(draft, change('set status', ''))).to.deep.equal([{ status: null }]);
    expect(made({}, change('set status', ''))).to.deep.equal([{}]);
    expect(made(draft, change('set stock', '1 000'), change('set brand', 'Löwe'))).to.deep.equal([
      { stock: 1_000, brand: 'Löwe' },
    ]);
    expect(made(draft, change('set stock', '1.5'))).to.equal('not_an_integer');
    expect(made(draft, change('set stock', ''))).to.equal('missing');
  });
});
