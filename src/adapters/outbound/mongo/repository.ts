import type { Collection, Document, MongoServerError } from 'mongodb';
import type { Filter, ListPage, ListQuery } from '../../../application/list-query.js';
import type { InsertOutcome, Repository } from '../../../application/ports/repository.js';
import { duplicateValue } from '../../../domain/errors.js';
import { uniqueFields } from '../../../domain/fields.js';
import type { Id, Instant, Versioned } from '../../../domain/record.js';
import { Counter } from './counters.js';
import { documentOf, recordOf, type StoredDocument, tombstoneDocumentOf } from './documents.js';
import { isDuplicateKey, rejectedDocuments, violatedIndex } from './errors.js';
import { conditionsOf } from './filter.js';
import { isIndexed } from './index-coverage.js';
import { readPage, SNAPSHOT_READ } from './list.js';
import { uniquePath } from './paths.js';
import type { MongoStore } from './store.js';
import type { MongoTable } from './table.js';

/** As the server calls it. */
const ID_INDEX = '_id_';

/** Every write is of one document, so that none needs a transaction. */
export class MongoRepository<Fields> implements Repository<Fields> {
  private readonly ids: Counter;

  constructor(
    private readonly store: MongoStore,
    private readonly table: MongoTable<Fields>,
  ) {
    this.ids = new Counter(store, table);
  }

  reserveIds(count: number): Promise<Id> {
    return this.ids.reserve(count);
  }

  releaseIds(first: Id, end: Id): Promise<void> {
    return this.ids.release(first, end);
  }

  async insert(record: Versioned<Fields>): Promise<boolean> {
    try {
      await this.run((records, maxTimeMS) =>
        records.insertOne(documentOf(this.table, record), { maxTimeMS }),
      );
      return true;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      const { name, path } = violatedIndex(error);
      if (name === ID_INDEX || path === '_id' || (await this.findUsedIds([record.id])).has(record.id))
        return false;
      throw this.asDuplicateValue(error);
    }
  }

  async insertAll(records: readonly Versioned<Fields>[]): Promise<readonly InsertOutcome[]> {
    if (records.length === 0) return [];
    const documents = records.map((record) => documentOf(this.table, record));
    try {
      await this.run((all, maxTimeMS) => all.insertMany(documents, { ordered: false, maxTimeMS }));
      return records.map(() => 'inserted');
    } catch (error) {
      return this.outcomes(records, rejectedDocuments(error));
    }
  }

  find(id: Id): Promise<Versioned<Fields> | undefined> {
    return this.findOne({ _id: id });
  }

  async findExistingIds(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    return this.idsAmong(ids, { live: true });
  }

  findUsedIds(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    return this.idsAmong(ids, {});
  }

  findByUnique(field: keyof Fields & string, value: string): Promise<Versioned<Fields> | undefined> {
    return this.findOne({ [`fields.${field}`]: { $eq: value } });
  }

  async list(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    const { table } = this;
    if (!isIndexed(table, query))
      return this.search((records, maxTimeMS) => readPage(records, table, query, maxTimeMS), query.client);
    return this.run((records, maxTimeMS) => readPage(records, table, query, maxTimeMS));
  }

  async count(filters: readonly Filter[], client?: string): Promise<number> {
    const counted = { $and: conditionsOf(this.table, filters) };
    return this.search(
      (records, maxTimeMS) => records.countDocuments(counted, { ...SNAPSHOT_READ, maxTimeMS }),
      client,
    );
  }

  async replace(record: Versioned<Fields>, expected: number): Promise<boolean> {
    const document = documentOf(this.table, record);
    try {
      const { matchedCount } = await this.run((records, maxTimeMS) =>
        records.replaceOne({ _id: record.id, version: expected }, document, { maxTimeMS }),
      );
      return matchedCount === 1;
    } catch (error) {
      throw isDuplicateKey(error) ? this.asDuplicateValue(error) : error;
    }
  }

  async remove(id: Id, expected: number, at: Instant): Promise<boolean> {
    const tombstone = tombstoneDocumentOf({ id, deletedAt: at });
    const { matchedCount } = await this.run((records, maxTimeMS) =>
      records.replaceOne({ _id: id, version: expected }, tombstone, { maxTimeMS }),
    );
    return matchedCount === 1;
  }

  /**
   * @param filter one value of `_id` or of a unique field and nothing else: such a query the server answers without a plan
   *   (`isSimpleIdQuery` and `getIndexForExpressEquality` in src/mongo/db/query of https://github.com/mongodb/mongo)
   */
  private async findOne(filter: Document): Promise<Versioned<Fields> | undefined> {
    const document = await this.run((records, maxTimeMS) => records.findOne(filter, { maxTimeMS }));
    return document && 'live' in document ? recordOf(this.table, document) : undefined;
  }

  private async idsAmong(ids: readonly Id[], filter: Document): Promise<Set<Id>> {
    if (ids.length === 0) return new Set();
    const found = await this.run((records, maxTimeMS) =>
      records
        .find({ ...filter, _id: { $in: [...ids] } }, { projection: { _id: 1 } })
        .batchSize(ids.length + 1)
        .maxTimeMS(maxTimeMS)
        .toArray(),
    );
    return new Set(found.map(({ _id }) => _id));
  }

  /** What became of records, some of which were refused by an index. */
  private async outcomes(
    records: readonly Versioned<Fields>[],
    refused: ReadonlyMap<number, string>,
  ): Promise<readonly InsertOutcome[]> {
    const doubtful = records.filter((_, at) => (refused.get(at) ?? ID_INDEX) !== ID_INDEX);
    const taken = await this.findUsedIds(doubtful.map(({ id }) => id));
    return records.map(({ id }, at) => {
      const index = refused.get(at);
      if (index === undefined) return 'inserted';
      if (index === ID_INDEX || taken.has(id)) return 'id_conflict';
      if (!uniqueFields(this.table.fields).includes(index))
        throw new Error(`The index ${index} refused a record.`);
      return duplicateValue(index);
    });
  }

  private asDuplicateValue(error: MongoServerError): unknown {
    const { name, path } = violatedIndex(error);
    const field = uniqueFields(this.table.fields).find(
      (field) => field === name || uniquePath(this.table, field) === path,
    );
    return field ? duplicateValue(field) : error;
  }

  private run<Result>(
    operation: (records: Collection<StoredDocument>, maxTimeMS: number) => Promise<Result>,
  ): Promise<Result> {
    return this.store.run((database, maxTimeMS) =>
      operation(database.collection<StoredDocument>(this.table.name), maxTimeMS),
    );
  }

  private search<Result>(
    query: (records: Collection<StoredDocument>, maxTimeMS: number) => Promise<Result>,
    client: string | undefined,
  ): Promise<Result> {
    return this.store.search(
      (database, maxTimeMS) => query(database.collection<StoredDocument>(this.table.name), maxTimeMS),
      client,
    );
  }
}
