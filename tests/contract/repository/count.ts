import { expect } from 'chai';
import type { Filter } from '#src/application/ports/list-query.js';
import { AT, product } from './records.js';
import type { TestStore } from './test-store.js';

export function countContract(store: TestStore): void {
  describe('count', () => {
    it('returns 0 for an empty store', async () => {
      expect(await store.products.count([])).to.equal(0);
      expect(await store.products.count([{ field: 'name', operator: 'ne', value: '' }])).to.equal(0);
    });

    it('counts only its own resource, without deleted records', async () => {
      await store.addAll([1, 2, 3].map((id) => product(id)));
      await store.products.removeAll([{ id: 2, expected: 1, at: AT }]);
      expect(await store.products.count([])).to.equal(2);
      expect(await store.users.count([])).to.equal(0);
    });

    it('counts the records that match the filters, in a long list too', async () => {
      await store.addAll(
        Array.from({ length: 1_500 }, (_, i) =>
          product(i + 1, {
            name: i % 3 ? 'x' : '%',
            ...(i % 2 && { price: { amount: i, currency: 'EUR' } }),
            attributes: { a: i % 5, n: i },
          }),
        ),
      );
      const n = { field: 'attributes', operator: 'attribute', key: 'n' } as const;
      const cases: [filters: Filter[], count: number][] = [
        [[], 1_500],
        [[{ field: 'name', operator: 'prefix', value: '%' }], 500],
        [[{ field: 'price.amount', operator: 'gte', value: 0 }], 750],
        [[{ field: 'price.amount', operator: 'ne', value: 1 }], 749],
        [[{ field: 'id', operator: 'in', values: [1, 1, 1_500, 1_501] }], 2],
        [[{ field: 'attributes', operator: 'attribute', key: 'a', value: '4' }], 300],
        [
          [
            { field: 'attributes', operator: 'attribute', key: 'a', value: '4' },
            { field: 'name', operator: 'eq', value: '%' },
          ],
          100,
        ],
        [[{ ...n, comparison: 'gt', number: 99 }], 1_400],
        [[{ ...n, comparison: 'gte', number: 0 }], 1_500],
        [[{ ...n, comparison: 'lt', number: 1_400 }], 1_400],
        [
          [
            { ...n, comparison: 'gt', number: 99 },
            { ...n, exists: true },
          ],
          1_400,
        ],
        [
          [
            { ...n, comparison: 'gte', number: 5 },
            { ...n, comparison: 'lt', number: 1_495 },
          ],
          1_490,
        ],
        [[{ ...n, exists: true }], 1_500],
        [[{ field: 'createdAt', operator: 'gt', value: AT - 0.5 }], 1_500],
        [[{ field: 'createdAt', operator: 'gt', value: AT }], 0],
      ];
      for (const [filters, count] of cases) {
        expect(await store.products.count(filters), JSON.stringify(filters)).to.equal(count);
      }
    });
  });
}
