import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteDatabase, type Statements } from '#src/adapters/outbound/sqlite/connection/database.js';
import { checkDatabase } from '#src/adapters/outbound/sqlite/diagnostics.js';
import { SqliteDerivedTable } from '#src/adapters/outbound/sqlite/records/derived-data.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import { WordIndex } from '#src/adapters/outbound/sqlite/sql/words.js';
import { DERIVED_VERSION } from '#src/application/ports/derived-data.js';
import type { Filter, ListQuery } from '#src/application/ports/list-query.js';
import { QueryBudget } from '#src/application/records/lists.js';
import { MAX_WORDS } from '#src/application/search/tokenizer.js';
import { AppError } from '#src/domain/errors.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import { AT, by, idsOf, next, product, query } from '../contract/repository/records.js';
import { UnevenClock } from '../support/fakes.js';
import { list as listed } from '../support/list.js';
import { writeOldDatabase } from '../support/old-sqlite.js';
import { expectedFinds, searchFor } from '../support/reference-search.js';
import { ENDLESS, PRODUCTS } from '../support/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { longText } from '../support/unicode-texts.js';

const COLOURS = ['red bl 1', 'green', 'grey', 'blue', 'black r 1 gx'];
const THINGS = ['lamp', 'lantern', 'chair', '東京の椅子', 'Tischbeleuchtungskörper'];
const QUERIES = listed`b l 1 r g  red  gre  l  lam gre  b l  京の  tischbeleuchtungskorper  tischbeleuchtungx  pink`;

/** Counts the snapshots, and records the writes. */
class RecordingDatabase extends SqliteDatabase {
  snapshots = 0;
  written: string[] = [];
  /** The rows that each write counts as. */
  sizes: number[] = [];

  override inSnapshot<Result>(...[work, client]: Parameters<SqliteDatabase['inSnapshot']>): Promise<Result> {
    this.snapshots++;
    return super.inSnapshot(work, client) as Promise<Result>;
  }

  override write<Result>(work: (statement: Statements) => Result, rows?: number): Promise<Result> {
    const recorded = (statement: Statements) => (sql: string) => {
      this.written.push(sql);
      return statement(sql);
    };
    this.sizes.push(rows ?? 1);
    return super.write((statement) => work(recorded(statement)), rows);
  }
}

interface Opened {
  readonly database: RecordingDatabase;
  readonly products: SqliteRepository<Product>;
  readonly derived: SqliteDerivedTable;
}

