import { randomUUID } from 'node:crypto';
import { type Db, MongoClient } from 'mongodb';
import { exactlyOnceContract } from '../contract/exactly-once.contract.js';
import { mongoUrl } from '../support/mongo-url.js';

async function within<Result>(url: string, use: (database: Db) => Promise<Result>): Promise<Result> {
  const client = new MongoClient(url);
  try {
    return await use(client.db());
  } finally {
    await client.close();
  }
}

exactlyOnceContract(
  'MongoDB',
  () => {
    const url = mongoUrl(`exactly-once-${randomUUID()}`);
    return {
      settings: { STORE: 'mongodb', MONGODB_URL: url },
      processes: 2,
      reserved: () =>
        within(url, async (database) => {
          const reservations = await database.collection('products_reservations').find().toArray();
          return reservations.map(({ id }) => id);
        }),
      remove: () => within(url, async (database) => void (await database.dropDatabase())),
    };
  },
  {
    'before the reservation': { reserved: false, inserted: false },
    'after the reservation': { reserved: true, inserted: false },
    'after the insertion': { reserved: true, inserted: true },
    'before the response': { reserved: true, inserted: true },
  },
);
