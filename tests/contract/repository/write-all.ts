import { expect } from 'chai';
import type { Replacement, Repository } from '#src/application/ports/repository.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import type { OpenStore, TestStoreProvider } from '../../stores/provider.js';
import { list } from '../../support/list.js';
import { AT_NIGHT } from '../../support/run-settings.js';
import { AT, idsOf, next, outcomeText, product, user } from './records.js';
import { TestStore } from './test-store.js';

type ProductRecord = Versioned<Product>;

const IDS: readonly Id[] = Array.from({ length: 24 }, (_, at) => at + 1);

/** The replacement of a record by its next version. */
function edit(old: ProductRecord, fields: Partial<Product> = {}): Replacement<Product> {
  return { record: next(old, { name: `new ${old.id}`, ...fields }), expected: old.version };
}

export function writeAllContract(store: TestStore): void {
  const outcomes = async (replacements: readonly Replacement<Product>[]): Promise<string[]> =>
    (await store.products.replaceAll(replacements)).map(outcomeText);
  const find = (ids: readonly Id[]) => store.products.findAllByUnique('id', ids);

  describe('replaceAll', () => {
    it('replaces the expected versions, and returns an outcome for each', async () => {
      const old = [await store.add(3, { sku: 'c' }), await store.add(1), await store.add(2, { sku: 'b' })];
      const edits = [...old.map((record) => edit(record)), edit(product(4))];
      expect(await outcomes(edits)).to.deep.equal(['replaced', 'replaced', 'replaced', 'version_conflict']);
      const records = edits.slice(0, 3).map(({ record }) => record);
      expect(await find([3, 1, 2])).to.deep.equal(records);
      expect(await store.products.findAllByUnique('sku', ['c', 'b'])).to.deep.equal([undefined, undefined]);
    });

    it('replaces the other records if some are refused, and returns outcomes in the order of the records', async () => {
      const old = new Map<Id, ProductRecord>();
      for (const id of [1, 2, 3, 4, 5]) old.set(id, await store.add(id, { sku: `s${id}` }));
      const of = (id: Id) => old.get(id) ?? product(id);
      await store.products.removeAll([{ id: 5, expected: 1, at: AT }]);
      const edits = [
        edit(of(1)),
        { ...edit(of(2)), expected: 2 },
        edit(of(3), { sku: 's2' }),
        edit(of(5)),
        edit(of(9)),
        edit(of(4), { sku: 's4' }),
      ];
      expect(await outcomes(edits)).to.deep.equal(
        list`replaced  version_conflict  duplicate_value /sku  version_conflict  version_conflict  replaced`,
      );
      const [one, four] = [edits[0]?.record, edits[5]?.record];
      expect(await find([1, 2, 3, 4, 5, 9])).to.deep.equal([one, of(2), of(3), four, undefined, undefined]);
      expect(await store.products.findByUnique('sku', 's3')).to.deep.equal(of(3));
      expect(await store.products.findUsedIds([5, 9])).to.deep.equal(new Set([5]));
    });

    // A store may collect writers while others of other records are served.
    it('lets exactly one of many concurrent calls win, also behind those of other records', async () => {
      const old = await store.add(1);
      const others = await Promise.all([2, 3, 4, 5].map((id) => store.add(id)));
      const first = others.map((other) => outcomes([edit(other)]));
      const writers = Array.from({ length: 20 }, (_, i) => outcomes([edit(old, { name: `writer ${i}` })]));
      const all = (await Promise.all(writers)).flat();
      expect((await Promise.all(first)).flat()).to.deep.equal(Array(4).fill('replaced'));
      expect(all.toSorted()).to.deep.equal(['replaced', ...Array(19).fill('version_conflict')]);
      const winner = next(old, { name: `writer ${all.indexOf('replaced')}` });
      expect(await store.products.find(1)).to.deep.equal(winner);
    });

    it('reports the version if another record has the value too', async () => {
      await store.add(1, { sku: 'a' });
      const old = await store.add(2);
      expect(await outcomes([{ ...edit(old, { sku: 'a' }), expected: 7 }])).to.deep.equal(['version_conflict']);
    });

    it('keeps unchanged values, and frees replaced ones', async () => {
      const old = [await store.add(1, { sku: 'a' }), await store.add(2, { sku: 'b' })];
      const edits = old.map((record) => edit(record, record.id === 1 ? { sku: 'a' } : {}));
      expect(await outcomes(edits)).to.deep.equal(['replaced', 'replaced']);
      expect(await outcomes(edits.map(({ record }) => edit(record, { sku: 'b' })))).to.have.members([
        'replaced',
        'duplicate_value /sku',
      ]);
    });

    it('gives a value to exactly one of the records that want it', async () => {
      for (const id of IDS) await store.add(id);
      const results = await outcomes(IDS.map((id) => edit(product(id), { sku: 'one' })));
      const winner = IDS[results.indexOf('replaced')];
      expect(results.filter((outcome) => outcome !== 'replaced')).to.deep.equal(
        IDS.slice(1).map(() => 'duplicate_value /sku'),
      );
      expect((await store.products.findByUnique('sku', 'one'))?.id).to.equal(winner);
      const versions = (await find(IDS)).map((record) => record?.version);
      expect(versions).to.deep.equal(IDS.map((id) => (id === winner ? 2 : 1)));
    });

    it('compares unique values by the case sensitivity of their field', async () => {
      const users = [user(1, 'ann@x.org'), user(2, 'bob@x.org')];
      await store.addUsers(users);
      const results = await store.users.replaceAll(
        users.map((old) => {
          const fields = { ...old.fields, email: 'ANN@x.org' };
          return { record: { ...old, version: 2, fields }, expected: 1 };
        }),
      );
      expect(results.map(outcomeText)).to.deep.equal(['replaced', 'duplicate_value /email']);
    });

    it('replaces a version once, even if one call has it twice', async () => {
      const old = await store.add(1);
      const edits = [edit(old, { name: 'one' }), edit(old, { name: 'other' })];
      const results = await outcomes(edits);
      expect(results).to.have.members(['replaced', 'version_conflict']);
      expect(await find([1])).to.deep.equal([edits[results.indexOf('replaced')]?.record]);
    });

    it('replaces some hundred records at once', async () => {
      const records = Array.from({ length: 300 }, (_, at) => product(at + 1, { sku: `${at}` }));
      await store.addAll(records);
      const edits = records.map((record) => edit(record, { sku: `new ${record.id}` }));
      expect(new Set(await outcomes(edits))).to.deep.equal(new Set(['replaced']));
      expect(await find(idsOf(records))).to.deep.equal(edits.map(({ record }) => record));
    });
  });

  describe('removeAll', () => {
    const remove = (...removals: (readonly [Id, number])[]) =>
      store.products.removeAll(removals.map(([id, expected]) => ({ id, expected, at: AT })));

    it('deletes the expected versions, frees their values, and keeps their ids in use', async () => {
      const old = [await store.add(3, { sku: 'c' }), await store.add(1), await store.add(2)];
      expect(await remove([3, 1], [1, 1])).to.deep.equal([true, true]);
      expect(await store.ids({})).to.deep.equal([2]);
      expect(await store.products.count([])).to.equal(1);
      expect(await find([3, 2, 1])).to.deep.equal([undefined, old[2], undefined]);
      expect(await store.products.findByUnique('sku', 'c')).to.equal(undefined);
      expect(await store.products.findUsedIds([1, 2, 3])).to.deep.equal(new Set([1, 2, 3]));
      const again = await store.products.insertAll([product(1), product(3), product(4, { sku: 'c' })]);
      expect(again).to.deep.equal(['id_conflict', 'id_conflict', 'inserted']);
    });

    it('changes nothing of other versions, missing and deleted records, and leaves no tombstone of them', async () => {
      await store.add(1);
      const other = await store.add(2);
      await store.add(3);
      await store.products.removeAll([{ id: 3, expected: 1, at: AT }]);
      const removals = [
        [9, 1],
        [2, 2],
        [1, 1],
        [3, 1],
        [2, 0],
      ] as const;
      expect(await remove(...removals)).to.deep.equal([false, false, true, false, false]);
      expect(await find([1, 2, 3, 9])).to.deep.equal([undefined, other, undefined, undefined]);
      expect(await store.products.findUsedIds([1, 2, 3, 9])).to.deep.equal(new Set([1, 2, 3]));
      await store.add(9);
    });

    it('leaves no version of a record to write or confirm, not even that of its deletion', async () => {
      const old = await store.add(1);
      await remove([1, 1]);
      const record = { ...next(old, {}), version: 3 };
      expect(await store.products.replaceAll([{ record, expected: 2 }])).to.deep.equal(['version_conflict']);
      expect(await store.products.confirmAll([{ id: 1, version: 2 }])).to.deep.equal([false]);
      expect(await remove([1, 2])).to.deep.equal([false]);
      expect(await store.products.find(1)).to.equal(undefined);
    });

    it('deletes a record once, even if one call has it twice', async () => {
      await store.add(1);
      expect(await remove([1, 1], [1, 1])).to.have.members([true, false]);
    });

    it('deletes some hundred records at once', async () => {
      const records = Array.from({ length: 300 }, (_, at) => product(at + 1));
      await store.addAll(records);
      const removals = idsOf(records).map((id) => [id, id % 2 === 0 ? 1 : 2] as const);
      expect(await remove(...removals)).to.deep.equal(records.map(({ id }) => id % 2 === 0));
      expect(await store.ids({ limit: 300 })).to.deep.equal(idsOf(records).filter((id) => id % 2 === 1));
    });
  });

  describe('confirmAll', () => {
    it('is true for the versions that the records have, and for no others', async () => {
      const [one, other] = [await store.add(1), await store.add(2)];
      await store.add(3);
      await store.products.replaceAll([edit(one), edit(other)]);
      await store.products.removeAll([{ id: 3, expected: 1, at: AT }]);
      const versions = [
        [2, 2],
        [3, 1],
        [1, 1],
        [9, 1],
        [1, 2],
        [2, 1],
        [2, 2],
      ] as const;
      const confirmed = await store.products.confirmAll(versions.map(([id, version]) => ({ id, version })));
      expect(confirmed).to.deep.equal([true, false, false, false, true, false, true]);
    });

    it('accepts an empty list, as the others do', async () => {
      const { products } = store;
      for (const none of [products.confirmAll([]), products.replaceAll([]), products.removeAll([])])
        expect(await none).to.deep.equal([]);
    });
  });
}

