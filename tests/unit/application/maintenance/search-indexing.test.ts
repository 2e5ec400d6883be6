import { expect } from 'chai';
import { SearchIndexing } from '#src/application/maintenance/search-indexing.js';

const BEGIN = 'indexing the words of records; searches are slower until this is done';
const PROGRESS = 'words of records indexed';

describe('the indexing of words', () => {
  let log: [event: string, details: unknown][] = [];
  const logger = { info: (event: string, details?: object) => void log.push([event, details]) };
  beforeEach(() => {
    log = [];
  });

  /** An index of some records, of which a call indexes at most `each`. */
  const indexOf = (name: string, records: number, each = 250) => {
    const index = {
      name,
      left: records,
      indexNext: async (limit: number) => {
        expect(limit).to.equal(250);
        const count = Math.min(each, index.left);
        index.left -= count;
        return count;
      },
    };
    return index;
  };

  it('indexes every record of every table, and logs the begin and the end', async () => {
    const indexes = [indexOf('products', 600), indexOf('users', 0), indexOf('orders', 1)];
    await new SearchIndexing(indexes, logger).run();
    expect(indexes.map(({ left }) => left)).to.deep.equal([0, 0, 0]);
    expect(log).to.deep.equal([
      [BEGIN, { table: 'products' }],
      [PROGRESS, { table: 'products', records: 600 }],
      [BEGIN, { table: 'orders' }],
      [PROGRESS, { table: 'orders', records: 1 }],
    ]);
  });

  it('indexes the other tables if one fails, and then says so', async () => {
    const failing = { ...indexOf('products', 1), indexNext: () => Promise.reject(new Error('It fails.')) };
    const other = indexOf('users', 1);
    const error = await new SearchIndexing([failing, other], logger).run().catch((reason: Error) => reason);
    expect(error).to.be.an('error').with.property('message', 'It fails.');
    expect(other.left).to.equal(0);
  });

  it('logs its progress each 100,000 records', async () => {
    await new SearchIndexing([indexOf('products', 250_000, 50_000)], logger).run();
    expect(log).to.deep.equal([
      [BEGIN, { table: 'products' }],
      [PROGRESS, { table: 'products', records: 100_000 }],
      [PROGRESS, { table: 'products', records: 200_000 }],
      [PROGRESS, { table: 'products', records: 250_000 }],
    ]);
  });

  it('ends between two batches if it is told to, and goes on at the next call', async () => {
    const index = indexOf('products', 1_000);
    const indexing = new SearchIndexing([index], logger);
    await indexing.run(() => index.left < 700);
    expect(index.left).to.equal(500);
    await indexing.run(() => true);
    expect(index.left).to.equal(500);
    await indexing.run();
    expect(index.left).to.equal(0);
  });
});
