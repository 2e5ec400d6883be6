import { expect } from 'chai';
import { type Collection, type Db, type Document, MongoClient } from 'mongodb';
import type { DerivedData } from '#src/application/ports/derived-data.js';
import type { Id } from '#src/domain/record.js';
import { AT, next, product } from '../contract/repository/records.js';
import { MONGODB } from '../stores/mongodb.js';
import { type CreatedStore, type OpenStore, openStore } from '../stores/provider.js';
import { deriveAll } from '../support/derive-all.js';
import { Follower } from '../support/follower.js';
import { MongoGate } from '../support/mongo-proxy.js';
import { serverOf, throughProxy } from '../support/mongo-url.js';

const HOUR_MS = 3_600_000;

/** The commands of a process that moves pending changes into the log, in order. */
const STEPS: Readonly<Record<string, readonly [target: string, occurrence: number]>> = {
  'before it reads the highest number': ['find products_changes', 1],
  'before it reads the pending records': ['find products', 2],
  'before it inserts the entries': ['insert products_changes', 1],
  'before it reads the floor': ['find products_changes', 2],
  'before it makes the records no longer pending': ['update products', 1],
};

describe('the feed of changes on MongoDB', () => {
  let created: CreatedStore | undefined;
  let client: MongoClient;
  let database: Db;
  let gate: MongoGate;
  let opened: OpenStore[];
  let store: OpenStore;

  beforeEach(async () => {
    created ??= await MONGODB.create('');
    client = new MongoClient(url());
    database = client.db();
    gate = new MongoGate(serverOf(url()).port);
    await gate.proxy.listen();
    opened = [];
    store = await replica();
    await store.feedState.turnOn();
  });
  afterEach(async () => {
    gate.resume();
    for (const one of opened) await one.close();
    await gate.close();
    await client.close();
    await created?.empty?.();
  });
  after(() => created?.remove());

  const url = () => created?.settings['MONGODB_URL'] ?? '';

  const replica = async (address = url()): Promise<OpenStore> => {
    const one = await openStore({ STORE: 'mongodb', MONGODB_URL: address });
    opened.push(one);
    return one;
  };
  /** Another process with feeds, whose commands the gate can stop. */
  const suspendable = async (): Promise<OpenStore> => {
    const one = await replica(throughProxy(url(), gate.proxy.port));
    await one.feedState.turnOn();
    return one;
  };
  const documents = (): Collection<Document & { _id: Id }> => database.collection('products');
  const log = async (): Promise<Document[]> => {
    const rows = await database.collection<{ _id: number }>('products_changes').find().toArray();
    return rows.filter(({ _id }) => _id > 0).toSorted((a, b) => a._id - b._id);
  };
  const numbers = async () => (await log()).map(({ _id }) => _id);

  const insert = (...ids: Id[]) => store.products.insertAll(ids.map((id) => product(id)));
  const change = async (id: Id) => {
    const record = await store.products.find(id);
    if (!record) throw new Error(`There is no record ${id}.`);
    const replaced = [{ record: next(record, {}), expected: record.version }];
    expect(await store.products.replaceAll(replaced)).to.deep.equal(['replaced']);
  };
  const remove = async (id: Id, expected: number) =>
    expect(await store.products.removeAll([{ id, expected, at: AT }])).to.deep.equal([true]);
  const follower = () => Follower.of(store.changes.products, store.products);

  for (const [name, [target, occurrence]] of Object.entries(STEPS))
    describe(`if a mover is suspended ${name}`, () => {
      const suspend = async () => {
        const other = await suspendable();
        const arrived = gate.suspendBefore(target, occurrence);
        const moving = other.changes.products.end();
        await Promise.race([arrived, moving]);
        return async () => {
          gate.resume();
          await moving;
        };
      };

      it('misses no change that others write meanwhile', async () => {
        const following = await follower();
        await insert(1, 2, 3);
        const resume = await suspend();
        await change(1);
        await remove(2, 1);
        await resume();
        expect(await following.catchUp()).to.equal(true);
        expect(Object.fromEntries(following.known)).to.deep.equal({ 1: 2, 2: -2, 3: 1 });
      });

      it('misses no change that others write, move and read meanwhile', async () => {
        const following = await follower();
        await insert(1, 2, 3, 4);
        const resume = await suspend();
        await change(1);
        await remove(2, 1);
        expect(await following.catchUp(2)).to.equal(true);
        await change(1);
        await change(3);
        await resume();
        await remove(4, 1);
        expect(await following.catchUp(2)).to.equal(true);
        expect(Object.fromEntries(following.known)).to.deep.equal({ 1: 3, 2: -2, 3: 2, 4: -2 });
        const found = await numbers();
        expect(found, 'no number is left out').to.deep.equal(found.map((_, at) => at + 1));
      });
    });

  it('gets no entry from a mover that others have overtaken', async () => {
    await insert(1, 2);
    const other = await suspendable();
    const arrived = gate.suspendBefore('find products_changes', 1);
    const moving = other.changes.products.end();
    await arrived;
    await store.changes.products.end();
    expect(await numbers()).to.deep.equal([1, 2]);
    gate.resume();
    await moving;
    expect(await numbers()).to.deep.equal([1, 2]);
  });

  it('misses no change by a mover that was suspended for days, and whose number is free again', async () => {
    const following = await follower();
    await insert(1);
    const other = await suspendable();
    const arrived = gate.suspendBefore('find products', 2);
    const moving = other.changes.products.end();
    await arrived;
    await insert(2, 3);
    expect(await following.catchUp()).to.equal(true);
    await store.feedState.maintain?.(Date.now() + 60 * HOUR_MS);
    expect(await numbers(), 'the last entry stays').to.deep.equal([3]);
    await change(1);
    gate.resume();
    await moving;
    expect(await following.catchUp()).to.equal(true);
    expect(following.known.get(1)).to.equal(2);
  });

  it('ends for a position whose next entries were deleted', async () => {
    const feed = store.changes.products;
    const start = await feed.end();
    await insert(1, 2, 3);
    const middle = (await feed.read(start, 2))?.next ?? '';
    await store.feedState.maintain?.(Date.now() + 51 * HOUR_MS);
    expect(await feed.read(start, 10), 'entries are kept for 52 hours').not.to.equal(undefined);
    await store.feedState.maintain?.(Date.now() + 60 * HOUR_MS);
    expect(await feed.read(start, 10)).to.equal(undefined);
    expect((await feed.read(middle, 10))?.changes.map(({ id }) => id)).to.deep.equal([3]);
    expect((await feed.read(await feed.end(), 10))?.changes).to.deep.equal([]);
  });

  it('ends before the entry of a tombstone that the server has removed, and not behind it', async () => {
    const feed = store.changes.products;
    await insert(1, 2);
    const start = await feed.end();
    await remove(1, 1);
    const middle = await feed.end();
    await remove(2, 1);
    const end = await feed.end();
    await documents().deleteOne({ _id: 2 });
    expect((await feed.read(start, 1))?.next).to.equal(middle);
    expect(await feed.read(middle, 10)).to.equal(undefined);
    expect((await feed.read(end, 10))?.changes).to.deep.equal([]);
  });

  it('ends if entries are deleted while it reads them', async () => {
    const other = await suspendable();
    for (const occurrence of [1, 2]) {
      const start = await store.changes.products.end();
      await insert(occurrence * 10, occurrence * 10 + 1, occurrence * 10 + 2);
      await store.changes.products.end();
      const arrived = gate.suspendBefore('find products_changes', occurrence);
      const page = other.changes.products.read(start, 10);
      await arrived;
      await store.feedState.maintain?.(Date.now() + 60 * HOUR_MS);
      gate.resume();
      expect(await page).to.equal(undefined);
    }
  });

  it('shows a record once a page, at its last change, and goes on behind what it has shown', async () => {
    const feed = store.changes.products;
    const start = await feed.end();
    for (const id of [1, 2, 3]) {
      await insert(id);
      await feed.end();
    }
    for (const id of [1, 1, 2]) {
      await change(id);
      await feed.end();
    }
    expect((await log()).map(({ id }) => id)).to.deep.equal([1, 2, 3, 1, 1, 2]);
    const pages: Id[][] = [];
    for (let after = start; ; ) {
      const page = await feed.read(after, 2);
      if (!page) throw new Error('the position has expired');
      pages.push(page.changes.map(({ id }) => id));
      after = page.next;
      if (page.changes.length < 2) break;
    }
    expect(pages).to.deep.equal([[1, 2], [3, 1], [2]]);
    expect((await feed.read(start, 3))?.changes.map(({ id }) => id)).to.deep.equal([3, 1, 2]);
  });

  it('starts the age of a tombstone when its deletion is in the log', async () => {
    await insert(1);
    await remove(1, 1);
    expect(await documents().findOne({ _id: 1 })).to.deep.equal({ _id: 1, version: 2, updatedAt: new Date(AT) });
    const before = Date.now();
    await store.changes.products.end();
    const moved = await documents().findOne({ _id: 1 });
    expect(moved?.['updatedAt']).to.deep.equal(new Date(AT));
    expect(Number(moved?.['deletedAt'])).to.be.at.least(before - 1_000);
  });

  describe('beside a process that does not write it', () => {
    /** What the release before this one writes. */
    const overwrite = (id: Id, version: number) =>
      documents().updateOne({ _id: id, version: version - 1 }, { $set: { version, updatedAt: new Date(AT) } });
    const erase = (id: Id) => documents().replaceOne({ _id: id }, { deletedAt: new Date(AT) });

    it('has what an earlier release creates and changes', async () => {
      await insert(1);
      const following = await follower();
      await overwrite(1, 2);
      const at = new Date(AT);
      await documents().insertOne({ _id: 2, live: true, version: 1, createdAt: at, updatedAt: at, fields: {} });
      expect(await following.catchUp()).to.equal(true);
      expect([...following.known]).to.deep.equal([
        [1, 2],
        [2, 1],
      ]);
    });

    it('ends if an earlier release deletes a record, and begins anew', async () => {
      await insert(1, 2);
      const following = await follower();
      await change(1);
      await store.changes.products.end();
      await erase(1);
      expect(await following.catchUp(), 'an entry points to the deleted record').to.equal(false);
      const unaware = await follower();
      await erase(2);
      expect(await unaware.catchUp(), 'nothing points to it yet').to.equal(true);
      await store.feedState.maintain?.(Date.now());
      expect(await unaware.catchUp()).to.equal(false);
      const later = await follower();
      await store.feedState.maintain?.(Date.now());
      await insert(3);
      expect(await later.catchUp(), 'the tombstones are known now').to.equal(true);
      expect([...later.known]).to.deep.equal([[3, 1]]);
    });

    it('ends if a process turns it off, whose deletions expire at once', async () => {
      await insert(1, 2);
      const following = await follower();
      const other = await replica();
      await other.feedState.turnOff();
      expect(await following.catchUp()).to.equal(false);
      await other.products.removeAll([{ id: 1, expected: 1, at: AT }]);
      expect(await documents().findOne({ _id: 1 })).to.have.property('deletedAt');
      await store.feedState.maintain?.(Date.now());
      expect(await following.catchUp()).to.equal(false);
      const later = await follower();
      await other.products.removeAll([{ id: 2, expected: 1, at: AT }]);
      expect(await later.catchUp()).to.equal(true);
      expect([...later.known]).to.deep.equal([[2, -2]]);
    });
  });

  it('begins without the changes of an earlier release, of a time without it, and of a copy', async () => {
    await store.feedState.turnOff();
    await insert(1, 2);
    await documents().insertOne({ _id: 3, deletedAt: new Date(AT) });
    const archive = store.archives.records.find(({ name }) => name === 'products');
    await archive?.add([
      { ...product(4), version: 7 },
      { id: 5, deletedAt: AT },
    ]);
    expect(await documents().countDocuments({ version: { $type: 'int' } }), 'a copy is not pending').to.equal(2);
    const unnumbered = store.feedState.unnumbered ?? [];
    const tables = unnumbered.filter(({ name }) => name === 'products');
    expect(await deriveAll({ derived: { ...(store.derived as DerivedData), tables } })).to.equal(3);
    expect(await documents().countDocuments({ version: { $type: 'int' } })).to.equal(0);
    await store.feedState.turnOn();
    const following = await follower();
    await change(1);
    await change(4);
    expect(await following.catchUp()).to.equal(true);
    expect(await numbers()).to.deep.equal([1, 2]);
    expect([...following.known]).to.deep.equal([
      [1, 2],
      [2, 1],
      [4, 8],
    ]);
    expect(await archive?.read(0, 10)).to.deep.include.members([
      { id: 3, deletedAt: AT },
      { id: 5, deletedAt: AT },
    ]);
  });

  it('makes one epoch at concurrent first starts', async () => {
    await store.feedState.turnOff();
    const replicas = await Promise.all(Array.from({ length: 5 }, () => replica()));
    const positions = await Promise.all(
      replicas.map(async ({ feedState, changes }) => {
        await feedState.turnOn();
        return changes.products.end();
      }),
    );
    expect(new Set(positions).size).to.equal(1);
  });
});