describe('the index of words in SQLite', () => {
  const root = temporaryFolder();
  const opened: Opened[] = [];
  afterEach(async () => {
    for (const { database } of opened.splice(0)) await database.close();
  });

  const newFile = () => join(mkdtempSync(join(root, 'words-')), 'catalogue.sqlite');
  const open = async (file: string, budget = ENDLESS): Promise<Opened> => {
    const database = new RecordingDatabase(file);
    await database.open();
    const one = {
      database,
      products: new SqliteRepository<Product>(database, PRODUCTS, budget),
      derived: new SqliteDerivedTable(database, PRODUCTS),
    };
    opened.push(one);
    return one;
  };
  const oldFile = (records: readonly Versioned<Product>[]) => {
    const file = newFile();
    writeOldDatabase(file, records);
    return file;
  };
  const run = ({ database }: Opened, sql: string, ...values: unknown[]) =>
    database.write((statement) => void statement(sql).run(...values));

  const named = (id: Id): Versioned<Product> =>
    product(id, {
      name: `${COLOURS[id % 5]} ${THINGS[Math.floor(id / 5) % 5]}`,
      price: { amount: id % 7, currency: 'EUR' },
    });
  const list = async ({ products }: Pick<Opened, 'products'>, text: string, changes: Partial<ListQuery> = {}) =>
    idsOf((await products.list(query({ limit: 5_000, filters: [searchFor(text)], ...changes }))).records);
  const expectAll = async (one: Opened, records: readonly Versioned<Product>[]) => {
    for (const text of QUERIES) {
      const expected = expectedFinds('products', records, text);
      expect(await list(one, text), text).to.deep.equal(expected);
      expect(await list(one, text, { order: by('-id') }), `-id ${text}`).to.deep.equal(expected.toReversed());
      expect(
        (await list(one, text, { order: by('name,id') })).sort((a, b) => a - b),
        text,
      ).to.deep.equal(expected);
      expect(await one.products.count([searchFor(text)]), `count of ${text}`).to.equal(expected.length);
    }
  };
  const deriveAll = async ({ derived }: Opened): Promise<number> => {
    let sum = 0;
    while (await derived.isStale()) sum += (await derived.deriveNext()).records;
    return sum;
  };
  const findingsIn = (file: string) =>
    checkDatabase(file, { tables: [PRODUCTS], deep: true, now: AT }).diagnoses.map(
      ({ verdict, message }) => `${verdict} ${message}`,
    );
  const BEHIND = 'ok the next start completes the indexes of products';
  /** The number of records in the index. */
  const wordsIn = ({ database }: Opened) =>
    database.read('SELECT count(*) FROM products_words_docsize', (statement) => (statement.get() as [number])[0]);
  const copies = (count: number, distance = 1) => Array.from({ length: count }, (_, at) => named(1 + at * distance));

  describe('of a file of an earlier release', () => {
    const records = copies(700);

    it('is made in batches with all words, which the check of a database examines', async () => {
      const file = oldFile(records);
      const one = await open(file);
      expect(findingsIn(file)).to.include(BEHIND);
      expect(await one.derived.deriveNext()).to.deep.equal({ records: 512, hasMore: true });
      expect(wordsIn(one)).to.equal(512);
      expect(await one.derived.deriveNext()).to.deep.equal({ records: 188, hasMore: false });
      await expectAll(one, records);
      expect(await deriveAll(one)).to.equal(0);
      expect(findingsIn(file)).to.not.include(BEHIND);
      expect(findingsIn(file).filter((message) => !message.startsWith('ok '))).to.deep.equal([]);
    });

    it('is made in smaller batches if the records are large', async () => {
      const large = copies(200).map((record) => ({
        ...record,
        fields: { ...record.fields, description: 'word '.repeat(1_000) },
      }));
      const one = await open(oldFile(large));
      expect((await one.derived.deriveNext()).records).to.be.within(90, 110);
    });

    it('has what a command writes before it is made', async () => {
      const one = await open(oldFile(records));
      await one.derived.deriveNext();
      const changed = [next(named(1), { name: 'pink' }), next(named(690), { name: 'pink' })];
      for (const record of changed)
        expect(await one.products.replaceAll([{ record, expected: 1 }])).to.deep.equal(['replaced']);
      expect(await one.products.removeAll([{ id: 600, expected: 1, at: AT }])).to.deep.equal([true]);
      await deriveAll(one);
      const kept = records.map((record) => changed.find(({ id }) => id === record.id) ?? record);
      await expectAll(
        one,
        kept.filter(({ id }) => id !== 600),
      );
    });
  });

  it('refuses writes as soon as a process of a later release makes its derived data', async () => {
    const file = newFile();
    const one = await open(file);
    await one.products.insertAll(copies(3));
    await run(one, 'UPDATE derived SET version = ?', DERIVED_VERSION + 1);
    expect(await one.derived.isStale()).to.equal(false);
    const refusal = await one.products.insertAll([named(4)]).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(AppError).with.property('code', 'unavailable');
    await expectAll(one, copies(3));
  });

  describe('and writes', () => {
    const touches = ({ database }: Opened) => database.written.filter((sql) => sql.includes('products_words'));

    for (const isKnown of [false, true])
      it(`is touched only for the records of replaceAll whose words change, ${isKnown ? 'with' : 'without'} their fields before`, async () => {
        const one = await open(newFile());
        const records = [1, 2, 3, 4].map(named);
        await one.products.insertAll(records);
        one.database.written = [];
        one.database.sizes = [];
        const edits = records.map((old) => {
          const fields = old.id === 3 ? { name: 'pink' } : { price: { amount: 99, currency: 'USD' } };
          const expected = old.id === 4 ? 2 : 1;
          return { record: next(old, fields), expected, ...(isKnown && { before: old.fields }) };
        });
        const replaced = ['replaced', 'replaced', 'replaced', 'version_conflict'];
        expect(await one.products.replaceAll(edits)).to.deep.equal(replaced);
        expect(touches(one)).to.have.length(1);
        expect(one.database.sizes, 'they share one write').to.have.length(1);
        expect(await list(one, 'pink')).to.deep.equal([3]);
        expect(await list(one, named(3).fields.name)).to.deep.equal([]);
        await expectAll(one, [...edits.slice(0, 3).map(({ record }) => record), named(4)]);
      });
  });

  it('writes records of many words one by one, so that each has a turn of its own', async () => {
    const { database, products } = await open(newFile());
    const wordy = (id: Id) => product(id, { description: longText(7_900) });
    const records = [product(1), product(2), wordy(3), wordy(4), wordy(5), product(6), product(7)];
    database.sizes = [];
    expect(await products.insertAll(records)).to.deep.equal(records.map(() => 'inserted'));
    expect(database.sizes).to.have.length(3);
    database.sizes = [];
    const edits = records.map((old) => {
      const description = old.fields.description === undefined ? 'short' : longText(20_000);
      return { record: next(old, { description }), expected: 1 };
    });
    expect(await products.replaceAll(edits)).to.deep.equal(records.map(() => 'replaced'));
    expect(database.sizes).to.have.length(3);
    database.sizes = [];
    await products.insertAll([wordy(8)]);
    await products.replaceAll([
      { record: { ...next(wordy(3), { description: longText(20_000) }), version: 3 }, expected: 2 },
    ]);
    for (const rows of database.sizes) expect(rows).to.be.above(128);
  });

  it('writes changes that keep the words together, if it is given the fields before', async () => {
    const one = await open(newFile());
    const records = [1, 2, 3, 4, 5].map((id) => product(id, { description: longText(7_900) }));
    await one.products.insertAll(records);
    one.database.sizes = [];
    const edits = records.map((old) => {
      const record = next(old, { ...old.fields, price: { amount: 99, currency: 'USD' } });
      return { record, expected: 1, before: old.fields };
    });
    expect(await one.products.replaceAll(edits)).to.deep.equal(records.map(() => 'replaced'));
    expect(one.database.sizes).to.deep.equal([records.length]);
    await expectAll(
      one,
      edits.map(({ record }) => record),
    );
  });

  it('has each record, however many words it has', async () => {
    const one = await open(newFile());
    const text = longText(MAX_WORDS + 2_000);
    const records = [1, 2].map((id) => product(id, { description: text }));
    const words = new WordIndex(PRODUCTS);
    expect(words.entryOf(1, records[0]?.fields ?? {})?.split(' ')).to.have.length(MAX_WORDS);
    await one.products.insertAll([product(1, { description: text })]);
    await one.products.insertAll([product(2, { description: text }), product(3)]);
    one.database.snapshots = 0;
    expect(await list(one, text.slice(5_000, 5_003))).to.deep.equal([1, 2]);
    expect(one.database.snapshots, 'the index answers alone').to.equal(0);
  });

  it('reads on behind records that end with their block', async () => {
    const one = await open(newFile());
    const records = Array.from({ length: 128 }, (_, at) => product(8_064 + at, { name: 'lamp' }));
    await one.products.insertAll(records);
    expect(await list(one, 'lamp')).to.deep.equal(idsOf(records));
  });

  it('pauses after few records of many words that it reads', async () => {
    let pauses = 0;
    class PausingBudget extends QueryBudget {
      override start() {
        const time = super.start();
        const checkpoint = time.checkpoint.bind(time);
        time.checkpoint = () => {
          pauses++;
          return checkpoint();
        };
        return time;
      }
    }
    const one = await open(newFile(), new PausingBudget(new UnevenClock([0.1]), 1_000));
    const text = longText(10_000);
    await one.products.insertAll(Array.from({ length: 40 }, (_, at) => product(at + 1, { description: text })));
    pauses = 0;
    expect(await list(one, text.slice(5_000, 5_040))).to.have.length(40);
    expect(pauses).to.be.at.least(10);
  });

  describe('and the time limit of queries', () => {
    const slow = () => new QueryBudget(new UnevenClock([300]), 1_000);
    const filters: Filter[] = [searchFor('l'), { field: 'url', operator: 'exists', value: true }];

    it('refuses no plain search, in any order, and no count of one', async () => {
      const one = await open(newFile(), slow());
      const records = copies(2_000, 100);
      await one.products.insertAll(records);
      const expected = expectedFinds('products', records, 'l');
      for (const sort of ['id', 'name,id', '-createdAt,-id'])
        expect(await list(one, 'l', { order: by(sort) }), sort).to.have.members(expected);
      expect(await one.products.count([searchFor('l')])).to.equal(expected.length);
      expect(await list(one, 'pink')).to.deep.equal([]);
    });

    it('refuses a search with a filter that no index serves', async () => {
      const one = await open(newFile(), slow());
      await one.products.insertAll(copies(2_000, 100));
      const refusal = await one.products.list(query({ filters })).catch((error: unknown) => error);
      expect(refusal).to.be.instanceOf(AppError).with.property('code', 'query_too_expensive');
    });

    it('refuses a search that reads many records, because they share the 16 characters that the index has', async () => {
      const one = await open(newFile(), slow());
      await one.products.insertAll(copies(2_000, 100));
      const filters = [searchFor('tischbeleuchtungskorper')];
      for (const read of [() => one.products.list(query({ filters })), () => one.products.count(filters)]) {
        const refusal = await read().catch((error: unknown) => error);
        expect(refusal).to.be.instanceOf(AppError).with.property('code', 'query_too_expensive');
      }
    });
  });
});
