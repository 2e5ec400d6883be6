import type { Document } from 'mongodb';
import type { EntryCounts, RecordArchive, RecordEntry } from '../../../application/ports/archive.js';
import type { RecordTable } from '../../../application/ports/list-query.js';
import type { Id, Instant } from '../../../domain/record.js';
import {
  archivedDocumentOf,
  type LiveDocument,
  recordOf,
  type StoredDocument,
  tombstoneOf,
  WITHOUT_WORDS,
} from './documents.js';
import { IdCounter, readBehind } from './small-tables.js';
import type { MongoCollection, MongoStore } from './store.js';

const LIVE = { live: true } as const;

/** The records, tombstones and counter of one table, for copies between stores. */
export class MongoArchive extends IdCounter implements RecordArchive {
  readonly name: string;
  private readonly entries: MongoCollection<StoredDocument>;

  constructor(
    store: MongoStore,
    private readonly table: RecordTable,
  ) {
    super(store, table);
    this.name = table.name;
    this.entries = store.collection(table.name);
  }

  async read(after: Id, limit: number): Promise<readonly RecordEntry[]> {
    const documents = await readBehind(this.entries, after, limit, WITHOUT_WORDS);
    return documents.map((document) => ('live' in document ? recordOf(document) : tombstoneOf(document)));
  }

  async counts(since: Instant): Promise<EntryCounts> {
    const late = { $gte: new Date(since) };
    const deletedSince = { $or: [{ updatedAt: late }, { updatedAt: null, deletedAt: late }] };
    const tombstone = await this.entries.run((all, maxTimeMS) =>
      all.countDocuments({ live: null, ...deletedSince } as Document, { maxTimeMS }),
    );
    return { record: await this.countLive(), tombstone };
  }

  async add(entries: readonly RecordEntry[]): Promise<void> {
    const documents = entries.map((entry) => archivedDocumentOf(this.table, entry));
    await this.entries.run((all, maxTimeMS) => all.insertMany(documents, { maxTimeMS }));
  }

  async discard(ids: readonly Id[]): Promise<void> {
    await this.entries.run((all, maxTimeMS) => all.deleteMany({ _id: { $in: [...ids] } }, { maxTimeMS }));
  }

  /** Detects a creation by the counter, a deletion by the number of records, and a change by the newest time. */
  async changeMark(): Promise<string> {
    const records = await this.countLive();
    const newest = await this.entries.run((all, maxTimeMS) =>
      all.findOne<Pick<LiveDocument, 'updatedAt'>>(LIVE, {
        sort: { updatedAt: -1, _id: 1 },
        projection: { updatedAt: 1 },
        maxTimeMS,
      }),
    );
    return [await this.nextId(), records, newest?.updatedAt.getTime()].join(' ');
  }

  private countLive(): Promise<number> {
    return this.entries.run((all, maxTimeMS) => all.countDocuments(LIVE, { hint: 'live', maxTimeMS }));
  }
}
