import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { COLUMN_TUNING, ColumnIndex } from '#src/adapters/outbound/sqlite/lists/column-index.js';
import { ColumnBuilder } from '#src/adapters/outbound/sqlite/lists/dictionary-column.js';
import { SqliteFeedState } from '#src/adapters/outbound/sqlite/records/change-feed.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import { QueryBudget } from '#src/application/maintenance/query-budget.js';
import type { FacetField } from '#src/application/ports/list-query.js';
import type { Product } from '#src/domain/product.js';
import { SERVICE_TURN } from '#src/shared/turn.js';
import { apply, expectSame, transcript } from '../../../../../contract/query-property.js';
import { LETTERS, PRODUCT, scenarios } from '../../../../../contract/query-scenarios.js';
import { AT, next, product } from '../../../../../contract/repository/records.js';
import { FakeClock } from '../../../../../support/fakes.js';
import { sized } from '../../../../../support/run-settings.js';
import { ENDLESS, PRODUCTS } from '../../../../../support/tables.js';
import { temporaryFolder } from '../../../../../support/temporary-folder.js';
import { until } from '../../../../../support/until.js';

/** Columns are read in many pieces, and made again after few changes. */
const BUSY = { ...COLUMN_TUNING, rows: 3, leastChanged: 2, changedPart: 0 };

