import { expect } from 'chai';
import type { Filter } from '#src/application/ports/list-query.js';
import { sized } from '../../support/run-settings.js';
import { AT, product } from './records.js';
import type { TestStore } from './test-store.js';

const COUNT = 2_000;
/** So many are changed, one after the other. */
const CHANGES = sized({ gate: 500, night: COUNT });
const FILTERS: readonly Filter[] = [
  { field: 'updatedAt', operator: 'gte', value: 0 },
  { field: 'price.amount', operator: 'gte', value: 0 },
];

export function busyCountsContract(store: TestStore): void {
  const price = (amount: number) => ({ price: { amount, currency: 'EUR' } });
  const all = Array.from({ length: COUNT }, (_, i) => ({ ...product(i + 1, price(COUNT + i)), updatedAt: AT + i }));

  /** Moves counted records to the uncounted end of the index, and uncounted records to the counted end. */
  const updateEach = async () => {
    for (let i = 0; i < CHANGES; i++) {
      const record = all[i % 2 ? COUNT - i : i];
      if (!record) throw new Error('A record is missing.');
      const moved = i % 2 ? -i : 2 * COUNT + i;
      const fields = { ...record.fields, ...price(COUNT + moved) };
      const changed = { ...record, version: 2, updatedAt: AT + moved, fields };
      expect(await store.products.replaceAll([{ record: changed, expected: 1 }])).to.deep.equal(['replaced']);
    }
  };

  describe('counts while others write', () => {
    it('include each record once, even if the filtered fields change', async () => {
      await store.addAll(all);
      let isWriting = true;
      const writing = updateEach().finally(() => (isWriting = false));
      const counts = new Set<number>();
      const counting = async () => {
        while (isWriting) for (const filter of FILTERS) counts.add(await store.products.count([filter]));
      };
      await Promise.all([writing, counting()]);
      expect(counts).to.deep.equal(new Set([COUNT]));
    });
  });
}
