import { expect } from 'chai';
import type { Filter, Position } from '#src/application/ports/list-query.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import { Task } from '#src/shared/task-scheduler.js';
import { keysOf, outermostPosition, sorted } from './expected.js';
import { AT, by, idsOf, product, query } from './records.js';
import type { TestStore } from './test-store.js';

const NAMES = ['a', 'b', 'b', 'c', 'd'];

/** Even ids exist from the start. Those divisible by four are removed during the list, and odd ones are inserted. */
const INITIAL_IDS = Array.from({ length: 60 }, (_, i) => 2 + 2 * i);
const isSteady = (id: Id) => id % 4 !== 0;

/** All match. */
const PRICE: Filter = { field: 'price.amount', operator: 'gt', value: 0 };
const COMMON: Filter = { field: 'tags', operator: 'eq', value: 'common' };
const LISTS: readonly [name: string, sort: string, ...Filter[]][] = [
  ...['id', '-id', 'name,id', '-name,-id', 'createdAt,id', '-createdAt,name,-id'].map(
    (sort): [string, string, Filter] => ['a price', sort, PRICE],
  ),
  ['a tag', 'id', COMMON],
  ['some tags', 'id', { field: 'tags', operator: 'in', values: ['even', 'mod/1'] }],
  ['a prefix', 'id', { field: 'tags', operator: 'prefix', value: 'mod/' }],
  ['two tags', 'id', COMMON, { field: 'tags', operator: 'eq', value: 'even' }],
];

export function busyPagesContract(store: TestStore): void {
  /** A record of up to three tags that begin with `mod/`. */
  const named = (id: Id): Versioned<Product> => {
    const mod = `mod/${id % 3}`;
    const tags = ['common', id % 2 === 0 ? 'even' : 'odd', mod, ...(id % 8 === 2 ? [`${mod}/a`, `${mod}/b`] : [])];
    const fields = { name: NAMES[id % NAMES.length] ?? '', price: { amount: 1, currency: 'EUR' }, tags };
    return { ...product(id, fields), createdAt: AT + (id % 7) };
  };

  /** Inserts a record, removes another, and replaces a third in fields that are no key of the order. */
  const writeConcurrently = async (round: number) => {
    const existing = await store.products.find(INITIAL_IDS.filter(isSteady)[(round * 7) % 30] ?? 0);
    if (!existing) throw new Error('A steady record is missing.');
    const { version, fields } = existing;
    const changed = {
      ...fields,
      description: `round ${round}`,
      price: { amount: 1 + round, currency: 'EUR' },
      tags: [`new/${round}`, ...(fields.tags ?? [])],
    };
    const gone = INITIAL_IDS.filter((id) => !isSteady(id))[(round * 11) % 30] ?? 0;
    await Promise.all([
      store.products.insertAll([named(round * 2 + 1)]),
      store.products.removeAll([{ id: gone, expected: 1, at: AT }]),
      store.products.replaceAll([
        { record: { ...existing, version: version + 1, fields: changed }, expected: version },
      ]),
    ]);
  };

  describe('pages while others write', () => {
    for (const [name, sort, ...filters] of LISTS)
      for (const side of ['after', 'before'] as const)
        it(`show each steady record exactly once, of ${name} by ${sort}, ${side === 'after' ? 'forwards' : 'backwards'}`, async () => {
          await store.addAll(INITIAL_IDS.map(named));
          const order = by(sort);
          const seen: Id[] = [];
          let from = outermostPosition(order, side);
          for (let round = 0; ; round++) {
            const [{ records, hasMore }] = await Promise.all([
              store.products.list(query({ limit: 4, filters, order, from })),
              writeConcurrently(round),
            ]);
            seen.push(...idsOf(side === 'after' ? records : records.toReversed()));
            const last = side === 'after' ? records.at(-1) : records[0];
            if (!last || !hasMore) break;
            from = { side, inclusive: false, values: keysOf(last, order) };
          }
          const stayed = seen.filter((id) => id % 2 === 0 && isSteady(id));
          const expected = idsOf(sorted(INITIAL_IDS.filter(isSteady).map(named), order));
          expect(stayed).to.deep.equal(side === 'after' ? expected : expected.toReversed());
          expect(new Set(seen)).to.have.length(seen.length);
        });

    it('omit no steady record if another record of the page moves during the read', async () => {
      const order = by('name,id');
      const all = Array.from({ length: 2_500 }, (_, i) => product(i + 1, { name: `n${10_000 + i}` }));
      await store.addAll(all);
      const reading = store.products.list(query({ limit: 1, order }));
      const moved = all[0] as Versioned<Product>;
      const replaced = store.products.replaceAll([
        { record: { ...moved, version: 2, fields: { name: 'z' } }, expected: 1 },
      ]);
      const [page] = await Promise.all([reading, replaced]);
      const last = page.records.at(-1);
      if (!last) throw new Error('The page is empty.');
      const from: Position = { side: 'after', inclusive: false, values: keysOf(last, order) };
      const rest = await store.ids({ limit: 1_000, order, from });
      const seen = [...idsOf(page.records), ...rest].filter((id) => id !== moved.id);
      expect(seen.slice(0, 50)).to.deep.equal(
        idsOf(all)
          .filter((id) => id !== moved.id)
          .slice(0, 50),
      );
    });

    it('do not queue a client behind the searches of another', async () => {
      await store.addAll(Array.from({ length: 1_500 }, (_, i) => product(i + 1, { name: 'x' })));
      // No store has an index on it.
      const filters: Filter[] = [{ field: 'images', operator: 'exists', value: true }];
      let done: string[] = [];
      const search = (client: string) =>
        store.products.list(query({ limit: 1, filters, task: new Task(client) })).then(() => done.push(client));
      // Opens the connections first, so that the order depends on the queues only.
      await Promise.all(['a', 'a', 'a', 'b'].map(search));
      done = [];
      await Promise.all([...Array.from({ length: 60 }, () => search('a')), search('b')]);
      expect(done.indexOf('b')).to.be.below(30);
    });

    it('contain only records that match the filters, even if a record changes during the read', async () => {
      const all = Array.from({ length: 2_500 }, (_, i) => product(i + 1, { name: 'in' }));
      await store.addAll(all);
      const filters: Filter[] = [{ field: 'name', operator: 'eq', value: 'in' }];
      const reading = store.products.list(query({ limit: 3, filters }));
      const out = { ...(all[0] as Versioned<Product>), version: 2, fields: { name: 'out' } };
      const [{ records }] = await Promise.all([reading, store.products.replaceAll([{ record: out, expected: 1 }])]);
      expect(new Set(records.map(({ fields }) => fields.name))).to.deep.equal(new Set(['in']));
    });
  });
}
