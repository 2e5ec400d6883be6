import type { Db, IndexDescription, IndexDescriptionInfo, MongoClient } from 'mongodb';
import { StoreConfigError } from '../../../application/ports/store.js';
import { isCollectionMissing, isIndexConflict } from './errors.js';
import type { CollectionIndexes } from './indexes.js';

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
      problems.push(...findUnusableIndexes(wanted, await listIndexes(database, wanted.collection)));
    if (problems.length > 0) throw new StoreConfigError(problems.join('\n'));
    for (const { collection, indexes } of this.indexes)
      if (indexes.length > 0) await createIndexes(database, collection, indexes);
  }
}

async function listIndexes(database: Db, collection: string): Promise<IndexDescriptionInfo[]> {
  try {
    return await database.collection(collection).listIndexes().toArray();
  } catch (error) {
    if (isCollectionMissing(error)) return [];
    throw error;
  }
}

/** One command for all, so that the server scans the collection once. Existing indexes stay. */
async function createIndexes(
  database: Db,
  collection: string,
  indexes: CollectionIndexes['indexes'],
): Promise<void> {
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
    if (wanted)
      return [`${collection} has another index, ${one.name}, in the place of ${wanted.name}; drop that one.`];
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
