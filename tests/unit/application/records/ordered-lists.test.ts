import { expect } from 'chai';
import { BY_ID, type ListQuery, type Position } from '#src/application/ports/list-query.js';
import { OrderedLists } from '#src/application/records/ordered-lists.js';
import { PRODUCTS } from '../../../support/tables.js';

describe('lists by any order', () => {
  it('give a store no position without a value for the first field, also if a filter asks for a value', async () => {
    const queries: ListQuery[] = [];
    const records = {
      list: async (query: ListQuery) => {
        queries.push(query);
        return { records: [], hasMore: false };
      },
    };
    const lists = new OrderedLists(records, PRODUCTS.fields);
    for (const side of ['after', 'before'] as const) {
      const from: Position = { side, inclusive: false, values: [null, 7] };
      await lists.list({
        limit: 5,
        filters: [{ field: 'stock', operator: 'gte', value: 0 }],
        order: [{ field: 'stock', descending: false }, ...BY_ID],
        from,
      });
    }
    expect(
      queries.map(({ order, from }) => [order.map(({ field }) => field).join(), from?.values]),
    ).to.deep.equal([
      ['id', [7]],
      ['id', [7]],
      ['stock,id', []],
    ]);
    for (const { from, order } of queries) if (order.length > 1) expect(from?.values[0]).to.not.equal(null);
  });
});
