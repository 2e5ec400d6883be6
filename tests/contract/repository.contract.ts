import { expect } from 'chai';
import { BY_ID, type ListPlace, type ListQuery, type Value } from '#src/application/list-query.js';
import type { Repository } from '#src/application/ports/repository.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import type { User } from '#src/domain/user.js';
import { expectRefusal } from '../support/expect-refusal.js';

const AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

export interface OpenRepository {
  /** Empty, its first id 1. */
  readonly products: Repository<Product>;
  readonly users: Repository<User>;
  close(): Promise<void>;
}

/** What every repository holds to. A new adapter is proved by calling this with a way to open one. */
export function repositoryContract(adapter: string, open: () => Promise<OpenRepository>): void {
  describe(`the repository contract on ${adapter}`, () => {
    let opened: OpenRepository | undefined;
    let products: Repository<Product>;

    beforeEach(async () => {
      opened = await open();
      products = opened.products;
    });
    afterEach(() => opened?.close());

    const add = async (id: Id, fields: Partial<Product> = {}): Promise<Versioned<Product>> => {
      const record = product(id, fields);
      expect(await products.insert(record)).to.equal(true);
      return record;
    };
    const ids = async (wanted: Partial<ListQuery>) =>
      (await products.list(query(wanted))).records.map(({ id }) => id);

    describe('ids', () => {
      it('sets aside ascending blocks that never overlap, however many ask at once', async () => {
        const firsts = await Promise.all(Array.from({ length: 50 }, () => products.reserveIds(3)));
        expect(firsts.toSorted((a, b) => a - b)).to.deep.equal(
          Array.from({ length: 50 }, (_, i) => 1 + 3 * i),
        );
      });

      it('takes back the end of the last block, and gives it out again', async () => {
        expect(await products.reserveIds(10)).to.equal(1);
        await products.releaseIds(4, 11);
        expect(await products.reserveIds(1)).to.equal(4);
      });

      it('takes nothing back once a later block is out', async () => {
        await products.reserveIds(10);
        await products.reserveIds(10);
        await products.releaseIds(4, 11);
        expect(await products.reserveIds(1)).to.equal(21);
      });
    });

    describe('insert and find', () => {
      it('brings back what went in, whole', async () => {
        const record = await add(7, {
          name: `'; DROP TABLE products; -- "$ne" %_ .* \\ é 😀 \u{10ffff} \ue000 e\u0301`,
          description: 'tab\tline\r\nend',
          sku: 'A.b_c-1',
          price: { amount: Number.MAX_SAFE_INTEGER, currency: 'EUR' },
          attributes: { 'a.b': 'dot', $set: true, ':c': 0.1, constructor: '', toString: -5, 'é/~"\\': '%' },
        });
        expect(await products.find(7)).to.deep.equal(record);
      });

      it('knows nothing under an id that was never given', async () => {
        await add(1);
        expect(await products.find(2)).to.equal(undefined);
        expect(await products.find(Number.MAX_SAFE_INTEGER)).to.equal(undefined);
      });

      it('keeps records under the smallest and the largest id', async () => {
        await add(1);
        await add(Number.MAX_SAFE_INTEGER);
        expect(await ids({ limit: 10 })).to.deep.equal([1, Number.MAX_SAFE_INTEGER]);
      });

      it('refuses an id that is taken, whatever else is the same, and keeps the old record', async () => {
        const old = await add(1, { sku: 'same' });
        expect(await products.insert(product(1, { name: 'other', sku: 'same' }))).to.equal(false);
        expect(await products.find(1)).to.deep.equal(old);
      });

      it('lets exactly one of many racing creations have an id', async () => {
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, (_, i) => products.insert(product(1, { name: `racer ${i}` }))),
        );
        expect(outcomes.filter(Boolean)).to.have.length(1);
        expect((await products.find(1))?.fields.name).to.equal(`racer ${outcomes.indexOf(true)}`);
      });

      it('keeps its own copy: changing what went in changes nothing kept', async () => {
        const record = product(1, { attributes: { colour: 'red' } });
        await products.insert(record);
        (record.fields.attributes as Record<string, unknown>)['colour'] = 'blue';
        expect((await products.find(1))?.fields.attributes).to.deep.equal({ colour: 'red' });
      });

      it('gives out copies: changing what came out changes nothing kept', async () => {
        await add(1, { sku: 'x', attributes: { colour: 'red' } });
        const answers = [
          await products.find(1),
          await products.findByUnique('sku', 'x'),
          ...(await products.list(query({ limit: 1 }))).records,
        ];
        for (const found of answers) (found?.fields.attributes as Record<string, unknown>)['colour'] = 'blue';
        expect((await products.find(1))?.fields.attributes).to.deep.equal({ colour: 'red' });
      });
    });

    describe('unique fields', () => {
      it('refuses a value that another record has, and names the field', async () => {
        await add(1, { sku: 'taken' });
        await expectRefusal(products.insert(product(2, { sku: 'taken' })), 'duplicate_value', ['/sku']);
        expect(await products.find(2)).to.equal(undefined);
      });

      it('refuses it in a replacement too, and leaves the old record', async () => {
        await add(1, { sku: 'taken' });
        const old = await add(2, { sku: 'mine' });
        await expectRefusal(products.replace(next(old, { sku: 'taken' }), 1), 'duplicate_value', ['/sku']);
        expect(await products.find(2)).to.deep.equal(old);
      });

      it('tells values apart by case, and lets any number of records have none', async () => {
        await add(1, { sku: 'a' });
        await add(2, { sku: 'A' });
        await add(3);
        await add(4);
        expect(await ids({ limit: 10 })).to.deep.equal([1, 2, 3, 4]);
      });

      it('lets a record keep its own value, and frees the value that it gives up', async () => {
        const one = await add(1, { sku: 'a' });
        const same = next(one, { name: 'renamed', sku: 'a' });
        expect(await products.replace(same, 1)).to.equal(true);
        expect(await products.replace(next(same, { sku: 'b' }), 2)).to.equal(true);
        await add(2, { sku: 'a' });
      });

      it('lets exactly one of many racing records have a value', async () => {
        const outcomes = await Promise.allSettled(
          Array.from({ length: 20 }, (_, i) => products.insert(product(i + 1, { sku: 'one' }))),
        );
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
        expect(await ids({ limit: 30 })).to.have.length(1);
      });

      it('finds a record by its value, taken literally', async () => {
        const record = await add(1, { sku: 'A_1' });
        await add(2, { sku: 'A.1' });
        expect(await products.findByUnique('sku', 'A_1')).to.deep.equal(record);
        for (const other of ['a_1', 'A%', 'A_', '.*', '', 'A_1 ']) {
          expect(await products.findByUnique('sku', other), other).to.equal(undefined);
        }
      });
    });

    describe('replace', () => {
      it('puts the new record in the place of the expected version', async () => {
        const old = await add(1, { description: 'old', sku: 'x' });
        const replacement = next(old, { name: 'new' });
        expect(await products.replace(replacement, 1)).to.equal(true);
        expect(await products.find(1)).to.deep.equal(replacement);
        expect(await products.findByUnique('sku', 'x')).to.equal(undefined);
      });

      it('leaves the record where its version is another, or where there is none', async () => {
        const old = await add(1);
        expect(await products.replace(next(old, { name: 'late' }), 2)).to.equal(false);
        expect(await products.replace(product(9), 1)).to.equal(false);
        expect(await products.find(1)).to.deep.equal(old);
        expect(await products.find(9)).to.equal(undefined);
      });

      it('lets exactly one of many racing writers win', async () => {
        const old = await add(1);
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, (_, i) => products.replace(next(old, { name: `racer ${i}` }), 1)),
        );
        expect(outcomes.filter(Boolean)).to.have.length(1);
        const won = await products.find(1);
        expect(won?.version).to.equal(2);
        expect(won?.fields.name).to.equal(`racer ${outcomes.indexOf(true)}`);
      });
    });

    describe('remove', () => {
      it('takes the record out of every answer and frees its unique values', async () => {
        await add(1, { sku: 'x' });
        expect(await products.remove(1, 1, AT)).to.equal(true);
        expect(await products.find(1)).to.equal(undefined);
        expect(await products.findByUnique('sku', 'x')).to.equal(undefined);
        expect(await ids({ limit: 10 })).to.deep.equal([]);
        await add(2, { sku: 'x' });
      });

      it('keeps the id taken for ever', async () => {
        const record = await add(1);
        await products.remove(1, 1, AT);
        expect(await products.insert(record)).to.equal(false);
        expect(await products.replace(next(record, {}), 1)).to.equal(false);
        expect(await products.find(1)).to.equal(undefined);
      });

      it('leaves the record where its version is another, or where there is none', async () => {
        const record = await add(1);
        expect(await products.remove(1, 2, AT)).to.equal(false);
        expect(await products.remove(2, 1, AT)).to.equal(false);
        expect(await products.find(1)).to.deep.equal(record);
      });

      it('lets exactly one of many racing deletions win', async () => {
        await add(1);
        const outcomes = await Promise.all(Array.from({ length: 20 }, () => products.remove(1, 1, AT)));
        expect(outcomes.filter(Boolean)).to.have.length(1);
      });
    });

    describe('list', () => {
      it('is empty where nothing is kept', async () => {
        expect(await ids({ limit: 5 })).to.deep.equal([]);
        expect(await ids({ limit: 5, from: at('after', 3) })).to.deep.equal([]);
        expect(await ids({ limit: 5, from: at('before', 3) })).to.deep.equal([]);
      });

      it('comes in order of id, whatever the order of creation', async () => {
        for (const id of [30, 2, 100, 9, 1]) await add(id);
        expect(await ids({ limit: 10 })).to.deep.equal([1, 2, 9, 30, 100]);
      });

      it('goes forward from a place, page by page', async () => {
        for (const id of [1, 2, 3, 4, 5]) await add(id);
        expect(await ids({ limit: 2 })).to.deep.equal([1, 2]);
        expect(await ids({ limit: 2, from: at('after', 2) })).to.deep.equal([3, 4]);
        expect(await ids({ limit: 2, from: at('after', 4) })).to.deep.equal([5]);
        expect(await ids({ limit: 2, from: at('after', Number.MAX_SAFE_INTEGER) })).to.deep.equal([]);
      });

      it('goes back from a place, each page still ascending', async () => {
        for (const id of [1, 2, 3, 4, 5]) await add(id);
        expect(await ids({ limit: 2, from: at('before', 5) })).to.deep.equal([3, 4]);
        expect(await ids({ limit: 2, from: at('before', 3) })).to.deep.equal([1, 2]);
        expect(await ids({ limit: 2, from: at('before', 1) })).to.deep.equal([]);
      });

      it('goes on from a place whose record is gone', async () => {
        for (const id of [1, 2, 3]) await add(id);
        await products.remove(2, 1, AT);
        expect(await ids({ limit: 5, from: at('after', 2) })).to.deep.equal([3]);
        expect(await ids({ limit: 5, from: at('before', 2) })).to.deep.equal([1]);
      });

      it('shows every record that stays exactly once, while others come and go', async () => {
        for (let id = 2; id <= 60; id += 2) await add(id);
        const seen: Id[] = [];
        let from: ListQuery['from'];
        for (let round = 0; round < 40; round++) {
          const page = await ids({ limit: 3, ...(from && { from }) });
          const last = page.at(-1);
          if (last === undefined) break;
          seen.push(...page);
          from = at('after', last);
          await add(round * 2 + 1);
          if (last % 4 === 0) await products.remove(last, 1, AT);
        }
        const stayed = seen.filter((id) => id % 2 === 0);
        expect(stayed).to.deep.equal(Array.from({ length: 30 }, (_, i) => 2 + 2 * i));
      });

      it('shows whole records', async () => {
        const record = await add(1, { sku: 'x', attributes: { 'a.b': 1 } });
        expect(await products.list(query({ limit: 1 }))).to.deep.equal({ records: [record], hasMore: false });
      });

      it('says whether more lie beyond the page, in the direction of reading', async () => {
        for (const id of [1, 2, 3]) await add(id);
        const more = async (limit: number, from?: ListQuery['from']) =>
          (await products.list(query({ limit, ...(from && { from }) }))).hasMore;
        expect([await more(2), await more(3), await more(4)]).to.deep.equal([true, false, false]);
        expect(await more(1, at('after', 1))).to.equal(true);
        expect(await more(2, at('after', 1))).to.equal(false);
        expect(await more(1, at('before', 3))).to.equal(true);
        expect(await more(2, at('before', 3))).to.equal(false);
      });

      it('ends a page early where the records are large, and says that more lie beyond', async () => {
        const attributes = Object.fromEntries(
          Array.from({ length: 50 }, (_, i) => [`${i}`, '😀'.repeat(500)]),
        );
        for (let id = 1; id <= 150; id++) await add(id, { attributes });
        const forward = await products.list(query({ limit: 1_000 }));
        expect(forward.hasMore).to.equal(true);
        expect(forward.records.length).to.be.within(10, 149);
        expect(forward.records.map(({ id }) => id)).to.deep.equal(forward.records.map((_, i) => i + 1));
        const back = await products.list(query({ limit: 1_000, from: at('before', 151) }));
        expect(back.hasMore).to.equal(true);
        expect(back.records.at(-1)?.id).to.equal(150);
        expect(back.records.length).to.be.within(10, 149);
      });
    });
  });
}

/** In order of id, where nothing else is said. */
function query(wanted: Partial<ListQuery>): ListQuery {
  return { limit: 100, filters: [], order: BY_ID, ...wanted };
}

function at(side: ListPlace['side'], ...values: Value[]): ListPlace {
  return { side, inclusive: false, values };
}

function product(id: Id, fields: Partial<Product> = {}): Versioned<Product> {
  return { id, version: 1, createdAt: AT, updatedAt: AT, fields: { name: `product ${id}`, ...fields } };
}

function next(old: Versioned<Product>, fields: Partial<Product>): Versioned<Product> {
  return {
    ...old,
    version: old.version + 1,
    updatedAt: AT + 1,
    fields: { name: old.fields.name, ...fields },
  };
}
