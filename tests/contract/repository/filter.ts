import { expect } from 'chai';
import type { Comparison, Value } from '#src/application/ports/list-query.js';
import type { Id } from '#src/domain/record.js';
import { list } from '../../support/list.js';
import { idsWhere, MATCHES, NUMBER_OPERATORS, TEXT_OPERATORS } from './expected.js';
import { AT, product } from './records.js';
import type { TestStore } from './test-store.js';

/** Texts with a special meaning in databases or Unicode. */
const NAMES = [
  ...['', ' ', '  ', 'a', 'A', 'ab', 'aB', 'abc', 'a ', ' a', 'b', 'z', 'Z', '{', '@', '['],
  ...[...list`%  a%  a%c  _  a_  a_c  *  a*  ?  .*  a.c  ^a  a$  (a|b)  [a]  \%`, '\\'],
  ...['$gt', '$ne', '{"$gt":""}', "'", "''", "' OR 1=1 --", '"', '`', ';', 'null', 'true', 'undefined'],
  ...['0', '00', '1', '01', '1.0', '1e0', '10', '9', '-1', '+1', '9007199254740993'],
  ...['é', 'e\u0301', 'É', 'e', 'ß', 'ss', 'ı', 'İ', 'ﬁ', 'fi', '日本', '\u00a0', '\u200d', '\ufeff'],
  ...['\ud7ff', '\ud7ffa', '\ue000', '\ue000\ue000'],
];
const OTHER_TEXTS = ['aa', 'a\u0000', '\u0000', 'abcd', 'zz', '\u0301', '\ud7ff\ud7ff', '\ud7fe', '1.', 'A%'];

const INTEGERS = [0, 1, 9, 10, 99, 100, 2 ** 31, 2 ** 53 - 2, 2 ** 53 - 1];
const OTHER_INTEGERS = [-1, 2, 1_000, 2 ** 53 - 3];

const INSTANTS = [-62_135_596_800_000, -1, 0, 1, AT, AT + 1, AT + 2, 253_402_300_799_999];
const BETWEEN_INSTANTS = [-0.5, 0.5, AT - 0.25, AT + 0.25, AT + 0.5, AT + 1.999, AT + 2.5];

