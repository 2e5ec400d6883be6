import { expect } from 'chai';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import type { Product } from '#src/domain/product.js';
import type { Id } from '#src/domain/record.js';
import { yieldToEventLoop } from '#src/shared/promises.js';
import { idsOf, next, product, query } from '../../../../contract/repository/records.js';
import { searchFor } from '../../../../support/reference-search.js';
import { ENDLESS, PRODUCTS } from '../../../../support/tables.js';
import { longText } from '../../../../support/unicode-texts.js';

describe('a search in memory', () => {
  const filled = async (count: number, textOf: (id: Id) => string) => {
    const products = new MemoryRepository<Product>(PRODUCTS, ENDLESS);
    const all = Array.from({ length: count }, (_, at) => product(at + 1, { description: textOf(at + 1) }));
    await products.insertAll(all);
    return { products, all };
  };

  /** Reads a list and does something in each turn of the event loop until it is there. */
  const listBeside = async (products: MemoryRepository<Product>, text: string, work: () => void) => {
    let isOver = false;
    const reading = products.list(query({ limit: 1_000, filters: [searchFor(text)] })).finally(() => (isOver = true));
    for (; !isOver; await yieldToEventLoop()) work();
    return idsOf((await reading).records);
  };

  it('pauses after few records of much text, and after many of little text', async () => {
    for (const [records, atLeast, text] of [
      [60, 8, longText(5_000)],
      [9_000, 8, ''],
    ] as const) {
      const { products } = await filled(records, () => `lamp ${text}`);
      for (const [wanted, found] of Object.entries({ lamp: Math.min(records, 1_000), zzz: 0 })) {
        let turns = 0;
        expect(await listBeside(products, wanted, () => turns++)).to.have.length(found);
        expect(turns, `${wanted} in ${records}`).to.be.at.least(found === 1_000 ? 2 : atLeast);
      }
    }
  });

  it('finds each record as it is when it is read, if others are written in a pause', async () => {
    const { products, all } = await filled(100, (id) => `${id % 2 ? 'lamp' : 'chair'} ${longText(5_000)}`);
    let isWritten = false;
    const found = await listBeside(products, 'lamp', () => {
      if (isWritten) return;
      isWritten = true;
      for (const [id, text] of [
        [99, 'chair'],
        [100, 'lamp'],
      ] as const) {
        const old = all[id - 1];
        if (old) void products.replaceAll([{ record: next(old, { description: text }), expected: 1 }]);
      }
    });
    expect(found).to.deep.equal([...Array.from({ length: 49 }, (_, at) => 2 * at + 1), 100]);
  });
});
