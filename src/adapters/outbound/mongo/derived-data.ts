import { type DerivedTable, LEASE_MS } from '../../../application/ports/derived-data.js';
import type { RecordTable } from '../../../application/ports/list-query.js';
import { EffectGuard } from './change-log.js';
import {
  COUNTERS,
  DERIVED_INDEX,
  derivedMembers,
  IS_STALE,
  type LiveDocument,
  recordOf,
  type StoredDocument,
  WITHOUT_WORDS,
} from './documents.js';
import { isDuplicateKey } from './errors.js';
import { readUpTo } from './list.js';
import type { MongoStore } from './store.js';

const MAX_RECORDS = 250;
/** A batch ends after about this many bytes of records, whose words are made in one slice of the thread. */
const BATCH_BYTES = 64 * 1024;

/**
 * The derived members of the documents of one table. A write that an earlier release does leaves its document without
 * their version, so it is found again. A document that is written in between keeps what that write gave it.
 */
export class MongoDerivedTable implements DerivedTable {
  readonly name: string;
  private readonly guard = new EffectGuard();

  constructor(
    private readonly store: MongoStore,
    private readonly table: RecordTable,
  ) {
    this.name = table.name;
  }

  async isStale(): Promise<boolean> {
    return (await this.findStale(1)).items.length > 0;
  }

  async deriveNext() {
    const { items, hasMore } = await this.findStale(MAX_RECORDS);
    this.guard.check(items);
    if (items.length === 0) return { records: 0, hasMore };
    const updates = items.map(({ _id, version, derived }) => ({
      updateOne: { filter: { _id, version, ...IS_STALE }, update: { $set: derived } },
    }));
    const { modifiedCount } = await this.store.run((database, maxTimeMS) =>
      database.collection<StoredDocument>(this.name).bulkWrite(updates, { ordered: false, maxTimeMS }),
    );
    this.guard.note(items, modifiedCount);
    return { records: items.length, hasMore };
  }

  private findStale(limit: number) {
    return this.store.run((database, maxTimeMS) => {
      const cursor = database
        .collection(this.name)
        .find<LiveDocument>(IS_STALE, { projection: WITHOUT_WORDS, hint: DERIVED_INDEX.name, maxTimeMS })
        .limit(limit + 1)
        .batchSize(limit + 1);
      const toItem = (document: LiveDocument) => {
        const record = recordOf<object>(document);
        const { id: _id, version, fieldsBytes: bytes } = record;
        return { _id, version, bytes, derived: derivedMembers(this.table, record) };
      };
      return readUpTo(limit, BATCH_BYTES, cursor, toItem, ({ bytes }) => bytes);
    });
  }
}

interface LeaseDocument {
  readonly _id: 'derived data';
  readonly holder: string;
  readonly takenAt: Date;
  readonly records: number;
}

/** The lease of the process that makes derived data: a document of {@link COUNTERS}. */
export function derivedDataLease(store: MongoStore) {
  const _id = 'derived data';
  return {
    lease: (holder: string, records: number): Promise<number | undefined> =>
      store.run(async (database, maxTimeMS) => {
        const leases = database.collection<LeaseDocument>(COUNTERS);
        const { localTime } = await database.command({ hello: 1 });
        const isOver = { takenAt: { $lt: new Date(Number(localTime) - LEASE_MS) } };
        try {
          await leases.updateOne(
            { _id, $or: [{ holder }, isOver] },
            { $set: { holder, records }, $currentDate: { takenAt: true } },
            { upsert: true, maxTimeMS },
          );
          return undefined;
        } catch (error) {
          // Another process has it, so the update would insert it once more.
          if (!isDuplicateKey(error)) throw error;
          return (await leases.findOne({ _id }, { maxTimeMS }))?.records ?? 0;
        }
      }),
    release: async (holder: string): Promise<void> => {
      await store.run((database, maxTimeMS) =>
        database.collection<LeaseDocument>(COUNTERS).deleteOne({ _id, holder }, { maxTimeMS }),
      );
    },
  };
}
