import { expect } from 'chai';
import { MongoServerError } from 'mongodb';
import { keysetConditions, readPage } from '#src/adapters/outbound/mongo/list.js';
import { BY_ID, type Position } from '#src/application/ports/list-query.js';
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

describe('a list on MongoDB', () => {
  it('starts at its position: the first key of the order has its own bound', () => {
    const from = { side: 'before', inclusive: true, values: ['b', 3] } as const;
    const order = [
      { field: 'name', descending: true },
      { field: 'id', descending: false },
    ];
    expect(keysetConditions(PRODUCTS, order, from)).to.deep.equal([
      { 'fields.name': { $gte: 'b' } },
      {
        $or: [
          { $and: [{ 'fields.name': { $gt: 'b' } }] },
          { $and: [{ 'fields.name': { $eq: 'b' } }, { _id: { $lte: 3 } }] },
        ],
      },
    ]);
  });

  it('goes on behind a value with what lacks it, and behind what lacks it with nothing of the field', () => {
    const branches = (side: Position['side'], ...values: Position['values']) => {
      const [, { $or } = {}] = keysetConditions(PRODUCTS, by('name,brand,id'), {
        side,
        inclusive: false,
        values,
      });
      return $or.map(({ $and }: { $and: object[] }) => Object.assign({}, ...$and.slice(1)));
    };
    const name = {};
    const lacks = { 'fields.brand': { $exists: false } };
    const tied = { 'fields.brand': { $eq: 'b' } };
    expect(branches('after', 'a', 'b', 3)).to.deep.equal([
      name,
      { 'fields.brand': { $gt: 'b' } },
      lacks,
      { ...tied, _id: { $gt: 3 } },
    ]);
    expect(branches('before', 'a', 'b', 3)).to.deep.equal([
      name,
      { 'fields.brand': { $lt: 'b' } },
      { ...tied, _id: { $lt: 3 } },
    ]);
    expect(branches('after', 'a', null, 3)).to.deep.equal([name, { ...lacks, _id: { $gt: 3 } }]);
    expect(branches('before', 'a', null, 3)).to.deep.equal([
      name,
      { 'fields.brand': { $gte: '' } },
      { ...lacks, _id: { $lt: 3 } },
    ]);
  });

  it('has no bound at its end', () => {
    const end: Position = { side: 'before', inclusive: true, values: [] };
    expect(keysetConditions(PRODUCTS, BY_ID, end)).to.deep.equal([]);
  });
});
