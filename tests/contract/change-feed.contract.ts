import { expect } from 'chai';
import { TOMBSTONE_MS } from '#src/application/maintenance/retention.js';
import type { ChangeFeed, FeedPosition } from '#src/application/ports/change-feed.js';
import { paginate } from '#src/application/records/lists.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import type { OpenStore, TestStoreProvider } from '../stores/provider.js';
import { expectAppError } from '../support/expect-refusal.js';
import { Follower, textOf } from '../support/follower.js';
import { TEST_SEED } from '../support/run-settings.js';
import { SeededRandom } from '../support/seeded-random.js';
import { until } from '../support/until.js';
import { AT, idsOf, next, product, query, user } from './repository/records.js';
import { TestStore } from './repository/test-store.js';

type ProductRecord = Versioned<Product>;

/** The tests that the feeds of every store pass. */
export function changeFeedContract(provider: TestStoreProvider): void {
  describe(`the contract of feeds on ${provider.name}`, () => {
    const store = TestStore.forEachTest(provider);
    let feed: ChangeFeed<Product>;
    beforeEach(async () => {
      await store.all.feedState.turnOn();
      feed = store.all.changes.products;
    });

    const followed = async (limit?: number) => new Follower(feed, await feed.end(), limit);
    const edit = async (record: ProductRecord) => {
      const edited = next(record, { name: `edited ${record.id}` });
      expect(await store.products.replaceAll([{ record: edited, expected: record.version }])).to.deep.equal([
        'replaced',
      ]);
      return edited;
    };
    const remove = async (...records: readonly ProductRecord[]) => {
      const removals = records.map(({ id, version }) => ({ id, expected: version, at: AT }));
      expect(await store.products.removeAll(removals)).to.deep.equal(records.map(() => true));
    };

    it('shows records as they are now, oldest change first, each once at its last change', async () => {
      const follower = await followed();
      const [start, first] = [follower.position, await store.add(1)];
      await follower.sees([1, 1]);
      const second = await store.add(2);
      await follower.sees([2, 1]);
      const edited = await edit(first);
      await follower.sees([1, 2]);
      await store.add(3);
      await follower.sees([3, 1]);
      expect(follower.texts).to.deep.equal(['1.1', '2.1', '1.2', '3.1']);
      const again = new Follower(feed, start);
      await again.sees([3, 1]);
      expect(again.seen).to.deep.equal([second, edited, product(3)]);
    });

    it('shows a deletion with the version after the last one, and nothing else of the record', async () => {
      const follower = await followed();
      const start = follower.position;
      const edited = await edit(await store.add(1));
      await store.add(2);
      await follower.sees([1, 2], [2, 1]);
      await remove(edited);
      await follower.sees([1, 3]);
      const again = new Follower(feed, start);
      await again.sees([1, 3]);
      expect(again.seen).to.deep.equal([product(2), { id: 1, version: 3, deleted: true }]);
    });

    it('shows no write that was refused', async () => {
      const follower = await followed();
      const [one, other] = [await store.add(1, { sku: 'a' }), await store.add(2)];
      await store.products.insertAll([product(1), product(3, { sku: 'a' })]);
      await store.products.replaceAll([
        { record: next(one, {}), expected: 7 },
        { record: next(other, { sku: 'a' }), expected: 1 },
      ]);
      await store.products.removeAll([{ id: 2, expected: 9, at: AT }]);
      await store.add(4);
      await follower.sees([4, 1]);
      expect(follower.texts.sort()).to.deep.equal(['1.1', '2.1', '4.1']);
    });

    it('shows no record of another table', async () => {
      const follower = await followed();
      const users = new Follower(store.all.changes.users, await store.all.changes.users.end());
      await store.addUsers([user(5, 'ann@x.org')]);
      await store.add(1);
      await follower.sees([1, 1]);
      await users.sees([5, 1]);
      expect([follower.texts, users.seen]).to.deep.equal([['1.1'], [user(5, 'ann@x.org')]]);
    });

    it('has every change once in pages of any limit, and each is full but for the last', async () => {
      const start = await feed.end();
      const records = Array.from({ length: 40 }, (_, at) => product(at + 1));
      await store.addAll(records);
      for (const record of records.slice(0, 10)) await edit(record);
      await remove(...records.slice(10, 20));
      const whole = new Follower(feed, start);
      await whole.sees(...records.map(({ id }): [Id, number] => [id, id <= 20 ? 2 : 1]));
      const expected = new Follower(feed, start);
      await expected.sees();
      expect(expected.seen).to.have.length(40);
      for (const limit of [1, 7, 39, 40, 41]) {
        const texts: string[] = [];
        for (let after = start; ; ) {
          const page = await feed.read(after, limit);
          texts.push(...(page?.changes.map(textOf) ?? []));
          expect(page?.changes.length).to.be.at.most(limit);
          if (!page || page.changes.length < limit) break;
          after = page.next;
        }
        expect(texts).to.deep.equal(expected.texts);
      }
    });

    it('ends a read at another place, behind which the next one goes on', async () => {
      const follower = await followed();
      const start = follower.position;
      for (const id of [1, 2, 3]) await store.add(id);
      await follower.sees(...[1, 2, 3].map((id): [Id, number] => [id, 1]));
      const middle = follower.position;
      for (const id of [4, 5]) await store.add(id);
      await follower.sees(...[4, 5].map((id): [Id, number] => [id, 1]));
      const first = await feed.read(start, 2, middle);
      const second = first && (await feed.read(first.next, 2, middle));
      const end = second && (await feed.read(second.next, 2, middle));
      const rest = end && (await feed.read(end.next, 2));
      const ids = [first, second, end, rest].map((page) => page && idsOf(page.changes));
      expect([ids[0]?.length, ids[1]?.length, ids[2]?.length]).to.deep.equal([2, 1, 0]);
      expect([...(ids[0] ?? []), ...(ids[1] ?? [])].sort()).to.deep.equal([1, 2, 3]);
      expect(ids[3]?.sort()).to.deep.equal([4, 5]);
    });

    it('ends a page of large records early, and omits none', async () => {
      const start = await feed.end();
      const attributes = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`${at}`, '😀'.repeat(500)]));
      const records = Array.from({ length: 60 }, (_, at) => product(at + 1, { attributes }));
      await store.addAll(records);
      const follower = new Follower(feed, start);
      await follower.sees(...records.map(({ id }): [Id, number] => [id, 1]));
      const page = await feed.read(start, 1_000);
      expect(page?.changes.length).to.be.within(10, 59);
    });

    it('begins with a store that has no generation; each reset gives another, for every process', async () => {
      const { feedState } = store.all;
      const other = (await store.again()).feedState;
      const seen = [await feedState.generation()];
      for (let i = 0; i < 2; i++) {
        await feedState.reset();
        seen.push(await other.generation());
        expect(seen.at(-1)).to.match(/^[0-9a-f]{10}$/);
      }
      await feedState.turnOff();
      await feedState.turnOn();
      seen.push(await feedState.generation());
      expect([seen[0], new Set(seen).size, seen[3]]).to.deep.equal([undefined, 3, seen[2]]);
      await feedState.turnOff();
      await feedState.reset();
      expect(seen).to.not.include(await other.generation());
    });

    describe('places expire', () => {
      let before: FeedPosition;
      beforeEach(async () => {
        const follower = await followed();
        await store.add(1);
        before = follower.position;
        await follower.sees([1, 1]);
      });
      const isExpired = async (position: FeedPosition) => (await feed.read(position, 10)) === undefined;

      it('when the feeds are made anew', async () => {
        const end = await feed.end();
        await store.all.feedState.reset();
        expect([await isExpired(before), await isExpired(end)]).to.deep.equal([true, true]);
        const follower = await followed();
        await edit(product(1));
        await follower.sees([1, 2]);
        expect([await isExpired(before), await isExpired(end)]).to.deep.equal([true, true]);
      });

      it('when the feeds were off in between, whatever was written', async () => {
        const end = await feed.end();
        await store.all.feedState.turnOff();
        expect([await isExpired(before), await isExpired(end)]).to.deep.equal([true, true]);
        await expectAppError(feed.end(), 'unavailable');
        const edited = await edit(product(1));
        await store.add(2);
        await remove(product(2));
        await store.all.feedState.reset();
        await expectAppError(feed.end(), 'unavailable');
        await store.all.feedState.turnOn();
        const follower = await followed();
        await edit(edited);
        await store.add(3);
        await follower.sees([1, 3], [3, 1]);
        expect([await isExpired(before), await isExpired(end)]).to.deep.equal([true, true]);
      });

      it('not when the feeds are turned on once more', async () => {
        await store.all.feedState.turnOn();
        await (await store.again()).feedState.turnOn();
        const follower = new Follower(feed, before);
        await follower.sees([1, 1]);
        expect(follower.texts).to.deep.equal(['1.1']);
      });

      it('if they are of other text, or of another store', async () => {
        const others = ['', '.', 'x', '1', '0.0', '-1', 'null', '{}', `${before}x`, `x${before}`, 'a'.repeat(200)];
        for (const other of others) expect(await isExpired(other), other).to.equal(true);
      });

      it('if they are beyond the newest change', async () => {
        expect(await isExpired(provider.beyond(await feed.end()))).to.equal(true);
      });
    });

    if (!provider.removesExpired)
      it('expires the places before a purged tombstone, and no later ones', async () => {
        const follower = await followed();
        const records = [await store.add(1), await store.add(2), await store.add(3)];
        const places = [follower.position];
        await follower.sees(...records.map(({ id }): [Id, number] => [id, 1]));
        places.push(follower.position);
        for (const id of [1, 2]) {
          await store.products.removeAll([{ id, expected: 1, at: AT + id }]);
          await follower.sees([id, 2]);
          places.push(follower.position);
        }
        const tombstones = store.all.purgeable.filter(({ retentionMs }) => retentionMs === TOMBSTONE_MS);
        const purge = async (moment: number) => {
          for (const one of tombstones) await one.purgeBefore(moment, 10);
        };
        const pages = () => Promise.all(places.map(async (place) => (await feed.read(place, 10))?.changes.map(textOf)));
        await purge(AT + 1);
        const all = await pages();
        expect(all.map((page) => page?.toSorted())).to.deep.equal([
          ['1.2 deleted', '2.2 deleted', '3.1'],
          ['1.2 deleted', '2.2 deleted'],
          ['2.2 deleted'],
          [],
        ]);
        await purge(AT + 2);
        expect(await pages()).to.deep.equal([undefined, undefined, ['2.2 deleted'], []]);
        await purge(AT + 3);
        expect(await pages()).to.deep.equal([undefined, undefined, undefined, []]);
        await store.add(1);
        await follower.sees([1, 1]);
        expect(follower.seen.at(-1)).to.deep.equal(product(1));
      });

    feedRaces(store, provider);
  });
}

