import type { Document, MongoServerError } from 'mongodb';
import type {
  Facet,
  FacetQuery,
  Filter,
  ListPage,
  ListQuery,
  RecordTable,
  Value,
} from '../../../application/ports/list-query.js';
import type {
  InsertOutcome,
  RecordVersion,
  Removal,
  Replacement,
  ReplaceOutcome,
  Repository,
} from '../../../application/ports/repository.js';
import { type Blocks, countByBlocks, listByBlocks } from '../../../application/records/block-scan.js';
import { type IndexKey, isIndexed } from '../../../application/records/list-indexes.js';
import { foldedValue, ownersOf } from '../../../application/records/query-semantics.js';
import { type AppError, duplicateValue } from '../../../domain/errors.js';
import { uniqueFields } from '../../../domain/fields.js';
import type { Id, Versioned } from '../../../domain/record.js';
import type { Task } from '../../../shared/task-scheduler.js';
import {
  BLOCK_IDS,
  documentOf,
  recordOf,
  type StoredDocument,
  type TombstoneDocument,
  uniquePath,
  WITHOUT_WORDS,
} from './documents.js';
import { isDuplicateKey, rejectedDocuments, violatedIndex } from './errors.js';
import { conditionsOf, rangeConditions } from './filter.js';
import { listKeys } from './indexes.js';
import { countDistinct, hintFor, readFacets, readPage, SNAPSHOT_READ } from './list.js';
import { IdCounter } from './small-tables.js';
import type { CollectionOperation, MongoCollection, MongoStore } from './store.js';

/** The server's name of the index on `_id`. */
const ID_INDEX = '_id_';

/** The most records that one reply brings. */
const RECORDS_AT_ONCE = 64;

/** Every write changes one document, so no write needs a transaction. */
export class MongoRepository<Fields> extends IdCounter implements Repository<Fields> {
  private readonly records: MongoCollection<StoredDocument>;
  private readonly indexes: readonly (readonly IndexKey[])[];
  private readonly blocks: Blocks;

  /** @param feed whether this process writes the feed of the table, if it has one */
  constructor(
    private readonly store: MongoStore,
    private readonly table: RecordTable,
    private readonly feed: { readonly isOn: boolean } = { isOn: false },
  ) {
    super(store, table);
    this.records = store.collection(table.name);
    this.indexes = listKeys(table);
    this.blocks = {
      unit: BLOCK_IDS,
      findEdge: async (side) => {
        const edge = await this.records.run((all, maxTimeMS) =>
          all.findOne({ live: true }, { projection: { _id: 1 }, sort: { _id: side === 'first' ? 1 : -1 }, maxTimeMS }),
        );
        return edge?._id;
      },
    };
  }

  /** One record costs the driver less than a batch of one. */
  private async insert(record: Versioned<Fields>): Promise<InsertOutcome> {
    const document = documentOf(this.table, record);
    try {
      await this.records.run((all, maxTimeMS) => all.insertOne(document, { maxTimeMS }));
      return 'inserted';
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      const { name, path } = violatedIndex(error);
      if (name === ID_INDEX || path === '_id' || (await this.findUsedIds([record.id])).has(record.id))
        return 'id_conflict';
      return this.asDuplicateValue(error);
    }
  }

  async insertAll(records: readonly Versioned<Fields>[]): Promise<readonly InsertOutcome[]> {
    const [first, second] = records;
    if (!first) return [];
    if (!second) return [await this.insert(first)];
    const documents = records.map((record) => documentOf(this.table, record));
    try {
      await this.records.run((all, maxTimeMS) => all.insertMany(documents, { ordered: false, maxTimeMS }));
      return records.map(() => 'inserted');
    } catch (error) {
      return this.outcomes(records, rejectedDocuments(error));
    }
  }

  find(id: Id): Promise<Versioned<Fields> | undefined> {
    return this.findOne({ _id: id });
  }

