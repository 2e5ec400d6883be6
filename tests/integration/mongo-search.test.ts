import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Collection, Document } from 'mongodb';
import { MongoDerivedTable } from '#src/adapters/outbound/mongo/derived-data.js';
import { wantedIndexes } from '#src/adapters/outbound/mongo/indexes.js';
import { MongoRepository } from '#src/adapters/outbound/mongo/repository.js';
import { MongoStore } from '#src/adapters/outbound/mongo/store.js';
import { DERIVED_VERSION } from '#src/application/ports/derived-data.js';
import type { Product } from '#src/domain/product.js';
import type { Id } from '#src/domain/record.js';
import { idsOf, product, query } from '../contract/repository/records.js';
import { mongoUrl } from '../support/mongo-url.js';
import { searchFor } from '../support/reference-search.js';
import { ENDLESS, PRODUCTS } from '../support/tables.js';

describe('searches on MongoDB', () => {
  let store: MongoStore;
  let products: MongoRepository<Product>;
  let derived: MongoDerivedTable;

  beforeEach(async () => {
    store = new MongoStore(mongoUrl(`search-${randomUUID()}`), wantedIndexes([PRODUCTS]), ENDLESS);
    await store.open();
    products = new MongoRepository(store, PRODUCTS);
    derived = new MongoDerivedTable(store, PRODUCTS);
  });
  afterEach(async () => {
    await store.run((database) => database.dropDatabase());
    await store.close();
  });

  const raw = <Result>(use: (all: Collection<Document & { _id: Id }>) => Promise<Result>) =>
    store.run((database) => use(database.collection('products')));
  const find = async (text: string): Promise<Id[]> => {
    const { records } = await products.list(query({ filters: [searchFor(text)] }));
    return idsOf(records);
  };

  it('read keys of the index alone, and leave words of a later release, which they trust', async () => {
    await products.insertAll([product(1, { name: 'lamp' }), product(2, { name: 'lamp' })]);
    // A document that has the word in its text but not among its words is found only by reading the text.
    const newer = { words: ['other'], derived: DERIVED_VERSION + 1 };
    await raw((all) => all.updateOne({ _id: 1 }, { $set: newer }));
    expect(await derived.isStale()).to.equal(false);
    expect(await find('lamp')).to.deep.equal([2]);
    expect(await find('other')).to.deep.equal([1]);
  });

  it('have the words of records with very many one by one, and read none of the words back', async () => {
    const han = (from: number) =>
      Array.from({ length: 500 }, (_, i) => String.fromCodePoint(0x4e00 + from + i)).join('');
    const attributes = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${i}`, han(400 * i)]));
    const all = [1, 2, 3].map((id) => product(id, { attributes }));
    for (const record of all) expect(await products.insertAll([record])).to.deep.equal(['inserted']);
    const [words] = await raw((found) => found.find().toArray());
    expect(Buffer.byteLength(JSON.stringify(words?.['words']))).to.be.within(1_000_000, 2_000_000);
    await raw((found) => found.updateMany({}, { $unset: { words: 1, derived: 1, block: 1 } }));
    for (const { id } of all) expect(await derived.deriveNext()).to.deep.equal({ records: 1, hasMore: id < 3 });
    expect(await find(han(5_345).slice(0, 64))).to.deep.equal(idsOf(all));
    expect(await products.find(2)).to.deep.equal(all[1]);
  }).timeout(60_000);
});
