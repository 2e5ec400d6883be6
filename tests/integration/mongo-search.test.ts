import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Document } from 'mongodb';
import { MongoArchive } from '#src/adapters/outbound/mongo/archive.js';
import { type MongoTable, mongoTable } from '#src/adapters/outbound/mongo/documents.js';
import { wantedIndexes } from '#src/adapters/outbound/mongo/indexes.js';
import { MongoRepository } from '#src/adapters/outbound/mongo/repository.js';
import { MongoSearchIndex } from '#src/adapters/outbound/mongo/search-index.js';
import { MongoStore } from '#src/adapters/outbound/mongo/store.js';
import { BY_ID } from '#src/application/ports/list-query.js';
import { TOKENIZER_VERSION } from '#src/application/search/tokenizer.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import { idsOf, product, query } from '../contract/repository/records.js';
import { mongoUrl } from '../support/mongo-url.js';
import { searchFor } from '../support/reference-search.js';
import { ENDLESS, PRODUCTS } from '../support/tables.js';

const TABLE: MongoTable<Product> = mongoTable(PRODUCTS);
const COUNT = 700;

/** One process: its repository and its index share what they know. */
interface Replica {
  readonly products: MongoRepository<Product>;
  readonly index: MongoSearchIndex<Product>;
}

describe('searches on MongoDB', () => {
  let store: MongoStore;
  let replica: Replica;

  const newReplica = (): Replica => {
    const state = { areCurrent: false };
    return {
      products: new MongoRepository(store, TABLE, state),
      index: new MongoSearchIndex(store, TABLE, state),
    };
  };

  beforeEach(async () => {
    store = new MongoStore(mongoUrl(`search-${randomUUID()}`), wantedIndexes([PRODUCTS]), ENDLESS);
    await store.open();
    replica = newReplica();
  });
  afterEach(async () => {
    await store.run((database) => database.dropDatabase());
    await store.close();
  });

  const raw = <Result>(use: (all: import('mongodb').Collection<Document & { _id: Id }>) => Promise<Result>) =>
    store.run((database) => use(database.collection('products')));
  const documents = () => raw((all) => all.find().sort({ _id: 1 }).toArray());

  /** Takes from documents what the release before this one did not write. */
  const makeOld = (filter: Document) =>
    raw((all) => all.updateMany(filter, { $unset: { words: 1, rules: 1, block: 1 } }));
  const setRules = (filter: Document, rules: number, words: string[]) =>
    raw((all) => all.updateMany(filter, { $set: { rules, words } }));

  const find = async (text: string, { products }: Replica = replica): Promise<Id[]> => {
    const filters = [searchFor(text)];
    const all: Id[] = [];
    for (let from: { side: 'after'; inclusive: false; values: Id[] } | undefined; ; ) {
      const { records, hasMore } = await products.list(query({ limit: 90, filters, ...(from && { from }) }));
      all.push(...idsOf(records));
      const last = all.at(-1);
      if (!hasMore || last === undefined) break;
      from = { side: 'after', inclusive: false, values: [last] };
    }
    expect(await products.count(filters), `the count of ${text}`).to.equal(all.length);
    const byName = await products.list(
      query({ limit: 1_000, filters, order: [{ field: 'name', descending: true }, ...BY_ID] }),
    );
    expect(
      idsOf(byName.records).toSorted((a, b) => a - b),
      `${text} by name`,
    ).to.deep.equal(all);
    return all;
  };

  const addMany = async () => {
    const all = Array.from({ length: COUNT }, (_, i) =>
      product(7 * i + 1, { name: `lamp ${i % 2 ? 'odd' : 'even'} m${i}` }),
    );
    await replica.products.insertAll(all);
    return all;
  };
  const odd = (all: readonly Versioned<Product>[]) =>
    idsOf(all.filter(({ fields }) => fields.name.includes('odd')));

  it('find documents of an earlier release before, while and after their words are indexed', async () => {
    const all = await addMany();
    await makeOld({});
    const expected = odd(all);
    expect(await find('odd')).to.deep.equal(expected);
    for (let batches = 0; ; batches++) {
      const count = await replica.index.indexNext(250);
      expect(await find('odd')).to.deep.equal(expected);
      expect(await find('m69')).to.have.length(11);
      if (count > 0) continue;
      expect(batches).to.equal(3);
      break;
    }
    for (const { _id, words, rules, block } of await documents()) {
      const i = (_id - 1) / 7;
      expect(words).to.have.members(['lamp', i % 2 ? 'odd' : 'even', `m${i}`]);
      expect([rules, block]).to.deep.equal([TOKENIZER_VERSION, Math.floor(_id / 2_048)]);
    }
    expect(idsOf(await new MongoArchive(store, TABLE).read(0, 1_000))).to.deep.equal(idsOf(all));
  }).timeout(60_000);

  it('read keys of the index alone once all words are current', async () => {
    await addMany();
    expect(await replica.index.indexNext(1)).to.equal(0);
    // A document that has the word in its text but not among its words is found only by reading the text.
    await raw((all) => all.updateOne({ _id: 1 }, { $set: { words: ['other'] } }));
    expect(await find('m0')).to.deep.equal([]);
    expect(await find('other')).to.deep.equal([1]);
  });

  it('notice what a replica of an earlier release writes, when the words are indexed next', async () => {
    await addMany();
    expect(await replica.index.indexNext(250)).to.equal(0);
    const [first] = await documents();
    await raw((all) =>
      all.replaceOne({ _id: 1 }, { ...first, version: 2, fields: { name: 'torch' }, words: ['torch'] }),
    );
    await makeOld({ _id: 1 });
    expect(await replica.index.indexNext(250)).to.equal(1);
    expect(await find('torch')).to.deep.equal([1]);
    expect(await find('m0')).to.deep.equal([]);
    expect(await replica.index.indexNext(250)).to.equal(0);
    expect(await find('torch')).to.deep.equal([1]);
  });

  it('make words of an older tokenizer again, and leave those of a newer one, which they then trust', async () => {
    await addMany();
    await setRules({ _id: 1 }, TOKENIZER_VERSION - 1, ['stale']);
    await setRules({ _id: 8 }, TOKENIZER_VERSION + 1, ['newer']);
    const finds = async (text: string) => (await find(text)).filter((id) => id <= 8);
    expect([await finds('m0'), await finds('stale')]).to.deep.equal([[1], []]);
    expect([await finds('m1 odd'), await finds('newer')], 'by its text').to.deep.equal([[8], []]);
    expect(await replica.index.indexNext(250)).to.equal(1);
    expect(await replica.index.indexNext(250)).to.equal(0);
    expect([await finds('m0'), await finds('stale')]).to.deep.equal([[1], []]);
    expect([await finds('m1 odd'), await finds('newer')], 'by its words').to.deep.equal([[], [8]]);
    const [first, second] = await documents();
    expect(first?.['words']).to.have.members(['lamp', 'even', 'm0']);
    expect([first?.['rules'], second?.['rules']]).to.deep.equal([TOKENIZER_VERSION, TOKENIZER_VERSION + 1]);
    expect(second?.['words']).to.deep.equal(['newer']);
  });

  it('never index over a concurrent write', async () => {
    const all = await addMany();
    await makeOld({});
    const replacing = async () => {
      for (const record of all.filter((_, i) => i % 10 === 0)) {
        const changed = { ...record, version: 2, fields: { name: `changed ${record.id}` } };
        expect(await replica.products.replaceAll([{ record: changed, expected: 1 }])).to.deep.equal([
          'replaced',
        ]);
      }
      for (const record of all.filter((_, i) => i % 10 === 5))
        expect(
          await replica.products.removeAll([{ id: record.id, expected: 1, at: Date.now() }]),
        ).to.deep.equal([true]);
    };
    const indexing = async ({ index }: Replica) => {
      while ((await index.indexNext(17)) > 0);
    };
    // Three replicas index at once, in small batches, so that most batches meet a write.
    await Promise.all([replacing(), indexing(replica), indexing(newReplica()), indexing(newReplica())]);
    await indexing(replica);
    const changed = idsOf(all.filter((_, i) => i % 10 === 0));
    const kept = idsOf(all.filter((_, i) => i % 10 !== 0 && i % 10 !== 5));
    expect(await find('changed')).to.deep.equal(changed);
    expect(await find('lamp')).to.deep.equal(kept);
    for (const document of await documents()) expect('live' in document).to.equal('words' in document);
  }).timeout(60_000);

  it('go on where indexing stopped, in another process', async () => {
    const all = await addMany();
    await makeOld({});
    expect(await replica.index.indexNext(250)).to.equal(250);
    const next = newReplica();
    expect(await next.index.indexNext(1_000)).to.equal(COUNT - 250);
    expect(await next.index.indexNext(1_000)).to.equal(0);
    expect(await find('odd', next)).to.deep.equal(odd(all));
  });

  it('index documents with very many words one by one, and read none of the words back', async () => {
    const han = (from: number) =>
      Array.from({ length: 500 }, (_, i) => String.fromCodePoint(0x4e00 + from + i)).join('');
    const attributes = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${i}`, han(400 * i)]));
    const all = [1, 2, 3, 4, 5, 6, 7].map((id) => product(id, { attributes }));
    for (const record of all) expect(await replica.products.insertAll([record])).to.deep.equal(['inserted']);
    const [size = 0] = (await documents()).map(({ words }) => Buffer.byteLength(JSON.stringify(words)));
    expect(size).to.be.within(1_000_000, 2_000_000);
    await makeOld({});
    for (const _ of all) expect(await replica.index.indexNext(250)).to.equal(1);
    expect(await replica.index.indexNext(250)).to.equal(0);
    expect(await find(han(5_345).slice(0, 64))).to.deep.equal(idsOf(all));
    expect(await replica.products.find(2)).to.deep.equal(all[1]);
  }).timeout(60_000);
});