  confirmAll(versions: readonly RecordVersion[]): Promise<readonly boolean[]> {
    return this.store.calls.quota.each(versions, ({ id, version }) => this.confirm(id, version));
  }

  /**
   * A former primary that does not know yet that it lost an election still serves {@link find}. A linearizable read
   * ends with a write of the primary, and succeeds only if a majority acknowledges it
   * (https://www.mongodb.com/docs/manual/reference/read-concern-linearizable/). An update that changes nothing would
   * not do: it waits for earlier writes alone.
   */
  private async confirm(id: Id, version: number): Promise<boolean> {
    const found = await this.records.run((all, maxTimeMS) =>
      all.findOne(liveIn(id, version), { projection: { _id: 1 }, readConcern: 'linearizable', maxTimeMS }),
    );
    return found !== null;
  }

  async findExistingIds(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    return this.idsAmong(ids, { live: true });
  }

  findUsedIds(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    return this.idsAmong(ids, {});
  }

  findByUnique(field: string, value: Value): Promise<Versioned<Fields> | undefined> {
    const { table } = this;
    return this.findOne({ [uniquePath(table, field)]: { $eq: foldedValue(table, field, value) } });
  }

  async findAllByUnique(field: string, values: readonly Value[]): Promise<readonly (Versioned<Fields> | undefined)[]> {
    const { table } = this;
    const wanted = values.map((value) => foldedValue(table, field, value));
    const records: Versioned<Fields>[] = [];
    // The driver reads a whole reply at once, and a record may have 135 KiB.
    for (let start = 0; start < wanted.length; start += RECORDS_AT_ONCE) {
      const some = wanted.slice(start, start + RECORDS_AT_ONCE);
      const found = await this.findIn(uniquePath(table, field), some, {}, WITHOUT_WORDS);
      for (const document of found) if ('live' in document) records.push(recordOf<Fields>(document));
    }
    return ownersOf(table, field, values, records);
  }

  async list(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    const { table } = this;
    if (isIndexed(table, query, this.indexes))
      return this.records.run((all, maxTimeMS) => readPage<Fields>(all, table, query, maxTimeMS));
    return listByBlocks(query, this.blocks, this.store.budget, (rest, range) =>
      this.records.search((all, maxTimeMS) => readPage<Fields>(all, table, rest, maxTimeMS, range), query.task),
    );
  }

  /**
   * Without filters an index on each field has all that counts, and the server need not read the documents of those that
   * it covers. With filters the documents must be read, and one aggregation reads them once.
   */
  async facets(query: FacetQuery): Promise<readonly Facet[]> {
    const { filters, fields, task } = query;
    const time = this.store.budget.start(task);
    const facets: Facet[] = [];
    for (const some of filters.length === 0 ? fields.map((field) => [field]) : [fields]) {
      const read: CollectionOperation<StoredDocument, Facet[]> = (all, maxTimeMS) =>
        readFacets(all, this.table, { ...query, fields: some }, maxTimeMS);
      facets.push(...(await this.records.search(read, task)));
      await time.checkpoint();
    }
    return facets;
  }

  async count(filters: readonly Filter[], task?: Task, distinct?: string): Promise<number> {
    if (distinct !== undefined)
      return this.records.search(
        (all, maxTimeMS) => countDistinct(all, this.table, filters, distinct, maxTimeMS),
        task,
      );
    return countByBlocks({ filters, task }, this.blocks, this.store.budget, (range) =>
      this.records.search((all, maxTimeMS) => {
        const bounds = range ? rangeConditions(range) : [];
        const condition = { $and: [...conditionsOf(this.table, filters), ...bounds] };
        return all.countDocuments(condition, { ...SNAPSHOT_READ, ...hintFor(filters, range), maxTimeMS });
      }, task),
    );
  }

  /** One by one: a bulk returns only how many documents it changed, not which. */
  replaceAll(replacements: readonly Replacement<Fields>[]): Promise<readonly ReplaceOutcome[]> {
    return this.store.calls.quota.each(replacements, (replacement) => this.replace(replacement));
  }

