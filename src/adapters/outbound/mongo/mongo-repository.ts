import type { Collection, Document } from 'mongodb';
import type { ListQuery } from '../../../application/list-query.js';
import type { Repository } from '../../../application/ports/repository.js';
import { duplicateValue } from '../../../domain/errors.js';
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
import { type MongoStore, OPERATION_MS } from './mongo-store.js';
import type { MongoTable } from './mongo-table.js';

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

  async find(id: Id): Promise<Versioned<Fields> | undefined> {
    const [found] = await this.select({ _id: id }, 1, 1);
    return found;
  }

  async findByUnique(field: keyof Fields & string, value: string): Promise<Versioned<Fields> | undefined> {
    const [found] = await this.select({ [`fields.${field}`]: { $eq: value } }, 1, 1);
    return found;
  }

  async list({ limit, from }: ListQuery): Promise<readonly Versioned<Fields>[]> {
    if (!from) return this.select({}, 1, limit);
    if (from.side === 'after') return this.select({ _id: { $gt: from.id } }, 1, limit);
    return (await this.select({ _id: { $lt: from.id } }, -1, limit)).reverse();
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

  private async select(filter: Document, order: 1 | -1, limit: number): Promise<Versioned<Fields>[]> {
    const documents = await this.run((records) =>
      records
        .find<LiveDocument>({ live: true, ...filter })
        .sort({ _id: order })
        .limit(limit)
        .batchSize(limit)
        .maxTimeMS(OPERATION_MS)
        .toArray(),
    );
    return documents.map((document) => recordOf(this.table, document));
  }

  private async isTaken(id: Id): Promise<boolean> {
    return (await this.run((records) => records.findOne({ _id: id }, { projection: { _id: 1 } }))) !== null;
  }

  private asDuplicateValue(error: Parameters<typeof refusedPath>[0]): unknown {
    const field = this.table.unique.find((field) => refusedPath(error) === `fields.${field}`);
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
