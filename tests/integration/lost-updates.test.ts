import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { lostUpdatesContract } from '../contract/lost-updates.contract.js';
import { childProcessServices } from '../support/child-process-service.js';
import { mongoUrl } from '../support/mongo-url.js';

describe('two replicas', () => {
  const database = `lost-updates-${randomUUID()}`;
  const url = mongoUrl(database);
  lostUpdatesContract('MongoDB', childProcessServices(2, { STORE: 'mongodb', MONGODB_URL: url }));
  after(async () => {
    const client = new MongoClient(url);
    await client.db().dropDatabase();
    await client.close();
  });
});
