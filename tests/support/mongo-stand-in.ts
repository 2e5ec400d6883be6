import { MongoClient } from 'mongodb';

/**
 * Whether the server is the stand-in of tests/support/mongo-server, or another that is no MongoDB: MongoDB alone says
 * which JavaScript engine and which storage engines it was built with.
 */
export async function isStandIn(url: string): Promise<boolean> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 5_000 });
  try {
    const build = await client.db('admin').command({ buildInfo: 1 });
    return !('javascriptEngine' in build && 'storageEngines' in build);
  } finally {
    await client.close();
  }
}
