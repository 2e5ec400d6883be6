import { expect } from 'chai';
import { PRODUCTS as VIEW } from '#src/adapters/inbound/http/resources/definitions.js';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { ANY_VERSION } from '#src/application/records/write-conditions.js';
import type { Product } from '#src/domain/product.js';
import { FakeClock } from '../../../support/fakes.js';
import { recordService } from '../../../support/record-service.js';
import { ENDLESS, PRODUCTS } from '../../../support/tables.js';

it('a write is not dated before the record that it changes, also if the clock was set back', async () => {
  const [records, clock] = [new MemoryRepository<Product>(PRODUCTS, ENDLESS), new FakeClock()];
  const deletions: number[] = [];
  const { removeAll } = records;
  records.removeAll = (removals) => {
    deletions.push(...removals.map(({ at }) => at));
    return removeAll.call(records, removals);
  };
  const products = recordService(records, VIEW, { clock });
  const { record } = await products.create({ draft: products.draft({ name: 'Lamp' }) });
  clock.time -= 3_600_000;
  const change = { kind: 'replacement', body: { name: 'Torch' } } as const;
  expect((await products.update(record.id, ANY_VERSION, change)).updatedAt).to.equal(record.createdAt);
  await products.remove(record.id, ANY_VERSION);
  expect(deletions).to.deep.equal([record.createdAt]);
});
