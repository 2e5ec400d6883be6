import { BSON, type Collection, type Document } from 'mongodb';
import {
  type Filter,
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
} from '../../../application/list-query.js';
import type { InsertOutcome, Repository } from '../../../application/ports/repository.js';
import { duplicateValue } from '../../../domain/errors.js';
import { uniqueFields } from '../../../domain/fields.js';
import type { Id, Instant, Versioned } from '../../../domain/record.js';
import { isDuplicateKey, refusedPath } from './mongo-errors.js';
import {
  COUNTERS,
  type CounterDocument,
  documentOf,
  type LiveDocument,
  recordOf,
  type StoredDocument,
  tombstoneDocumentOf,
} from './mongo-record.js';
import type { MongoStore } from './mongo-store.js';
import type { MongoTable } from './mongo-table.js';

/** Documents of a batch; the server ends one earlier at 16 MiB. */
const CHUNK = 250;

/** Every write is of one document, so that none needs a transaction. */
export class MongoRepository<Fields> implements Repository<Fields> {
  constructor(
    private readonly store: MongoStore,
    private readonly table: MongoTable<Fields>,
  ) {}

  async reserveIds(count: number): Promise<Id> {
    const { name, firstId } = this.table;
    const counter = await this.counting((counters) =>
      counters.findOneAndUpdate(
        { _id: name },
        { $inc: { reserved: count } },
        { upsert: true, returnDocument: 'after' },
      ),
    );
    if (!counter) throw new Error(`There is no counter ${name}.`);
    return firstId + counter.reserved - count;
  }

  async releaseIds(first: Id, end: Id): Promise<void> {
    const { name, firstId } = this.table;
    await this.counting((counters) =>
      counters.updateOne({ _id: name, reserved: end - firstId }, { $set: { reserved: first - firstId } }),
    );
  }

  async insert(record: Versioned<Fields>): Promise<boolean> {
    try {
      await this.run((records) => records.insertOne(documentOf(this.table, record)));
      return true;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      if (refusedPath(error) === '_id' || (await this.isTaken(record.id))) return false;
      throw this.asDuplicateValue(error);
    }
  }

  find(id: Id): Promise<Versioned<Fields> | undefined> {
    return this.findOne({ _id: id });
  }

  findByUnique(field: keyof Fields & string, value: string): Promise<Versioned<Fields> | undefined> {
    return this.findOne({ [`fields.${field}`]: { $eq: value } });
  }

  async insertAll(records: readonly Versioned<Fields>[]): Promise<readonly InsertOutcome[]> {
    throw new Error(`to be written ${records.length}`);
  }

  async existing(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    throw new Error(`to be written ${ids}`);
  }

  async count(filters: readonly Filter[]): Promise<number> {
    throw new Error(`to be written ${filters}`);
  }

  async list({ limit, from }: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    const id = Number(from?.values.at(-1) ?? 0);
    if (from?.side !== 'before') return this.page({ _id: { $gt: id } }, 1, limit);
    const { records, hasMore } = await this.page({ _id: { $lt: id } }, -1, limit);
    return { records: records.toReversed(), hasMore };
  }

  async replace(record: Versioned<Fields>, expected: number): Promise<boolean> {
    const document = documentOf(this.table, record);
    try {
      const { matchedCount } = await this.run((records) =>
        records.replaceOne({ _id: record.id, version: expected }, document),
      );
      return matchedCount === 1;
    } catch (error) {
      throw isDuplicateKey(error) ? this.asDuplicateValue(error) : error;
    }
  }

  async remove(id: Id, expected: number, at: Instant): Promise<boolean> {
    const { matchedCount } = await this.run((records) =>
      records.replaceOne({ _id: id, version: expected }, tombstoneDocumentOf({ id, deletedAt: at })),
    );
    return matchedCount === 1;
  }

  private async findOne(filter: Document): Promise<Versioned<Fields> | undefined> {
    const options = { maxTimeMS: this.store.operationMs };
    const document = await this.run((records) =>
      records.findOne<LiveDocument>({ live: true, ...filter }, options),
    );
    return document ? recordOf(this.table, document) : undefined;
  }

  /** Reads one record more than the page holds, to know whether there is one. */
  private page(filter: Document, order: 1 | -1, limit: number): Promise<ListPage<Versioned<Fields>>> {
    return this.run(async (collection) => {
      const cursor = collection
        .find<LiveDocument>({ live: true, ...filter })
        .sort({ _id: order })
        .limit(limit + 1)
        .batchSize(CHUNK)
        .maxTimeMS(this.store.operationMs);
      const records: Versioned<Fields>[] = [];
      let bytes = 0;
      for await (const document of cursor) {
        if (records.length === limit || bytes >= MAX_PAGE_BYTES) return { records, hasMore: true };
        records.push(recordOf(this.table, document));
        bytes += BSON.calculateObjectSize(document);
      }
      return { records, hasMore: false };
    });
  }

  private async isTaken(id: Id): Promise<boolean> {
    return (await this.run((records) => records.findOne({ _id: id }, { projection: { _id: 1 } }))) !== null;
  }

  private asDuplicateValue(error: Parameters<typeof refusedPath>[0]): unknown {
    const field = uniqueFields(this.table.fields).find((field) => refusedPath(error) === `fields.${field}`);
    return field ? duplicateValue(field) : error;
  }

  private run<Result>(operation: (records: Collection<StoredDocument>) => Promise<Result>): Promise<Result> {
    return this.store.run((database) => operation(database.collection<StoredDocument>(this.table.name)));
  }

  /** Of two first uses of a counter that race one may find the other's document in its way; then it is there. */
  private async counting<Result>(
    operation: (counters: Collection<CounterDocument>) => Promise<Result>,
  ): Promise<Result> {
    const count = () =>
      this.store.run((database) => operation(database.collection<CounterDocument>(COUNTERS)));
    try {
      return await count();
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return count();
    }
  }
}
