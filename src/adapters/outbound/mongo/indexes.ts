import type { Db, IndexDescription, IndexDescriptionInfo, MongoClient } from 'mongodb';
import { HOUR_MS, RESERVATION_MS, USAGE_MS } from '../../../application/maintenance/retention.js';
import type { RecordTable } from '../../../application/ports/list-query.js';
import { StoreConfigError } from '../../../application/ports/store.js';
import type { StoredTable } from '../../../application/ports/table-store.js';
import { type IndexKey, listIndexes } from '../../../application/records/list-indexes.js';
import { specOf } from '../../../application/records/query-semantics.js';
import { uniqueFields } from '../../../domain/fields.js';
import {
  COUNTERS,
  changesCollection,
  DERIVED_INDEX,
  fieldPath,
  foldedPath,
  hasDerivedMembers,
  PENDING_INDEX,
  reservationCollection,
  USAGE,
  uniquePath,
  WORDS_INDEX,
} from './documents.js';
import { isCollectionMissing, isIndexConflict } from './errors.js';

/**
 * How long a tombstone is kept, as in the first release: an index with another time would be in its way. The feed needs
 * no longer time, because a reader who meets an entry without its tombstone learns that its position has expired.
 */
const TOMBSTONE_MS = 50 * HOUR_MS;

export interface CollectionIndexes {
  readonly collection: string;
  readonly indexes: readonly IndexDescription[];
}

/** The indexes of each collection; of `counters` and of logs none but that of `_id`. */
export function wantedIndexes(tables: readonly StoredTable[]): CollectionIndexes[] {
  return [
    ...tables.flatMap(indexesOf),
    {
      collection: USAGE,
      indexes: [{ key: { keyId: 1, hour: 1 }, name: 'keyId_hour' }, ttlIndex('hour', USAGE_MS)],
    },
    { collection: COUNTERS, indexes: [] },
  ];
}

function indexesOf(table: StoredTable): CollectionIndexes[] {
  const { name, tombstones, hasFeed, creation } = table;
  // Records have no `deletedAt`, so the server deletes only tombstones.
  const expiry = tombstones === 'expire' ? [ttlIndex('deletedAt', TOMBSTONE_MS)] : [];
  const reservations = {
    collection: reservationCollection(table),
    indexes: [ttlIndex('reservedAt', RESERVATION_MS)],
  };
  return [
    { collection: name, indexes: [...recordIndexes(table), ...expiry, ...(hasFeed ? [PENDING_INDEX] : [])] },
    ...(hasFeed ? [{ collection: changesCollection(table), indexes: [] }] : []),
    ...(creation === 'keyed' ? [reservations] : []),
  ];
}

export function recordIndexes(table: RecordTable): IndexDescription[] {
  const words = table.searched.length > 0 ? [WORDS_INDEX] : [];
  return [...indexesOnFields(table), ...words, ...(hasDerivedMembers(table) ? [DERIVED_INDEX] : [])];
}

/**
 * The server deletes older documents by its own clock, some time in the next minute. Sparse: a document without the
 * member is not in the index and is never deleted.
 */
function ttlIndex(path: string, retentionMs: number): IndexDescription {
  return { key: { [path]: 1 }, name: `ttl_${path}`, expireAfterSeconds: retentionMs / 1_000, sparse: true };
}

/** The keys of the indexes of lists: those that every store has, and those on attributes. */
export function listKeys(table: RecordTable): (readonly IndexKey[])[] {
  const attributes = Object.keys(table.fields).filter((field) => table.fields[field]?.type === 'attributes');
  const byId = { field: 'id', descending: false };
  return [...listIndexes(table), ...attributes.map((field) => [{ field, descending: false }, byId])];
}

/** The paths of a field in an index. The bounds of one attribute are those of its key and its value together. */
function indexPaths(table: RecordTable, { field, folded }: IndexKey): string[] {
  const path = folded ? foldedPath(field) : fieldPath(field);
  return specOf(table, field).type === 'attributes' ? [`${path}.key`, `${path}.value`] : [path];
}

/**
 * The unique indexes and those of lists. These begin with `live`, so that the records lie together. A unique index has
 * the name of its field, and no tombstone or record without a value.
 */
export function indexesOnFields(table: RecordTable): IndexDescription[] {
  const lists = listKeys(table).map((keys) => ({
    key: {
      live: 1 as const,
      ...Object.fromEntries(
        keys.flatMap((key) =>
          indexPaths(table, key).map((path) => [path, key.descending ? (-1 as const) : (1 as const)]),
        ),
      ),
    },
    name: [
      'live',
      ...keys
        .slice(0, -1)
        .map(({ field, descending, folded }) => `${descending ? '-' : ''}${field}${folded ? '_folded' : ''}`),
    ].join('_'),
  }));
  const unique = uniqueFields(table.fields).map((field) => ({
    key: { [uniquePath(table, field)]: 1 as const },
    name: field,
    unique: true,
    sparse: true,
  }));
  return [...lists, ...unique];
}

