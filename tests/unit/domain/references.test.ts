import { expect } from 'chai';
import type { FieldTable } from '#src/domain/fields.js';
import { isReference, isWithin, referencesIn } from '#src/domain/fields.js';
import { ORDER } from '#src/domain/order.js';

describe('references', () => {
  const found = (table: FieldTable, fields: unknown) =>
    referencesIn(table, fields).map(({ to, id, path }) => [to, id, path.join('.')]);

  it('are found in every object and list, in the order of the table', () => {
    const fields = { userId: 7, items: [{ productId: 1 }, { productId: 2, quantity: 5 }] };
    expect(found(ORDER, fields)).to.deep.equal([
      ['users', 7, 'userId'],
      ['products', 1, 'items.0.productId'],
      ['products', 2, 'items.1.productId'],
    ]);
  });

  it('skip values that are no ids', () => {
    for (const fields of [undefined, null, 5, {}, { userId: 0, items: {} }, { userId: '1', items: [null, 1, []] }])
      expect(found(ORDER, fields)).to.deep.equal([]);
    expect(found({ name: { description: '', kind: 'choice', values: [] } }, { name: 1 })).to.deep.equal([]);
  });

  it('are looked for in at most 1,000 elements of a list', () => {
    const items = Array.from({ length: 1_001 }, () => ({ productId: 1 }));
    expect(found(ORDER, { items })).to.have.length(1_000);
  });

  it('are whole numbers from 1', () => {
    for (const id of [1, Number.MAX_SAFE_INTEGER]) expect(isReference(id)).to.equal(true);
    for (const id of [0, -1, 1.5, 2 ** 53, '1', null]) expect(isReference(id)).to.equal(false);
    expect([0, 1, 5, 6].map((value) => isWithin(value, { min: 1, max: 5 }))).to.deep.equal([false, true, true, false]);
  });
});
