import { BSON, type Collection, type FindCursor } from 'mongodb';
import { type ListPage, type ListQuery, MAX_PAGE_BYTES } from '../../../application/list-query.js';
import type { Versioned } from '../../../domain/record.js';
import { type LiveDocument, recordOf, type StoredDocument } from './documents.js';
import { isCursorLost } from './errors.js';
import { conditionsOf } from './filter.js';
import { keysetConditions, sortOf } from './keyset.js';
import type { MongoTable } from './table.js';

/** Documents of a batch; the server ends one earlier at 16 MiB. */
const CHUNK = 250;

/**
 * All from one moment: in an index a document moves when a value of it is changed, and a walk that sees both what was
 * and what is would miss one that was in the list all the time.
 */
export const SNAPSHOT_READ = { readConcern: { level: 'snapshot' } } as const;

/** Reads the page a second time where the server loses its cursor: nothing of the first has been shown. */
export async function readPage<Fields>(
  ...page: PageParameters<Fields>
): Promise<ListPage<Versioned<Fields>>> {
  try {
    return await readOnce(...page);
  } catch (error) {
    if (!isCursorLost(error)) throw error;
    return readOnce(...page);
  }
}

type PageParameters<Fields> = [
  collection: Collection<StoredDocument>,
  table: MongoTable<Fields>,
  query: ListQuery,
  maxTimeMS: number,
];

/** Reads one record more than the page holds, to know whether there is one. */
async function readOnce<Fields>(
  ...[collection, table, query, maxTimeMS]: PageParameters<Fields>
): Promise<ListPage<Versioned<Fields>>> {
  const { filters, order, from, limit, bytes = MAX_PAGE_BYTES } = query;
  const side = from?.side ?? 'after';
  const beyond = from ? keysetConditions(table, order, from) : [];
  const cursor = collection
    .find<LiveDocument>({ $and: [...conditionsOf(table, filters), ...beyond] }, SNAPSHOT_READ)
    .sort(sortOf(order, side))
    .limit(limit + 1)
    .batchSize(CHUNK)
    .allowDiskUse()
    .maxTimeMS(maxTimeMS);
  const { documents, hasMore } = await documentsUpTo(limit, bytes, cursor);
  const records = documents.map((document) => recordOf(table, document));
  return { records: side === 'before' ? records.reverse() : records, hasMore };
}

/** The next `limit` documents, fewer where they come to `maxBytes` before; one at least where there is any. */
export async function documentsUpTo<Kind extends object>(
  limit: number,
  maxBytes: number,
  cursor: FindCursor<Kind>,
): Promise<{ documents: Kind[]; hasMore: boolean }> {
  const documents: Kind[] = [];
  let bytes = 0;
  for await (const document of cursor) {
    if (documents.length === limit || bytes >= maxBytes) return { documents, hasMore: true };
    documents.push(document);
    bytes += BSON.calculateObjectSize(document);
  }
  return { documents, hasMore: false };
}