/**
 * Checks the indexes of a database and creates the missing ones. A server builds an index to its end even if the
 * client has left, and each further `createIndexes` then waits for it
 * (https://jira.mongodb.org/browse/SERVER-101507); with `maxTimeMS` it would abort the build
 * (https://jira.mongodb.org/browse/SERVER-46595). So a process sends the command once, over a connection without a
 * time-out, and later callers wait for the same response.
 */
export class IndexPreparation {
  private running: { readonly client: MongoClient; readonly done: Promise<void> } | undefined;

  constructor(
    private readonly connect: () => MongoClient,
    private readonly database: string,
    private readonly indexes: readonly CollectionIndexes[],
  ) {}

  /** @throws StoreConfigError if another index is in the way; else the error of the driver */
  done(): Promise<void> {
    this.running ??= this.begin();
    return this.running.done;
  }

  async close(): Promise<void> {
    await this.running?.client.close();
  }

  private begin(): { readonly client: MongoClient; readonly done: Promise<void> } {
    const client = this.connect();
    const done = this.prepare(client.db(this.database)).finally(() => {
      this.running = undefined;
      return client.close();
    });
    // If nobody waits at that moment, the next caller gets the same error.
    done.catch(() => {});
    return { client, done };
  }

  private async prepare(database: Db): Promise<void> {
    const problems: string[] = [];
    for (const wanted of this.indexes)
      problems.push(...findUnusableIndexes(wanted, (await existingIndexes(database, wanted.collection)) ?? []));
    if (problems.length > 0) throw new StoreConfigError(problems.join('\n'));
    for (const { collection, indexes } of this.indexes)
      if (indexes.length > 0) await createIndexes(database, collection, indexes);
  }
}

/** Returns undefined if there is no such collection. */
export async function existingIndexes(database: Db, collection: string): Promise<IndexDescriptionInfo[] | undefined> {
  try {
    return await database.collection(collection).listIndexes().toArray();
  } catch (error) {
    if (isCollectionMissing(error)) return undefined;
    throw error;
  }
}

/** One command for all, so that the server scans the collection once. Existing indexes stay. */
async function createIndexes(database: Db, collection: string, indexes: CollectionIndexes['indexes']): Promise<void> {
  try {
    await database.collection(collection).createIndexes([...indexes]);
  } catch (error) {
    if (!isIndexConflict(error)) throw error;
    const message = `${collection} has an index in the place of one that the service needs; drop it.`;
    throw new StoreConfigError(message, { cause: error });
  }
}

const BY_ID = JSON.stringify({ _id: 1 });

/**
 * Finds the existing indexes of a collection that the service cannot work with: those in the place of an index that it
 * needs, and those that delete or refuse records. Since MongoDB 5.0 `unique` and `sparse` are part of an index's
 * identity (https://jira.mongodb.org/browse/SERVER-47657), so the server would silently create ours in addition.
 * @returns one line for a person for each of them
 */
export function findUnusableIndexes(
  { collection, indexes }: CollectionIndexes,
  found: readonly IndexDescriptionInfo[],
): string[] {
  return found.flatMap((one) => {
    const wanted = indexes.find((index) => index.name === one.name || isSameIndex(index, one));
    if (wanted && wanted.name === one.name && isSameIndex(wanted, one)) return [];
    if (wanted) return [`${collection} has another index, ${one.name}, in the place of ${wanted.name}; drop that one.`];
    const harm = harmOf(one);
    return harm ? [`${collection} has an index, ${one.name}, that ${harm}; drop it.`] : [];
  });
}

/** Whether key and options are equal. */
function isSameIndex(one: IndexDescription, other: IndexDescription): boolean {
  return JSON.stringify(one.key) === JSON.stringify(other.key) && optionsOf(one) === optionsOf(other);
}

function optionsOf(index: IndexDescription): string {
  const { unique = false, sparse = false, expireAfterSeconds, partialFilterExpression, collation } = index;
  return JSON.stringify([unique, sparse, expireAfterSeconds, partialFilterExpression, collation]);
}

function harmOf(index: IndexDescriptionInfo): string | undefined {
  if (index.expireAfterSeconds !== undefined) return 'removes documents after a time';
  if (JSON.stringify(index.key) === BY_ID)
    return index.collation && 'shows that the collection compares text by rules of its own';
  if (index.unique || index['prepareUnique']) return 'is unique and refuses records';
  const isPlain = Object.entries(index.key).every(
    ([path, kind]) => typeof kind === 'number' || (path === '_id' && kind === 'hashed'),
  );
  return isPlain ? undefined : 'is of a kind that refuses some records';
}
