import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { lostUpdatesContract } from '../contract/lost-updates.contract.js';
import { mongoUrl } from '../support/mongo-url.js';
import { spawnedServices } from '../support/spawned-service.js';

describe('two replicas', () => {
  const database = `lost-updates-${randomUUID()}`;
  const url = mongoUrl(database);
  lostUpdatesContract('MongoDB', spawnedServices(2, { STORE: 'mongodb', MONGODB_URL: url }));
  after(async () => {
    const client = new MongoClient(url);
    await client.db().dropDatabase();
    await client.close();
  });
});
