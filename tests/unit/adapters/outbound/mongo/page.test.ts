import { expect } from 'chai';
import { MongoServerError } from 'mongodb';
import { keysetConditions, readPage } from '#src/adapters/outbound/mongo/list.js';
import { BY_ID } from '#src/application/ports/list-query.js';
import { by } from '../../../../contract/repository/records.js';
import { PRODUCTS } from '../../../../support/tables.js';

const AT = new Date(0);
const QUERY = { limit: 10, filters: [], order: BY_ID };

describe('readPage, if MongoDB loses the cursor between two batches,', () => {
  /** Reads from a collection whose cursors fail with these codes in turn, each after its first document. */
  const readFailing = (...codes: number[]) => {
    const cursors: { readonly isClosed: boolean }[] = [];
    const find = () => {
      const code = codes[cursors.length];
      const batch = [{ _id: 1, live: true, version: 1, createdAt: AT, updatedAt: AT, fields: { name: 'a' } }];
      const cursor = {
        isClosed: false,
        async hasNext() {
          if (batch.length === 0 && code !== undefined) throw new MongoServerError({ message: 'x', code });
          return batch.length > 0;
        },
        readBufferedDocuments: (count: number) => batch.splice(0, count),
        async close() {
          this.isClosed = true;
        },
      };
      cursors.push(cursor);
      return cursor;
    };
    const page = readPage({ find } as never, PRODUCTS, QUERY, 1_000);
    return { page, cursors };
  };

  it('reads the page once more from the start', async () => {
    for (const code of [43, 175, 237]) {
      const { page, cursors } = readFailing(code);
      expect((await page).records.map(({ id }) => id)).to.deep.equal([1]);
      expect(cursors.map(({ isClosed }) => isClosed)).to.deep.equal([true, true]);
    }
  });

  it('fails if the second attempt fails too', async () => {
    const { page, cursors } = readFailing(43, 237);
    expect(await page.catch((error: MongoServerError) => error.code)).to.equal(237);
    expect(cursors).to.have.length(2);
  });

  it('does not retry after another error', async () => {
    const { page, cursors } = readFailing(50);
    expect(await page.catch((error: MongoServerError) => error.code)).to.equal(50);
    expect(cursors).to.have.length(1);
  });
});

it('a list on MongoDB starts at its position: the first key of the order has its own bound', () => {
  const [first] = keysetConditions(PRODUCTS, by('-name,id'), { side: 'before', inclusive: true, values: ['b', 3] });
  expect(first).to.deep.equal({ 'fields.name': { $gte: 'b' } });
});
