import { expect } from 'chai';
import { columnsOf } from '#src/adapters/inbound/http/lists/csv.js';
import { ORDER } from '#src/domain/order.js';

describe('the columns of CSV', () => {
  const { items } = ORDER;
  const { rows: _rows, ...cell } = items;
  const namesOf = (of: Parameters<typeof columnsOf>[0]) =>
    columnsOf(of).sendable.map(({ name, kind, isListed }) => [name, kind, isListed]);

  it('show each element of a list in a row of its own, if its field says so', () => {
    expect(namesOf({ table: { items } })).to.deep.equal([
      ['items.productId', 'integer', true],
      ['items.quantity', 'integer', true],
    ]);
  });

  it('show any other list in one cell of JSON', () => {
    expect(namesOf({ table: { items: cell } })).to.deep.equal([['items', 'json', false]]);
  });
});
