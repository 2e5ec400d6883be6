import { expect } from 'chai';
import type { Filter, Position } from '#src/application/ports/list-query.js';
import type { Product } from '#src/domain/product.js';
import type { Id } from '#src/domain/record.js';
import { keysOf, outermostPosition, sorted } from './expected.js';
import { AT, by, idsOf, product, query } from './records.js';
import type { TestStore } from './test-store.js';

/** The number of records, of about 100 kB each and 15 MB together. */
const COUNT = 150;

export function largePagesContract(store: TestStore): void {
  const at = (id: Id, fields: Partial<Product> = {}) => ({
    ...product(id, { name: `n${id % 3}`, ...fields }),
    createdAt: AT + (id % 10),
  });
  // No search finds the addresses of images, so that no store looks for words in them.
  const addLarge = (count: number) =>
    store.addAll(Array.from({ length: count }, (_, i) => at(i + 1, { images: [{ url: '😀'.repeat(25_000) }] })));

  describe('pages of large records', () => {
    it('end before the limit with hasMore, and omit no record, in any order', async () => {
      await addLarge(COUNT);
      for (const sort of ['id', '-createdAt,name,-id']) {
        const order = by(sort);
        const filters: Filter[] = [{ field: 'name', operator: 'ne', value: 'n1' }];
        const matching = Array.from({ length: COUNT }, (_, i) => at(i + 1)).filter(
          ({ fields }) => fields.name !== 'n1',
        );
        for (const side of ['after', 'before'] as const) {
          const seen: Id[] = [];
          const lengths: number[] = [];
          for (let from: Position | undefined = outermostPosition(order, side); from; ) {
            const { records, hasMore } = await store.products.list(query({ limit: 1_000, filters, order, from }));
            lengths.push(records.length);
            seen.push(...idsOf(side === 'after' ? records : records.toReversed()));
            const last = side === 'after' ? records.at(-1) : records[0];
            from = last && hasMore ? { side, inclusive: false, values: keysOf(last, order) } : undefined;
          }
          const expected = idsOf(sorted(matching, order));
          expect(seen).to.deep.equal(side === 'after' ? expected : expected.toReversed());
          for (const length of lengths.slice(0, -1)) expect(length).to.be.within(10, matching.length - 1);
          expect(lengths.length).to.be.greaterThan(1);
        }
      }
    });

    it('end at the limit if it comes first', async () => {
      await addLarge(10);
      const { records, hasMore } = await store.products.list(query({ limit: 5 }));
      expect([idsOf(records), hasMore]).to.deep.equal([[1, 2, 3, 4, 5], true]);
    });
  });
}