export function filterContract(store: TestStore): void {
  const matching = (field: string, operator: Comparison['operator'], value: Value) =>
    store.ids({ limit: 1_000, filters: [{ field, operator, value }] });

  describe('filters', () => {
    it('compare texts literally and by code point, with every operator', async () => {
      const names = numbered(NAMES);
      await store.addAll([...names].map(([id, name]) => product(id, { name })));
      for (const value of [...NAMES, ...OTHER_TEXTS]) {
        for (const operator of TEXT_OPERATORS) {
          const expected = idsWhere(names, (own) => MATCHES[operator](own, value));
          expect(await matching('name', operator, value), `${operator} ${value}`).to.deep.equal(expected);
        }
      }
    });

    it('compare integers up to the largest exactly', async () => {
      const amounts = numbered(INTEGERS);
      const products = [...amounts].map(([id, amount]) =>
        product(id, { price: { amount, currency: 'EUR' } }),
      );
      await store.addAll(products);
      for (const value of [...INTEGERS, ...OTHER_INTEGERS]) {
        for (const operator of NUMBER_OPERATORS) {
          const expected = idsWhere(amounts, (own) => MATCHES[operator](own, value));
          expect(await matching('price.amount', operator, value), `${operator} ${value}`).to.deep.equal(
            expected,
          );
        }
      }
    });

    it('compare ids', async () => {
      const ids = [1, 2, 10, 2 ** 31, 2 ** 53 - 2, 2 ** 53 - 1];
      await store.addAll(ids.map((id) => product(id)));
      for (const value of [...ids, 3, 9, 2 ** 53 - 3]) {
        for (const operator of NUMBER_OPERATORS) {
          const expected = ids.filter((own) => MATCHES[operator](own, value));
          expect(await matching('id', operator, value), `${operator} ${value}`).to.deep.equal(expected);
        }
      }
    });

    it('compare instants, also with fractions of a millisecond in the filter', async () => {
      const instants = numbered(INSTANTS);
      const opposite = new Map([...instants].map(([id, instant]) => [id, 0 - instant]));
      await store.addAll(
        [...instants].map(([id, instant]) => ({
          ...product(id),
          createdAt: instant,
          updatedAt: 0 - instant,
        })),
      );
      for (const value of [...INSTANTS, ...BETWEEN_INSTANTS]) {
        for (const operator of NUMBER_OPERATORS) {
          const created = idsWhere(instants, (own) => MATCHES[operator](own, value));
          const updated = idsWhere(opposite, (own) => MATCHES[operator](own, value));
          expect(await matching('createdAt', operator, value), `${operator} ${value}`).to.deep.equal(created);
          expect(await matching('updatedAt', operator, value), `${operator} ${value}`).to.deep.equal(updated);
        }
      }
    });

    it('match the texts of a list literally', async () => {
      const names = numbered(NAMES);
      await store.addAll([...names].map(([id, name]) => product(id, { name })));
      const listIn = (...values: Value[]) =>
        store.ids({ filters: [{ field: 'name', operator: 'in', values }] });
      const expected = (...values: string[]) => idsWhere(names, (own) => values.includes(String(own)));
      expect(await listIn('%', 'z', 'é', 'no such', '$gt', "'", '')).to.deep.equal(
        expected('%', 'z', 'é', '$gt', "'", ''),
      );
      expect(await listIn('a', 'a', 'a')).to.deep.equal(expected('a'));
      expect(await listIn('no such')).to.deep.equal([]);
      expect(await listIn()).to.deep.equal([]);
      const hundred = [...NAMES, ...Array.from({ length: 100 }, (_, i) => `x${i}`)].slice(0, 100);
      expect(await listIn(...hundred)).to.deep.equal(expected(...hundred));
    });

    it('match the numbers of a list', async () => {
      await store.addAll(
        INTEGERS.map((amount, at) => ({
          ...product(at + 1, { price: { amount, currency: 'EUR' } }),
          createdAt: AT + at,
        })),
      );
      const listIn = (field: string, ...values: Value[]) =>
        store.ids({ filters: [{ field, operator: 'in', values }] });
      expect(await listIn('price.amount', 2 ** 53 - 1, 0, 5)).to.deep.equal([1, INTEGERS.length]);
      expect(await listIn('id', 3, 1, 99, 2 ** 53 - 1)).to.deep.equal([1, 3]);
      expect(await listIn('createdAt', AT + 1, AT + 2.5, AT - 1)).to.deep.equal([2]);
    });

    it('match no record without the field, not even with ne', async () => {
      await store.add(1);
      await store.add(2, { sku: 'b', price: { amount: 5, currency: 'EUR' } });
      await store.add(3, { sku: 'c', price: { amount: 7, currency: 'USD' } });
      const cases: [field: string, own: Value, others: Value[]][] = [
        ['sku', 'b', ['a', 'd', '', 'null']],
        ['price.currency', 'EUR', ['AAA', 'ZZZ', '']],
        ['price.amount', 5, [0, 9, -1]],
      ];
      for (const [field, own, others] of cases) {
        expect(await matching(field, 'eq', own), field).to.deep.equal([2]);
        expect(await matching(field, 'ne', own), field).to.deep.equal([3]);
        for (const value of others) {
          for (const operator of typeof own === 'string' ? TEXT_OPERATORS : NUMBER_OPERATORS) {
            expect(await matching(field, operator, value), `${field} ${operator}`).not.to.include(1);
          }
        }
        const filters = [{ field, operator: 'in' as const, values: [own, ...others] }];
        expect(await store.ids({ filters }), field).to.deep.equal([2]);
      }
      expect(await matching('sku', 'prefix', '')).to.deep.equal([2, 3]);
    });

    it('must all match', async () => {
      await store.addAll(
        Array.from({ length: 20 }, (_, i) =>
          product(i + 1, {
            name: i % 2 ? 'odd' : 'even',
            sku: `s${i}`,
            price: { amount: i, currency: i < 10 ? 'EUR' : 'USD' },
          }),
        ),
      );
      const all = (...filters: Comparison[]) => store.ids({ filters });
      const where = (field: string, operator: Comparison['operator'], value: Value): Comparison => ({
        field,
        operator,
        value,
      });
      expect(
        await all(
          where('name', 'eq', 'odd'),
          where('price.currency', 'eq', 'EUR'),
          where('price.amount', 'gt', 3),
          where('price.amount', 'ne', 7),
        ),
      ).to.deep.equal([6, 10]);
      expect(await all(where('id', 'gte', 5), where('id', 'lt', 7))).to.deep.equal([5, 6]);
      expect(await all(where('id', 'gt', 7), where('id', 'lt', 5))).to.deep.equal([]);
      expect(await all(where('name', 'eq', 'odd'), where('name', 'eq', 'even'))).to.deep.equal([]);
      expect(await all(where('sku', 'prefix', 's1'), where('sku', 'ne', 's1'))).to.have.length(10);
      expect(await all(where('sku', 'gt', 's1'), where('sku', 'gt', 's18'))).to.have.length(9);
    });

    it('match the latest version of a record', async () => {
      const old = await store.add(1, { name: 'old', sku: 'old' });
      expect(await matching('sku', 'eq', 'old')).to.deep.equal([1]);
      const { name: _, ...rest } = { ...old.fields, sku: 'new' };
      await store.products.replaceAll([
        { record: { ...old, version: 2, fields: { name: 'new', ...rest } }, expected: 1 },
      ]);
      expect(await matching('sku', 'eq', 'old')).to.deep.equal([]);
      expect(await matching('name', 'prefix', 'n')).to.deep.equal([1]);
    });
  });
}

function numbered<One extends Value>(values: readonly One[]): Map<Id, One> {
  return new Map(values.map((value, at) => [at + 1, value]));
}