/** The races that every repository passes, between two programs if more than one can have the store open. */
export function writeRacesContract(provider: TestStoreProvider): void {
  describe(`the repository contract of races on ${provider.name}`, () => {
    const store = TestStore.forEachTest(provider);
    let programs: readonly OpenStore[];
    beforeEach(async () => (programs = [store.all, await store.again()]));
    writeRaces(() => programs, provider.pace === 'fast' || AT_NIGHT ? 10 : 2);
  });
}

/**
 * @param programs those that have the data open
 * @param races how often all ids are raced for
 */
function writeRaces(programs: () => readonly OpenStore[], races: number): void {
  const WRITERS = 8;
  const ROUNDS = 3;
  const stores = (): Repository<Product>[] =>
    Array.from({ length: WRITERS }, (_, writer) => {
      const all = programs();
      const program = all[writer % all.length];
      if (!program) throw new Error('No store is open.');
      return program.products;
    });
  /** Each writer has another order of the records. */
  const turned = (records: readonly ProductRecord[], writer: number) => [
    ...records.slice(writer),
    ...records.slice(0, writer),
  ];
  const original = IDS.map((id) => product(id));
  const winsOf = (results: readonly ReadonlyMap<Id, boolean>[]) =>
    IDS.map((id) => results.filter((result) => result.get(id)).length);
  const existing = (records: readonly (ProductRecord | undefined)[]) =>
    records.filter((record) => record !== undefined);

  describe('concurrent calls of replaceAll', () => {
    it('lose no edit, and skip no version', async () => {
      const all = stores();
      await all[0]?.insertAll(original);
      const wins = await Promise.all(
        all.map(async (products, writer) => {
          const own = new Map<Id, number>();
          for (let round = 0; round < ROUNDS; round++) {
            const found = existing(await products.findAllByUnique('id', IDS));
            const edits = turned(found, writer).map((old) => {
              const count = Number(old.fields.attributes?.[`${writer}`] ?? 0) + 1;
              return edit(old, { attributes: { ...old.fields.attributes, [writer]: count } });
            });
            for (const [at, outcome] of (await products.replaceAll(edits)).entries()) {
              const id = edits[at]?.record.id ?? 0;
              if (outcome === 'replaced') own.set(id, (own.get(id) ?? 0) + 1);
            }
          }
          return own;
        }),
      );
      const records = existing((await all[0]?.findAllByUnique('id', IDS)) ?? []);
      expect(idsOf(records)).to.deep.equal(IDS);
      for (const { id, version, fields } of records) {
        const counts = wins.flatMap((own, writer) => (own.has(id) ? [[`${writer}`, own.get(id)]] : []));
        expect(fields.attributes ?? {}).to.deep.equal(Object.fromEntries(counts));
        expect(version).to.equal(1 + counts.reduce((sum, [, count]) => sum + Number(count), 0));
      }
    });
  });

  describe('concurrent calls of replaceAll and removeAll', () => {
    it('let exactly one win each record', async () => {
      const all = stores();
      await all[0]?.insertAll(original);
      const results = await Promise.all(
        all.map(async (products, writer) => {
          const own = turned(original, writer);
          const outcomes =
            writer % 4 < 2
              ? (await products.replaceAll(own.map((old) => edit(old)))).map((one) => one === 'replaced')
              : await products.removeAll(own.map(({ id, version }) => ({ id, expected: version, at: AT })));
          return new Map(own.map(({ id }, at) => [id, outcomes[at] === true]));
        }),
      );
      expect(winsOf(results)).to.deep.equal(IDS.map(() => 1));
      const replaced = IDS.filter((id) => results.some((one, writer) => writer % 4 < 2 && one.get(id)));
      for (const products of all.slice(0, 2)) {
        const found = existing(await products.findAllByUnique('id', IDS));
        expect(found.map(({ id, version }) => [id, version])).to.deep.equal(replaced.map((id) => [id, 2]));
        expect(await products.findUsedIds(IDS)).to.deep.equal(new Set(IDS));
      }
    });
  });

  describe('concurrent calls of remove and insert of one id', () => {
    const racesOf = (round: number) => IDS.map((id) => id + round * IDS.length);
    const isGiven = async (products: Repository<Product>, id: Id, name: string): Promise<boolean> =>
      (await products.insertAll([product(id, { name })]))[0] === 'inserted';
    const isRemoved = async (products: Repository<Product>, id: Id): Promise<boolean> =>
      (await products.removeAll([{ id, expected: 1, at: AT }]))[0] === true;

    /** Every writer inserts and removes, in one order or the other. @returns whose insertions and removals succeeded */
    const race = async (id: Id) => {
      const names: string[] = [];
      let removals = 0;
      const calls = stores().flatMap((products, writer) => {
        const insertion = async () => {
          if (await isGiven(products, id, `writer ${writer}`)) names.push(`writer ${writer}`);
        };
        const removal = async () => {
          if (await isRemoved(products, id)) removals++;
        };
        return (id + (writer >> 2)) % 2 === 0 ? [insertion, removal] : [removal, insertion];
      });
      await Promise.all(calls.map((call) => call()));
      return { names, removals };
    };
    /** @param ids with the name of its record; undefined: it is removed */
    const expectUsed = async (ids: ReadonlyMap<Id, string | undefined>) => {
      for (const products of stores().slice(0, 2)) {
        const found = await products.findAllByUnique('id', [...ids.keys()]);
        expect(found.map((record) => record?.fields.name)).to.deep.equal([...ids.values()]);
        expect(await products.findUsedIds([...ids.keys()])).to.deep.equal(new Set(ids.keys()));
        const again = await products.insertAll([...ids.keys()].map((id) => product(id, { name: 'late' })));
        expect(new Set(again)).to.deep.equal(new Set(['id_conflict']));
      }
    };

    it('remove an existing record once, and give its id to no other', async () => {
      for (let round = 0; round < races; round++) {
        const ids = racesOf(round);
        await stores()[0]?.insertAll(ids.map((id) => product(id)));
        const outcomes = await Promise.all(ids.map((id) => race(id).catch(String)));
        expect(outcomes).to.deep.equal(ids.map(() => ({ names: [], removals: 1 })));
        await expectUsed(new Map(ids.map((id) => [id, undefined])));
      }
    });

    it('give a new id once, and remove its record at most once', async () => {
      for (let round = 0; round < races; round++) {
        const outcomes = await Promise.all(racesOf(round).map(async (id) => ({ id, ...(await race(id)) })));
        for (const { id, names, removals } of outcomes) {
          expect(names, `insertions of ${id}`).to.have.length(1);
          expect(removals, `removals of ${id}`).to.be.within(0, 1);
        }
        await expectUsed(
          new Map(outcomes.map(({ id, names, removals }) => [id, removals === 0 ? names[0] : undefined])),
        );
      }
    });
  });
}
