import type { Collection } from 'mongodb';
import type { RecordArchive, RecordEntry } from '../../../application/ports/archive.js';
import type { Id, Versioned } from '../../../domain/record.js';
import {
  COUNTERS,
  type CounterDocument,
  documentOf,
  recordOf,
  type StoredDocument,
  tombstoneDocumentOf,
} from './documents.js';
import { readBatch } from './read-batch.js';
import type { MongoStore } from './store.js';
import type { MongoTable } from './table.js';

export class MongoArchive<Fields> implements RecordArchive {
  readonly name: string;

  constructor(
    private readonly store: MongoStore,
    private readonly table: MongoTable<Fields>,
  ) {
    this.name = table.name;
  }

  async read(after: Id, limit: number): Promise<readonly RecordEntry[]> {
    const documents = await this.run((all, maxTimeMS) =>
      readBatch(all.find({ _id: { $gt: after } }), limit, maxTimeMS),
    );
    return documents.map((document) =>
      'live' in document
        ? recordOf(this.table, document)
        : { id: document._id, deletedAt: document.deletedAt.getTime() },
    );
  }

  async add(entries: readonly RecordEntry[]): Promise<void> {
    const documents = entries.map((entry) => this.documentOf(entry));
    await this.run((all, maxTimeMS) => all.insertMany(documents, { maxTimeMS }));
  }

  async discard(ids: readonly Id[]): Promise<void> {
    await this.run((all, maxTimeMS) => all.deleteMany({ _id: { $in: [...ids] } }, { maxTimeMS }));
  }

  async nextId(): Promise<Id> {
    const counter = await this.counting((counters, maxTimeMS) =>
      counters.findOne({ _id: this.name }, { maxTimeMS }),
    );
    return this.table.firstId + (counter?.reserved ?? 0);
  }

  async raiseNextId(next: Id): Promise<void> {
    const reserved = next - this.table.firstId;
    await this.counting((counters, maxTimeMS) =>
      counters.updateOne({ _id: this.name }, { $max: { reserved } }, { upsert: true, maxTimeMS }),
    );
  }

  private documentOf(entry: RecordEntry): StoredDocument {
    return 'deletedAt' in entry
      ? tombstoneDocumentOf(entry)
      : documentOf(this.table, entry as Versioned<Fields>);
  }

  private run<Result>(
    operation: (all: Collection<StoredDocument>, maxTimeMS: number) => Promise<Result>,
  ): Promise<Result> {
    return this.store.run((database, maxTimeMS) =>
      operation(database.collection<StoredDocument>(this.name), maxTimeMS),
    );
  }

  private counting<Result>(
    operation: (counters: Collection<CounterDocument>, maxTimeMS: number) => Promise<Result>,
  ): Promise<Result> {
    return this.store.run((database, maxTimeMS) =>
      operation(database.collection<CounterDocument>(COUNTERS), maxTimeMS),
    );
  }
}
