import { expect } from 'chai';
import { WordIndex } from '#src/adapters/outbound/memory/word-index.js';
import { StoredRecord } from '#src/application/records/stored-record.js';
import type { Product } from '#src/domain/product.js';
import type { Id } from '#src/domain/record.js';
import { product } from '../../../../contract/repository/records.js';
import { PRODUCTS } from '../../../../support/tables.js';
import { longText } from '../../../../support/unicode-texts.js';

const ALL = { low: 1, high: Number.POSITIVE_INFINITY };

describe('the index of words in memory', () => {
  const indexOf = (count: number, textOf: (id: Id) => string) => {
    const records = new Map<Id, StoredRecord<Product>>();
    const put = (id: Id, name: string) => void records.set(id, StoredRecord.of(product(id, { name })));
    const ids = Array.from({ length: count }, (_, at) => at + 1);
    for (const id of ids) put(id, textOf(id));
    return { index: new WordIndex<Product>(PRODUCTS, records, ids), records, put };
  };

  it('pauses often while it reads records of many words, whether they are found or not', () => {
    for (const words of [['lamp'], ['zzz'], ['lamp', 'zzz']]) {
      const { index } = indexOf(100, () => `lamp ${longText(10_000)}`);
      expect([...index.find(words, ALL, true)].length, words.join(' ')).to.be.at.least(50);
    }
  });

  it('pauses at each block of short records that it indexes', () => {
    const { index } = indexOf(4_000, (id) => `lamp ${id}`);
    for (const { cost } of index.find(['zzz'], ALL, true)) expect(cost).to.be.at.least(1_000);
    expect([...index.find(['zzz'], ALL, true)].reduce((sum, { cost }) => sum + cost, 0)).to.be.below(1_000);
  });

  it('finds each record as it is when it is read, if others are written in a pause', () => {
    const { index, put } = indexOf(100, (id) => `${id % 2 ? 'lamp' : 'chair'} ${longText(10_000)}`);
    const seen: Id[] = [];
    for (const { records } of index.find(['lamp'], ALL, true)) {
      for (const { id, fields } of records) {
        expect(fields.name).to.match(/^lamp/);
        seen.push(id);
      }
      for (const id of [99, 100]) {
        put(id, id === 99 ? 'chair' : 'lamp');
        index.noteWrite(id);
      }
    }
    const odd = Array.from({ length: 49 }, (_, at) => 2 * at + 1);
    expect(seen).to.deep.equal([...odd, 100]);
  });
});
