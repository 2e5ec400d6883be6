import { expect } from 'chai';
import Database from 'libsql';
import { StatementCache } from '#src/adapters/outbound/sqlite/connection/connection.js';
import { residualConditionsOf } from '#src/adapters/outbound/sqlite/sql/filter.js';
import type { Filter } from '#src/application/ports/list-query.js';
import { PRODUCTS } from '../../../../../support/tables.js';

describe('the prepared statements of SQLite', () => {
  const textsOf = (cache: StatementCache) => [...cache['statements'].keys()];

  it('are bounded by their number and by the characters of their texts', () => {
    const connection = new Database(':memory:');
    const cache = new StatementCache(connection);
    for (let i = 0; i < 300; i++) cache.statement(`SELECT ${i}`);
    expect(textsOf(cache)).to.have.length(200);
    expect(textsOf(cache)).to.include('SELECT 299').and.not.include('SELECT 99');
    const long = (i: number) => `SELECT '${'x'.repeat(20_000)}', ${i}`;
    for (let i = 0; i < 30; i++) cache.statement(long(i));
    expect(textsOf(cache).join('').length).to.be.within(100_000, 131_072);
    expect(textsOf(cache)).to.include(long(29));
    expect(cache.read('SELECT 7', (statement) => statement.get())).to.deep.equal([7]);
    connection.close();
  });

  for (const [name, hasAttributes, count, length] of [
    ['one text', false, 1, 1_000],
    // Of up to four filters, each has one value or more; and there may be more filters.
    ['few texts if the index has all attributes', true, 2 + 4 + 8 + 16 + 16, 2_000],
  ] as const)
    it(`have ${name}, whatever attributes a query compares`, () => {
      const values = ['red', '5', 'true', '1.5', ''];
      const texts = new Set<string>();
      for (let i = 0; i < 1_000; i++) {
        const filters = Array.from(
          { length: 1 + (i % 100) },
          (_, at): Filter => ({
            field: 'attributes',
            operator: 'attribute',
            key: `k${at}`,
            value: values[(i * 7 + at * (1 + (i % 5))) % values.length] ?? '',
          }),
        );
        const conditions = residualConditionsOf({ ...PRODUCTS, hasAttributes }, filters);
        texts.add(conditions.map(({ text }) => text).join(' AND '));
      }
      expect(texts.size).to.be.within(1, count);
      for (const text of texts) expect(text.length).to.be.below(length);
    });
});
