import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type Collection, type CreateIndexesOptions, MongoClient, type MongoServerError } from 'mongodb';
import { mongoUrl } from '../support/mongo-url.js';

/** The start of the service relies on this: https://jira.mongodb.org/browse/SERVER-47657. */
describe('indexes with the same key on MongoDB', () => {
  const key = { at: 1 } as const;
  let client: MongoClient;
  let collection: Collection;

  before(async () => {
    client = new MongoClient(mongoUrl(`indexes-${randomUUID()}`));
    collection = client.db().collection('x');
    await collection.createIndex(key, { name: 'ours', sparse: true, expireAfterSeconds: 90_000 });
  });
  after(async () => {
    await client.db().dropDatabase();
    await client.close();
  });

  const outcome = async (options: CreateIndexesOptions, indexKey: Record<string, 1 | -1> = key) =>
    collection
      .createIndex(indexKey, options)
      .then(() => 'made')
      .catch((error: MongoServerError) => error.codeName);

  it('coexist if they differ in being sparse or unique', async () => {
    expect(await outcome({ name: 'plain', expireAfterSeconds: 60 })).to.equal('made');
    expect(await outcome({ name: 'unique', unique: true })).to.equal('made');
    expect(await outcome({ name: 'both', sparse: true, unique: true })).to.equal('made');
    const names = ['_id_', 'ours', 'plain', 'unique', 'both'];
    expect((await collection.indexes()).map(({ name }) => name)).to.have.members(names);
  });

  it('are enforced and dropped separately', async () => {
    await collection.insertOne({});
    const error = await collection.insertOne({}).catch((error: unknown) => error);
    expect(error).to.have.property('code', 11_000);
    await collection.dropIndex('unique');
    await collection.insertOne({});
    expect((await collection.indexes()).map(({ name }) => name)).to.include.members(['ours', 'both']);
  });

  it('conflict if they differ only in other options', async () => {
    const sparse = true;
    expect(await outcome({ name: 'ours', sparse, expireAfterSeconds: 90_000 })).to.equal('made');
    expect(await outcome({ name: 'ours', sparse, expireAfterSeconds: 60 })).to.equal('IndexOptionsConflict');
    expect(await outcome({ name: 'theirs', sparse, expireAfterSeconds: 60 })).to.equal('IndexOptionsConflict');
    expect(await outcome({ name: 'ours', expireAfterSeconds: 90_000 })).to.equal('IndexKeySpecsConflict');
    expect(await outcome({ name: 'ours', sparse }, { at: -1 })).to.equal('IndexKeySpecsConflict');
  });
});
