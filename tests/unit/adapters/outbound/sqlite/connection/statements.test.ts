import { expect } from 'chai';
import Database from 'libsql';
import { StatementCache } from '#src/adapters/outbound/sqlite/connection/connection.js';

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
    expect(cache.row({ text: 'SELECT 7', values: [] })).to.deep.equal([7]);
    connection.close();
  });
});
