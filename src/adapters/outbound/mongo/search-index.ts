import type { SearchIndex } from '../../../application/ports/search-index.js';
import type { WordsState } from '../../../application/search/words-state.js';
import { EffectGuard } from './change-log.js';
import { type LiveDocument, type MongoTable, recordOf, type StoredDocument } from './documents.js';
import { readUpTo } from './list.js';
import type { MongoCollection, MongoStore } from './store.js';
import { type IndexedWords, indexedWords, LACKS_CURRENT_WORDS, WITHOUT_WORDS, WORDS_INDEX } from './words.js';

/** A batch ends after about this many bytes of records, whose words are made in one slice of the thread. */
const BATCH_BYTES = 64 * 1024;

/**
 * The words in the documents of one table. A write that an earlier release does leaves its document without words, so
 * this finds it again. A document that is written in between keeps what that write gave it.
 */
export class MongoSearchIndex<Fields extends object> implements SearchIndex {
  readonly name: string;
  private readonly records: MongoCollection<StoredDocument>;
  private readonly guard = new EffectGuard();

  /** @param state is kept up to date */
  constructor(
    store: MongoStore,
    private readonly table: MongoTable<Fields>,
    private readonly state: WordsState,
  ) {
    this.name = table.name;
    this.records = store.collection(table.name);
  }

  async indexNext(limit: number): Promise<number> {
    const stale = await this.findStale(limit);
    this.state.areCurrent = stale.length === 0;
    this.guard.check(stale);
    if (stale.length === 0) return 0;
    const updates = stale.map(({ _id, version, words }) => ({
      updateOne: { filter: { _id, version, ...LACKS_CURRENT_WORDS }, update: { $set: words } },
    }));
    const { modifiedCount } = await this.records.run((all, maxTimeMS) =>
      all.bulkWrite(updates, { ordered: false, maxTimeMS }),
    );
    this.guard.note(stale, modifiedCount);
    return stale.length;
  }

  private async findStale(limit: number): Promise<readonly StaleDocument[]> {
    const { items } = await this.records.run((all, maxTimeMS) => {
      const cursor = all
        .find<LiveDocument>({ live: true, ...LACKS_CURRENT_WORDS }, { projection: WITHOUT_WORDS })
        .hint(WORDS_INDEX)
        .limit(limit)
        .batchSize(limit + 1)
        .maxTimeMS(maxTimeMS);
      const toItem = (document: LiveDocument): StaleDocument => {
        const record = recordOf(this.table, document);
        const words = indexedWords(this.table, record.id, record.fields);
        return { _id: record.id, version: record.version, bytes: record.fieldsBytes, words };
      };
      return readUpTo(limit, BATCH_BYTES, cursor, toItem, ({ bytes }) => bytes);
    });
    return items;
  }
}

interface StaleDocument {
  readonly _id: number;
  readonly version: number;
  readonly bytes: number;
  readonly words: Partial<IndexedWords>;
}
