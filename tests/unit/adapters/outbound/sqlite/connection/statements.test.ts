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

  it('have one text, whatever attributes a query compares', () => {
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
      const conditions = residualConditionsOf(PRODUCTS, filters);
      texts.add(conditions.map(({ text }) => text).join(' AND '));
    }
    expect(texts.size).to.equal(1);
    expect([...texts].join('').length).to.be.below(1_000);
  });
});
