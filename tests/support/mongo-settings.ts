import { randomUUID } from 'node:crypto';
import { type Db, MongoClient } from 'mongodb';
import { MongoProcess } from './mongo-process.js';
import { mongoUrl, patience } from './mongo-url.js';
import { temporaryFolder } from './temporary-folder.js';

/**
 * Gives the tests of one `describe` a database: on the server that MONGODB_URL names, or on a stand-in that it runs.
 * @param name the beginning of its name
 * @returns settings of a service, which get the address of the database before the hooks and tests below
 */
export function mongoSettings(name: string): Record<string, string> {
  const folder = temporaryFolder();
  const database = `${name}-${randomUUID()}`;
  const settings: Record<string, string> = { STORE: 'mongodb' };
  let server: MongoProcess | undefined;
  before(async () => {
    if (process.env['MONGODB_URL']) {
      settings['MONGODB_URL'] = mongoUrl(database);
      return;
    }
    server = await MongoProcess.onFreePort(folder);
    await server.run();
    settings['MONGODB_URL'] = `${server.url(database)}&${patience()}`;
  });
  after(async () => {
    if (server) await server.kill();
    else await withDatabase(settings, (created) => created.dropDatabase());
  });
  return settings;
}

/** Uses the database of these settings directly. */
export async function withDatabase<Result>(
  settings: Readonly<Record<string, string>>,
  use: (database: Db) => Promise<Result>,
): Promise<Result> {
  const client = new MongoClient(settings['MONGODB_URL'] ?? '');
  try {
    return await use(client.db());
  } finally {
    await client.close();
  }
}
