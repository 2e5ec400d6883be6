import { expect } from 'chai';
import { MongoServerError } from 'mongodb';
import { mongoTable } from '#src/adapters/outbound/mongo/documents.js';
import { readPage } from '#src/adapters/outbound/mongo/list.js';
import { BY_ID } from '#src/application/records/list-query.js';
import { PRODUCTS } from '../../../../support/tables.js';

const AT = new Date(0);
const QUERY = { limit: 10, filters: [], order: BY_ID };

describe('a page of MongoDB whose cursor is lost between two batches', () => {
  /** A collection whose cursors fail one after the other with these codes, each behind its first document. */
  const losing = (...codes: number[]) => {
    const cursors: object[] = [];
    const find = () => {
      const code = codes[cursors.length];
      const cursor = {
        async *[Symbol.asyncIterator]() {
          yield { _id: 1, live: true, version: 1, createdAt: AT, updatedAt: AT, fields: { name: 'a' } };
          if (code !== undefined) throw new MongoServerError({ message: 'x', code });
        },
      };
      const steps = ['sort', 'limit', 'batchSize', 'allowDiskUse', 'maxTimeMS'];
      for (const step of steps) Object.assign(cursor, { [step]: () => cursor });
      cursors.push(cursor);
      return cursor;
    };
    const page = readPage({ find } as never, mongoTable(PRODUCTS), QUERY, 1_000);
    return { page, cursors };
  };

  it('is read once more, from its beginning', async () => {
    for (const code of [43, 175, 237]) {
      const { page, cursors } = losing(code);
      expect((await page).records.map(({ id }) => id)).to.deep.equal([1]);
      expect(cursors).to.have.length(2);
    }
  });

  it('is given up when that fails too', async () => {
    const { page, cursors } = losing(43, 237);
    expect(await page.catch((error: MongoServerError) => error.code)).to.equal(237);
    expect(cursors).to.have.length(2);
  });

  it('is not read again for any other reason', async () => {
    const { page, cursors } = losing(50);
    expect(await page.catch((error: MongoServerError) => error.code)).to.equal(50);
    expect(cursors).to.have.length(1);
  });
});
