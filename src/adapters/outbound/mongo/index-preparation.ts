import type { Db, IndexDescriptionInfo, MongoClient } from 'mongodb';
import { UnusableStore } from '../../../application/ports/store.js';
import { isCollectionMissing, isIndexConflict } from './errors.js';
import { findUnusableIndexes } from './index-check.js';
import type { CollectionIndexes } from './indexes.js';

/**
 * Checks the indexes of a database and makes what is missing. A server builds an index to its end though the client has
 * left, and each further `createIndexes` then waits there for it (https://jira.mongodb.org/browse/SERVER-101507); with
 * `maxTimeMS` it would end the build itself (https://jira.mongodb.org/browse/SERVER-46595). So a process asks once, by a
 * connection without a time-out, and who calls again meanwhile waits for the same response.
 */
export class IndexPreparation {
  private running: { readonly client: MongoClient; readonly done: Promise<void> } | undefined;

  constructor(
    private readonly connect: () => MongoClient,
    private readonly database: string,
    private readonly indexes: readonly CollectionIndexes[],
  ) {}

  /** @throws UnusableStore where an index is in the way, else what the driver throws */
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
    // Where nobody waits at that moment, the next caller meets the same error.
    done.catch(() => {});
    return { client, done };
  }

  private async prepare(database: Db): Promise<void> {
    const problems: string[] = [];
    for (const wanted of this.indexes)
      problems.push(...findUnusableIndexes(wanted, await indexesOf(database, wanted.collection)));
    if (problems.length > 0) throw new UnusableStore(problems.join('\n'));
    for (const { collection, indexes } of this.indexes)
      if (indexes.length > 0) await make(database, collection, indexes);
  }
}

async function indexesOf(database: Db, collection: string): Promise<IndexDescriptionInfo[]> {
  try {
    return await database.collection(collection).listIndexes().toArray();
  } catch (error) {
    if (isCollectionMissing(error)) return [];
    throw error;
  }
}

/** In one command, so that the server reads the collection once. Those that are there already stay as they are. */
async function make(database: Db, collection: string, indexes: CollectionIndexes['indexes']): Promise<void> {
  try {
    await database.collection(collection).createIndexes([...indexes]);
  } catch (error) {
    if (!isIndexConflict(error)) throw error;
    const message = `${collection} has an index in the place of one that the service needs; drop it.`;
    throw new UnusableStore(message, { cause: error });
  }
}