/** Programs that write and follow at the same time: two if more than one can have the store open. */
function feedRaces(store: TestStore, { pace }: TestStoreProvider): void {
  const WRITERS = 6;
  const ROUNDS = pace === 'fast' ? 30 : 8;
  /** The records of a writer, some of them written by all. */
  const OWN = 12;

  let programs: readonly OpenStore[];
  let isOver: boolean;
  beforeEach(async () => {
    programs = [store.all, await store.again()];
    isOver = false;
  });

  const program = (at: number) => programs[at % programs.length] as OpenStore;

  /** Creates, replaces and deletes records in batches. Its ids are those of no other writer. */
  const write = async (writer: number) => {
    const random = new SeededRandom(TEST_SEED * 100 + writer);
    const { products } = program(writer);
    const own = new Map<Id, ProductRecord>();
    let nextId = writer * 1_000 + 1;
    for (let round = 0; round < ROUNDS; round++) {
      const batch = [...own.values()].filter(() => random.chance(0.3));
      const kind = own.size < OWN ? 'insert' : random.oneOf(['insert', 'replace', 'replace', 'remove']);
      if (kind === 'insert') {
        const records = Array.from({ length: 1 + random.below(4) }, () => product(nextId++));
        await products.insertAll(records);
        for (const record of records) own.set(record.id, record);
      } else if (kind === 'replace') {
        const records = batch.map((old) => next(old, { name: `${round}` }));
        await products.replaceAll(records.map((record) => ({ record, expected: record.version - 1 })));
        for (const record of records) own.set(record.id, record);
      } else {
        await products.removeAll(batch.map(({ id, version }) => ({ id, expected: version, at: AT })));
        for (const { id } of batch) own.delete(id);
      }
    }
  };

  /** All writers compete for the same records. */
  const compete = async (writer: number) => {
    const { products } = program(writer);
    const ids: readonly Id[] = [1, 2, 3, 4];
    await products.insertAll(ids.map((id) => product(id)));
    for (let round = 0; round < ROUNDS; round++) {
      const records = (await products.findAllByUnique('id', ids)).filter((record) => record !== undefined);
      const isDeletion = round === ROUNDS - 1;
      const [last, ...others] = records;
      if (!last) return;
      await products.replaceAll(
        others.map((old) => ({ record: next(old, { name: `${writer}` }), expected: old.version })),
      );
      if (isDeletion) await products.removeAll([{ id: last.id, expected: last.version, at: AT }]);
    }
  };

  const writeAll = async () => {
    const writers = Array.from({ length: WRITERS }, (_, writer) => writer);
    await Promise.all(writers.flatMap((writer) => [write(writer + 1), compete(writer)]));
    isOver = true;
  };

  const listed = async () => {
    const all = new Map<Id, number>();
    for await (const page of paginate(store.products, query({ limit: 7 })))
      for (const { id, version } of page) all.set(id, version);
    return all;
  };

  /** Follows until the writers are done and it knows what the store has. */
  const follow = async (follower: Follower) => {
    await until('the writers are done', async () => {
      while (await follower.advance());
      return isOver;
    });
    const existing = await listed();
    await follower.sees(...existing);
    await until('the follower knows every deletion', async () => {
      while (await follower.advance());
      return [...follower.known].every(([id, version]) => version < 0 || existing.has(id));
    });
  };

  it('tells followers of every change of concurrent writers', async () => {
    const followers = await Promise.all(
      [1, 3, 1_000, 2].map(async (limit, at) => {
        const feed = program(at).changes.products;
        return new Follower(feed, await feed.end(), limit);
      }),
    );
    /** Takes a position in the middle, and then the list. */
    const late = async (at: number) => {
      await until('there are records', async () => (await store.products.count([])) > at * 20);
      const { products, changes } = program(at);
      const follower = await Follower.of(changes.products, products, 5);
      followers.push(follower);
      await follow(follower);
    };
    await Promise.all([writeAll(), ...followers.map(follow), late(0), late(1), late(2)]);
    const existing = await listed();
    for (const { known } of followers)
      expect(new Map([...known].filter(([, version]) => version > 0))).to.deep.equal(existing);
    for (const { known } of followers.slice(0, 4)) expect(Math.min(...known.values())).to.be.below(0);
  });
}