describe('the index of SQLite in memory', () => {
  const folder = temporaryFolder();
  const opened: SqliteDatabase[] = [];
  const open = async (file = join(mkdtempSync(join(folder, 'store-')), 'catalogue.sqlite')) => {
    const database = new SqliteDatabase(file);
    await database.open();
    opened.push(database);
    await new SqliteFeedState(database, [PRODUCTS]).turnOn();
    return database;
  };
  const repositoryOf = (database: SqliteDatabase, tuning = BUSY) =>
    new SqliteRepository<Product>(database, PRODUCTS, ENDLESS, undefined, tuning);

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.close()));
  });

  it('returns what the memory store does, whatever another process writes between two queries', async () => {
    const generator = PRODUCT(PRODUCTS.fields);
    const property = fc.asyncProperty(scenarios(generator, LETTERS), async ({ writes, queries }) => {
      const database = await open();
      const [reader, writer] = [repositoryOf(database), repositoryOf(await open(database.location))];
      const reference = new MemoryRepository<Product>(PRODUCTS, ENDLESS);
      for (let at = 0; at < writes.length; at += 5) {
        for (const write of writes.slice(at, at + 5))
          for (const repository of [writer, reference]) await apply(repository, write);
        const [lines, expected] = await Promise.all(
          [reader, reference].map((repository) =>
            transcript(repository, PRODUCTS.fields, { writes: [], queries: queries.slice(0, 3) }),
          ),
        );
        expectSame('sqlite', lines ?? [], expected ?? []);
      }
      await Promise.all(opened.splice(0).map((one) => one.close()));
    });
    await fc.assert(property, { numRuns: sized({ gate: 10, night: 200 }) });
  }).timeout(300_000);

  it('shows a query the moment at which it began, while others change records and columns are made again', async () => {
    const database = await open();
    const repository = repositoryOf(database);
    const records = Array.from({ length: 40 }, (_, at) => product(at + 1, { tags: ['a'], brand: 'x' }));
    await repository.insertAll(records);
    const index = new ColumnIndex(database, PRODUCTS, ENDLESS, undefined, BUSY);
    const tags = [{ field: 'tags' }];
    expect(await index.prepare(tags, SERVICE_TURN)).to.equal(true);
    const before = await database.inSnapshot(async (reader) => index.view(reader, tags));
    for (const record of records.slice(0, 10))
      await repository.replaceAll([{ record: next(record, { tags: ['b'] }), expected: 1 }]);
    const after = await database.inSnapshot(async (reader) => index.view(reader, tags));
    expect([...(before?.changedIds() ?? [])]).to.deep.equal([]);
    expect(records.filter(({ id }) => before?.isChanged(id))).to.deep.equal([]);
    expect([...(after?.changedIds() ?? [])]).to.deep.equal(records.slice(0, 10).map(({ id }) => id));
    await until('the columns are made again', async () => {
      await index.prepare(tags, SERVICE_TURN);
      const view = await database.inSnapshot(async (reader) => index.view(reader, tags));
      return view?.hasChanges === false && view.column({ field: 'tags' }).values?.length === 2;
    });
    expect(before?.column({ field: 'tags' }).values).to.deep.equal(['a']);
    expect([...(after?.changed() ?? [])].map(({ fields }) => (fields as Product).tags)).to.deep.equal(
      Array.from({ length: 10 }, () => ['b']),
    );
  });

  const held = async (bytes: number) => {
    const database = await open();
    const records = [product(1, { brand: 'x', tags: ['a'], attributes: { color: 'red' } })];
    await repositoryOf(database).insertAll(records);
    const index = new ColumnIndex(database, PRODUCTS, ENDLESS, undefined, { ...BUSY, bytes });
    return { index, prepare: (...fields: FacetField[]) => index.prepare(fields, SERVICE_TURN) };
  };
  const [BRAND, TAGS, CURRENCY] = [{ field: 'brand' }, { field: 'tags' }, { field: 'price.currency' }];

  it('keeps the columns of a query, and leaves out those that others used before', async () => {
    const { index, prepare } = await held(2_500);
    await prepare(BRAND);
    await prepare(TAGS);
    expect(await prepare(BRAND, CURRENCY)).to.equal(true);
    expect([index.has([BRAND, CURRENCY]), index.has([TAGS])]).to.deep.equal([true, false]);
  });

  it('makes no column again for a query whose columns are too large together', async () => {
    const { index, prepare } = await held(2_500);
    expect(await prepare(BRAND, TAGS, CURRENCY)).to.equal(false);
    const kept = index.has([TAGS, CURRENCY]);
    expect(await prepare(BRAND, TAGS, CURRENCY)).to.equal(false);
    expect([kept, index.has([TAGS, CURRENCY])]).to.deep.equal([true, true]);
  });

  it('keeps the columns of a query beside those of many attributes that no record has', async () => {
    const { index, prepare } = await held(COLUMN_TUNING.bytes);
    await prepare(BRAND);
    for (let at = 0; at < 300; at++) await prepare({ field: 'attributes', key: `none ${at}` });
    expect(index.has([BRAND])).to.equal(true);
  });

  it('lets other requests run while it merges many values with the records that changed', async () => {
    const database = await open();
    const records = Array.from({ length: 40 }, (_, at) => ({ ...product(at + 1), updatedAt: AT + at }));
    await repositoryOf(database).insertAll(records);
    const clock = new FakeClock();
    const index = new ColumnIndex(database, PRODUCTS, new QueryBudget(clock, 2_000), undefined, BUSY);
    const fields = [{ field: 'updatedAt' }];
    await index.prepare(fields, SERVICE_TURN);
    let readings = 0;
    clock.elapsed = () => readings++ * 0;
    for (const record of records.slice(0, 3))
      await repositoryOf(database).replaceAll([{ record: next(record, {}), expected: 1 }]);
    await until('the columns are made again', () =>
      database.inSnapshot(async (reader) => index.view(reader, fields)?.hasChanges === false),
    );
    expect(readings).to.be.above(40);
  });

  it('counts a record once that moves in an index while its column is read', async () => {
    const repository = repositoryOf(await open());
    const records = Array.from({ length: 40 }, (_, at) => product(at + 1));
    await repository.insertAll(records);
    const counted = repository.count([{ field: 'updatedAt', operator: 'gte', value: 0 }]);
    await repository.replaceAll([{ record: next(product(1), {}), expected: 1 }]);
    expect(await counted).to.equal(40);
  });

  it('has a record once in a column of many numbers that read it twice, because it changed meanwhile', async () => {
    const builder = new ColumnBuilder('numbers');
    for (let id = 1; id <= 70_000; id++) builder.add(id, [id]);
    builder.add(70_001, [1, 70_001]);
    const { ids, starts, keys, lists } = await builder.finish(async () => {});
    expect(lists).to.equal(undefined);
    expect([ids.length, keys[1], keys[70_000], keys[70_001]]).to.deep.equal([70_001, 1, 70_000, 70_001]);
    expect([...starts.slice(0, 2), ...starts.slice(-2)]).to.deep.equal([0, 1, 70_000, 70_001]);
    expect(ids.at(-1)).to.equal(70_001);
  });

  it('has no column of a facet with too many values', async () => {
    const builder = new ColumnBuilder('dictionary');
    const held = Array.from({ length: 65_536 }, (_, at) => builder.add(`v${at}`, [at + 1]));
    expect(held.indexOf(false)).to.equal(65_535);
  });
});