  private async replace({ record, expected }: Replacement<Fields>): Promise<ReplaceOutcome> {
    const document = documentOf(this.table, record);
    try {
      const { matchedCount } = await this.records.run((all, maxTimeMS) =>
        all.replaceOne(liveIn(record.id, expected), document, { maxTimeMS }),
      );
      return matchedCount === 1 ? 'replaced' : 'version_conflict';
    } catch (error) {
      if (isDuplicateKey(error)) return this.asDuplicateValue(error);
      throw error;
    }
  }

  removeAll(removals: readonly Removal[]): Promise<readonly boolean[]> {
    return this.store.calls.quota.each(removals, (removal) => this.remove(removal));
  }

  private async remove({ id, expected, at }: Removal): Promise<boolean> {
    const deleted = { _id: id, version: expected + 1, updatedAt: new Date(at) };
    const tombstone: TombstoneDocument = this.feed.isOn ? deleted : { ...deleted, deletedAt: new Date(at) };
    const { matchedCount } = await this.records.run((all, maxTimeMS) =>
      all.replaceOne(liveIn(id, expected), tombstone, { maxTimeMS }),
    );
    return matchedCount === 1;
  }

  /**
   * @param filter one value of `_id` or of a unique field, nothing else: the server runs such a query without planning
   *   (`isSimpleIdQuery` and `getIndexForExpressEquality` in src/mongo/db/query of https://github.com/mongodb/mongo)
   */
  private async findOne(filter: Document): Promise<Versioned<Fields> | undefined> {
    const document = await this.records.run((all, maxTimeMS) =>
      all.findOne(filter, { projection: WITHOUT_WORDS, maxTimeMS }),
    );
    return document && 'live' in document ? recordOf<Fields>(document) : undefined;
  }

  private async idsAmong(ids: readonly Id[], filter: Document): Promise<Set<Id>> {
    const found = await this.findIn('_id', ids, filter, { _id: 1 });
    return new Set(found.map(({ _id }) => _id));
  }

  /** The documents with one of these values, in one reply. @param path no two documents share a value there */
  private async findIn(
    path: string,
    values: readonly Value[],
    filter: Document,
    projection: Document,
  ): Promise<StoredDocument[]> {
    if (values.length === 0) return [];
    return this.records.run((all, maxTimeMS) =>
      all
        .find({ ...filter, [path]: { $in: [...values] } }, { projection })
        .batchSize(values.length + 1)
        .maxTimeMS(maxTimeMS)
        .toArray(),
    );
  }

  /** The outcomes of an insertion in which indexes refused some records. */
  private async outcomes(
    records: readonly Versioned<Fields>[],
    refused: ReadonlyMap<number, string>,
  ): Promise<readonly InsertOutcome[]> {
    const doubtful = records.filter((_, at) => (refused.get(at) ?? ID_INDEX) !== ID_INDEX);
    const used = await this.findUsedIds(doubtful.map(({ id }) => id));
    return records.map(({ id }, at) => {
      const index = refused.get(at);
      if (index === undefined) return 'inserted';
      if (index === ID_INDEX || used.has(id)) return 'id_conflict';
      if (!uniqueFields(this.table.fields).includes(index)) throw new Error(`The index ${index} refused a record.`);
      return duplicateValue(index);
    });
  }

  /** @throws the error itself if it is about no field of the table */
  private asDuplicateValue(error: MongoServerError): AppError {
    const { name, path } = violatedIndex(error);
    const field = uniqueFields(this.table.fields).find(
      (field) => field === name || uniquePath(this.table, field) === path,
    );
    if (!field) throw error;
    return duplicateValue(field);
  }
}

/** A record in one of its versions. A tombstone has a version too. */
function liveIn(id: Id, version: number): Document {
  return { _id: id, version, live: true };
}
