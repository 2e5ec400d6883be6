import { expect } from 'chai';
import type { ExistenceFilter, Filter, ListQuery, Position } from '#src/application/ports/list-query.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import type { User } from '#src/domain/user.js';
import { expectedFinds, searchFor } from '../../support/reference-search.js';
import { AT_NIGHT } from '../../support/run-settings.js';
import { longText } from '../../support/unicode-texts.js';
import { keysOf, outermostPosition, sorted } from './expected.js';
import { AT, by, idsOf, next, product, query, user } from './records.js';
import type { TestStore } from './test-store.js';

/** A text for each rule of normalisation, and for the scripts with rules of their own. */
const TEXTS = [
  ...[
    'Café crème',
    'CAFE',
    'Straße 7',
    'STRASSE',
    'strassé',
    'Iğdır İstanbul',
    'Đèn',
    'Łódź',
    'Smørrebrød Ǽ',
    'ΟΔΟΣ Οδυσσέας',
    'Ёлка й',
  ],
  ...[
    'שָׁלוֹם',
    'שלום',
    'مُحَمَّد',
    'محمد',
    'हिन्दी भाषा',
    'हिन',
    'ภาษาไทย',
    'กำไร',
    '東京都',
    '京都タワー',
    'データ',
  ],
  ...[
    'ｶﾞﾗｽ',
    'ガラス',
    '한국어',
    '하늘',
    'ﬁne x²',
    '👍🏽 ok',
    'A-1.5_b',
    "rock'n'roll",
    '٣٤',
    '３４',
    'B2B東京Z',
  ],
  ...['😀', '\u{20bb7}野家', '\u{10ffff}a', 'z\ud7ff', '\ue000'],
];
const QUERIES = [
  ...[
    'cafe',
    'CAFÉ',
    'caf',
    'cafés',
    'den',
    'lodz',
    'SMØRREBROD AE',
    'stras',
    'straß',
    'igdir',
    'ı',
    'i',
    'istan',
    'οδος',
    'ΟΔΥΣ',
    'ε',
    'е',
    'и',
  ],
  ...[
    'שלום',
    'שׁ',
    'محم',
    'हि',
    'हिन्',
    'ไทย',
    'ษา',
    'ก',
    '京',
    '京都',
    '都タ',
    'タ',
    'ー',
    'ガ',
    'がらす',
    'ラス',
  ],
  ...[
    '한',
    '하',
    'ㅎ',
    'fi',
    'x2',
    'x',
    'ok',
    'a',
    '1',
    '5',
    'b',
    'rock roll',
    'n',
    '3',
    '٣',
    'b2b',
    'z',
    '東京z',
  ],
  ...['a b', 'b a', 'cafe creme', 'creme cafe', 'caf crem x', '𠮷', '野', 'no such word'],
];

/** A store may keep the records of this many consecutive ids together, and read one such block after another. */
const FAR_APART: readonly Id[] = [
  1,
  2,
  999,
  1_000,
  1_001,
  4_095,
  4_096,
  65_536,
  2 ** 31,
  2 ** 40,
  2 ** 53 - 1,
];

const MANY = 3_000;

export function searchContract(store: TestStore, hasLarge: boolean): void {
  const find = (text: string, changes: Partial<ListQuery> = {}) =>
    store.ids({ limit: 1_000, ...changes, filters: [searchFor(text), ...(changes.filters ?? [])] });
  const countOf = (text: string, ...filters: Filter[]) => store.products.count([searchFor(text), ...filters]);

  /** Reads all pages of a list in both directions, and its count. */
  const expectList = async (
    all: readonly Versioned<Product>[],
    { filters, sort, limit }: { filters: readonly Filter[]; sort: string; limit: number },
  ) => {
    const order = by(sort);
    const expected = idsOf(sorted(all, order));
    for (const side of ['after', 'before'] as const) {
      const seen: Id[] = [];
      for (let from: Position | undefined = outermostPosition(order, side); from; ) {
        const { records, hasMore } = await store.products.list(query({ limit, filters, order, from }));
        expect(records.length, 'the length of a page').to.be.at.most(limit);
        seen.push(...idsOf(side === 'after' ? records : records.toReversed()));
        const last = side === 'after' ? records.at(-1) : records[0];
        from = last && hasMore ? { side, inclusive: false, values: keysOf(last, order) } : undefined;
      }
      expect(seen, `${sort} ${side}`).to.deep.equal(side === 'after' ? expected : expected.toReversed());
    }
    expect(await store.products.count(filters), `the count of ${sort}`).to.equal(expected.length);
  };

  describe('a search', () => {
    it('finds a new record, whose words are current at once', async () => {
      await store.add(1, { name: 'lamp' });
      expect(await find('lamp')).to.deep.equal([1]);
    });

    it('finds what the definition finds, in every script', async () => {
      const all = TEXTS.map((name, at) => product(at + 1, { name }));
      await store.addAll(all);
      for (const text of QUERIES) {
        expect(await find(text), text).to.deep.equal(expectedFinds('products', all, text));
        expect(await countOf(text), text).to.equal(expectedFinds('products', all, text).length);
      }
    });

    it('finds records of many words, as they are after each write', async () => {
      const text = longText(3_000);
      const part = text.slice(1_500, 1_520);
      const all = [1, 2, 3, 4, 5].map((id) => product(id, { description: `${id} lamp ${text}` }));
      await store.addAll(all);
      for (const other of [part, `${part} lamp`, `${part} 3`]) {
        const expected = expectedFinds('products', all, other);
        expect(await find(other), other).to.deep.equal(expected);
      }
      const [, second] = all as [Versioned<Product>, Versioned<Product>];
      await store.products.replaceAll([
        { record: next(second, { description: `lamp ${text.slice(1_520)}` }), expected: 1 },
      ]);
      await store.products.removeAll([{ id: 4, expected: 1, at: AT }]);
      expect(await find(part)).to.deep.equal([1, 3, 5]);
      expect(await find(`lamp ${text.slice(2_000, 2_004)}`)).to.deep.equal([1, 2, 3, 5]);
    });

    it('finds a record by its first 8,000 different words, and by no further one', async () => {
      const text = longText(9_100);
      const attributes = { a: text.slice(5_000, 5_500), b: text.slice(5_500) };
      const long = product(1, { name: 'lamp', description: text.slice(0, 5_000), attributes });
      const all = [long, { ...long, id: 2 }, product(3, { name: 'desk', description: text.slice(8_500) })];
      await store.addAll(all);
      const parts = [2_000, 7_990, 7_995, 8_000, 8_500].map((at) => text.slice(at, at + 20));
      for (const part of [...parts, ...parts.map((part) => part.slice(0, 3)), 'lamp', `lamp ${parts[0]}`])
        expect(await find(part), part).to.deep.equal(expectedFinds('products', all, part));
      expect(await find(parts[1] ?? '')).to.deep.equal([1, 2]);
      expect(await find(parts[4] ?? '')).to.deep.equal([3]);
      await store.products.replaceAll([
        { record: next(long, { description: 'short', attributes }), expected: 1 },
      ]);
      await store.products.removeAll([{ id: 2, expected: 1, at: AT }]);
      expect(await find(parts[0] ?? '')).to.deep.equal([]);
      expect(await find(parts[1] ?? '')).to.deep.equal([1]);
      expect(await find(parts[4] ?? '')).to.deep.equal([1, 3]);
      expect(await countOf(parts[4] ?? '')).to.equal(2);
    });

    it('finds the words of every searched field of a product, and of no other', async () => {
      await store.add(1, { name: 'Green Lamp' });
      await store.add(2, { name: 'x', description: 'A lamp\nthat is green.' });
      await store.add(3, { name: 'x', sku: 'LAMP-green.7' });
      await store.add(4, { name: 'x', attributes: { a: 'lamp', 'b.c': 'greenish', d: 7, e: true } });
      await store.add(5, { name: 'green', attributes: { lamp: 'x' }, price: { amount: 7, currency: 'EUR' } });
      expect(await find('lam gre')).to.deep.equal([1, 2, 3, 4]);
      expect(await find('GREEN')).to.deep.equal([1, 2, 3, 4, 5]);
      expect(await find('7')).to.deep.equal([3]);
      expect(await find('true')).to.deep.equal([]);
      expect(await find('eur')).to.deep.equal([]);
      expect(await find('x lamp')).to.deep.equal([2, 3, 4]);
    });

    it('finds the words of a user', async () => {
      const users: Versioned<User>[] = [
        user(1, 'Ann.Lee@Example.com'),
        { ...user(2, 'bob@x.org'), fields: { name: 'Zoë Lee', email: 'bob@x.org' } },
        user(3, 'eve@lee-x.org'),
      ];
      await store.addUsers(users);
      for (const text of ['lee', 'LEE exa', 'zoe', 'ann lee', 'org', 'x org', 'user', '1', 'b', 'nn']) {
        const filters = [searchFor(text)];
        const { records } = await store.users.list(query({ filters }));
        const expected = expectedFinds('users', users, text);
        expect(idsOf(records), text).to.deep.equal(expected);
        expect(await store.users.count(filters), text).to.equal(expected.length);
      }
    });

    it('finds beginnings of words only, of any length', async () => {
      const long = 'x'.repeat(63);
      await store.addAll([`${long}ab`, `${long}a`, long, 'lamp', 'lamps', 'blamp', 'la'].map(named));
      expect(await find('lamp')).to.deep.equal([4, 5]);
      expect(await find('la')).to.deep.equal([4, 5, 7]);
      expect(await find('l')).to.deep.equal([4, 5, 7]);
      expect(await find(long)).to.deep.equal([1, 2, 3]);
      expect(await find(`${long}a`)).to.deep.equal([1, 2]);
      expect(await find(`${long}b`)).to.deep.equal([]);
    });

    it('finds each part of a long text without spaces', async () => {
      const text = Array.from({ length: 500 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('');
      const attributes = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`${i}`, `${i}${text}`]));
      await store.add(1, { name: 'x', description: text });
      await store.add(2, { name: 'x', attributes });
      expect(await find([...text].slice(436, 500).join(''))).to.deep.equal([1, 2]);
      expect(await find([...text].slice(250, 300).join(''))).to.deep.equal([1, 2]);
      expect(await find(`${text[499]} x`)).to.deep.equal([1, 2]);
      expect(await find(`${text[5]}${text[4]}`)).to.deep.equal([]);
      expect((await store.products.find(2))?.fields).to.deep.equal({ name: 'x', attributes });
    });

    it('finds a record by its present words only', async () => {
      const record = await store.add(1, { name: 'old lamp' });
      await store.add(2, { name: 'old desk' });
      expect(await find('old')).to.deep.equal([1, 2]);
      const replaced = { ...record, version: 2, fields: { name: 'new lamp' } };
      expect(await store.products.replaceAll([{ record: replaced, expected: 1 }])).to.deep.equal([
        'replaced',
      ]);
      expect(await find('old')).to.deep.equal([2]);
      expect(await find('new')).to.deep.equal([1]);
      expect(await find('lamp')).to.deep.equal([1]);
      expect([await countOf('old'), await countOf('new')]).to.deep.equal([1, 1]);
      expect(
        await store.products.replaceAll([{ record: { ...replaced, fields: { name: 'lost' } }, expected: 1 }]),
      ).to.deep.equal(['version_conflict']);
      expect(await find('lost')).to.deep.equal([]);
      await store.products.removeAll([{ id: 1, expected: 2, at: AT }]);
      expect(await find('lamp')).to.deep.equal([]);
      expect(await countOf('new')).to.equal(0);
      expect(await store.products.insertAll([product(1, { name: 'lamp' })])).to.deep.equal(['id_conflict']);
      expect(await find('lamp')).to.deep.equal([]);
      expect(await find('desk')).to.deep.equal([2]);
    });

    it('finds records that are replaced or deleted together by their present words only', async () => {
      const records = [1, 2, 3, 4, 5].map((id) => product(id, { name: `old lamp n${id}` }));
      await store.addAll(records);
      const names = ['new lamp', 'old lamp', 'new desk', 'lost'];
      const edits = records.slice(0, 4).map((old, at) => ({
        record: next(old, { name: names[at] ?? '', price: { amount: at, currency: 'EUR' } }),
        expected: at === 3 ? 2 : 1,
      }));
      const replaced = ['replaced', 'replaced', 'replaced', 'version_conflict'];
      expect(await store.products.replaceAll(edits)).to.deep.equal(replaced);
      const expectFound = async (expected: Readonly<Record<string, readonly Id[]>>) => {
        for (const [text, ids] of Object.entries(expected)) {
          expect(await find(text), text).to.deep.equal(ids);
          expect(await countOf(text), `count of ${text}`).to.equal(ids.length);
        }
      };
      await expectFound({ old: [2, 4, 5], new: [1, 3], lamp: [1, 2, 4, 5], desk: [3], n1: [], lost: [] });
      const removals = [1, 2, 4, 5].map((id) => ({ id, expected: id === 5 ? 9 : id === 4 ? 1 : 2, at: AT }));
      expect(await store.products.removeAll(removals)).to.deep.equal([true, true, true, false]);
      await expectFound({ old: [5], new: [3], lamp: [5], desk: [3] });
    });

    it('finds a record again that gets a former word back', async () => {
      let record = await store.add(1, { name: 'a' });
      for (const name of ['b', 'a', 'a b', 'c', 'b']) {
        const version = record.version + 1;
        const next = { ...record, version, fields: { name } };
        expect(await store.products.replaceAll([{ record: next, expected: record.version }])).to.deep.equal([
          'replaced',
        ]);
        record = next;
        for (const word of ['a', 'b', 'c'])
          expect(await find(word), `${word} in ${name}`).to.deep.equal(name.includes(word) ? [1] : []);
      }
    });

    it('keeps up with many writes after a search', async () => {
      const all = Array.from({ length: 400 }, (_, i) => product(i + 1, { name: `old n${i}` }));
      await store.addAll(all.slice(0, 100));
      const expectOldAndNew = async (old: readonly Id[], renewed: readonly Id[]) => {
        expect([await find('old'), await find('new')]).to.deep.equal([old, renewed]);
        expect([await countOf('old'), await countOf('new')]).to.deep.equal([old.length, renewed.length]);
      };
      const ids = idsOf(all);
      await expectOldAndNew(ids.slice(0, 100), []);
      for (const [at, record] of all.slice(0, 60).entries()) {
        const renewed = { ...record, version: 2, fields: { name: 'new' } };
        expect(await store.products.replaceAll([{ record: renewed, expected: 1 }])).to.deep.equal([
          'replaced',
        ]);
        if (at === 9) await expectOldAndNew(ids.slice(10, 100), ids.slice(0, 10));
      }
      await expectOldAndNew(ids.slice(60, 100), ids.slice(0, 60));
      for (const id of [1, 2, 60, 61, 100])
        await store.products.removeAll([{ id, expected: id <= 60 ? 2 : 1, at: AT }]);
      await store.addAll(all.slice(100));
      await expectOldAndNew([...ids.slice(61, 99), ...ids.slice(100)], ids.slice(2, 59));
    });

    it('finds no record whose insertion failed', async () => {
      await store.add(1, { name: 'one', sku: 'taken' });
      const outcomes = await store.products.insertAll([
        product(1, { name: 'lamp' }),
        product(2, { name: 'lamp', sku: 'taken' }),
        product(3, { name: 'lamp' }),
      ]);
      expect(outcomes[2]).to.equal('inserted');
      expect(await find('lamp')).to.deep.equal([3]);
      expect(await find('one')).to.deep.equal([1]);
    });

    it('finds records whose ids lie far apart', async () => {
      const all = FAR_APART.map((id, at) => product(id, { name: `${at % 2 ? 'odd' : 'even'} lamp ${at}` }));
      await store.addAll(all);
      for (const text of ['lamp', 'odd', 'even lamp', '10', 'lamp 3', 'none'])
        for (const [sort, limit] of [
          ['id', 1],
          ['-id', 2],
          ['name,id', 3],
          ['-createdAt,-id', 100],
        ] as const) {
          const filters = [searchFor(text)];
          const found = all.filter(({ id }) => expectedFinds('products', all, text).includes(id));
          await expectList(found, { filters, sort, limit });
        }
    });

    it('finds what the last ids have if the others were removed', async () => {
      const all = Array.from({ length: 300 }, (_, i) => product(20 * (i + 1), { name: `lamp w${i + 1}` }));
      await store.addAll(all);
      for (const { id } of all.slice(0, -3))
        expect(await store.products.removeAll([{ id, expected: 1, at: AT }])).to.deep.equal([true]);
      expect(await find('lamp')).to.deep.equal([5_960, 5_980, 6_000]);
      expect(await find('w300 lamp')).to.deep.equal([6_000]);
      expect(await find('w7')).to.deep.equal([]);
      expect(await countOf('lamp')).to.equal(3);
    });

    if (hasLarge)
      describe('of many records', () => {
        const all = Array.from({ length: MANY }, (_, i) => ({
          ...product(2 * i + 1 + (i > MANY / 2 ? 1_000_000 : 0), {
            name: `${['desk', 'lamp', 'chair'][i % 3]} n${i % 7}`,
            description: `common ${i % 2 ? 'odd' : 'even'} ${i === 2_345 ? 'rarest' : ''} m${i}`,
            ...(i % 5 && { sku: `S-${i}` }),
            ...(i % 4 && { price: { amount: i % 11, currency: i % 13 ? 'EUR' : 'USD' } }),
            attributes: { size: i % 6 },
          }),
          createdAt: AT + (i % 9),
        }));
        const found = new Map<string, Versioned<Product>[]>();
        const matching = (text: string) => {
          const known = found.get(text);
          if (known) return known;
          const ids = new Set(expectedFinds('products', all, text));
          const matches = all.filter(({ id }) => ids.has(id));
          found.set(text, matches);
          return matches;
        };
        const SORTS = ['id', '-id', 'name,id', '-createdAt,name,-id'];

        const fill = async () => {
          for (let at = 0; at < MANY; at += 1_000) await store.addAll(all.slice(at, at + 1_000));
        };

        describe('that stay as they are', () => {
          store.filledOnce(fill);

          for (const [number, [text, limit]] of (
            [
              ['common', 1_000],
              ['odd', 700],
              ['rarest', 1],
              ['lamp odd', 333],
              ['m299', 2],
              ['m1', 401],
              ['c', 999],
              ['desk lamp', 10],
              ['none', 5],
            ] as const
          ).entries()) {
            it(`${text}: lists them forwards and backwards, in any order, and counts them`, async () => {
              // In the gate a text has every second order, and the next text the others.
              for (const sort of SORTS.filter((_, place) => AT_NIGHT || (number + place) % 2 === 0))
                await expectList(matching(text), { filters: [searchFor(text)], sort, limit });
            }).timeout(30_000);
          }

          it('combines with other filters, before or behind them', async () => {
            const cases: [text: string, filter: Filter, test: (record: Versioned<Product>) => boolean][] = [
              [
                'lamp',
                { field: 'name', operator: 'eq', value: 'lamp n3' },
                ({ fields }) => fields.name === 'lamp n3',
              ],
              [
                'odd',
                { field: 'price.amount', operator: 'gte', value: 9 },
                ({ fields }) => (fields.price?.amount ?? 0) >= 9,
              ],
              [
                'm2',
                { field: 'sku', operator: 'exists', value: false },
                ({ fields }) => fields.sku === undefined,
              ],
              [
                'common',
                { field: 'sku', operator: 'eq', value: 'S-77' },
                ({ fields }) => fields.sku === 'S-77',
              ],
              ['common', { field: 'id', operator: 'gt', value: 1_005_000 }, ({ id }) => id > 1_005_000],
              [
                'lamp',
                { field: 'id', operator: 'in', values: [1, 3, 5] },
                ({ id }) => [1, 3, 5].includes(id),
              ],
              ['odd', attribute('5'), ({ fields }) => fields.attributes?.['size'] === 5],
              [
                'even',
                { field: 'createdAt', operator: 'lt', value: AT + 1 },
                ({ createdAt }) => createdAt < AT + 1,
              ],
              ['common', searchFor('lamp'), ({ fields }) => fields.name.startsWith('lamp')],
            ];
            for (const [text, filter, test] of cases) {
              const expected = matching(text).filter(test);
              expect(expected, text).not.to.have.length(0);
              const search = searchFor(text);
              await expectList(expected, { filters: [search, filter], sort: 'id', limit: 450 });
              await expectList(expected, { filters: [filter, search], sort: '-name,id', limit: 450 });
            }
          }).timeout(60_000);

          it('starts at any position', async () => {
            for (const text of ['odd', 'rarest'])
              for (const edge of [1, 2_000, 500_000, 1_004_691, 2 ** 53 - 1])
                for (const inclusive of [true, false]) {
                  const ids = idsOf(matching(text));
                  const from = (side: Position['side']): Position => ({ side, inclusive, values: [edge] });
                  const after = ids.filter((id) => id > edge || (inclusive && id === edge));
                  const before = ids.filter((id) => id < edge || (inclusive && id === edge));
                  const at = `${text} at ${edge}`;
                  expect(await find(text, { limit: 3, from: from('after') }), at).to.deep.equal(
                    after.slice(0, 3),
                  );
                  expect(await find(text, { limit: 3, from: from('before') }), at).to.deep.equal(
                    before.slice(-3),
                  );
                  const order = by('-id');
                  expect(await find(text, { limit: 3, order, from: from('after') }), at).to.deep.equal(
                    before.toReversed().slice(0, 3),
                  );
                  expect(await find(text, { limit: 3, order, from: from('before') }), at).to.deep.equal(
                    after.slice(0, 3).toReversed(),
                  );
                }
          }).timeout(30_000);
        });

        it('shows each record once that stays, while others are written', async () => {
          await fill();
          const seen: Id[] = [];
          let from: Position | undefined;
          for (let round = 0; ; round++) {
            const reading = store.products.list(
              query({ limit: 150, filters: [searchFor('lamp')], ...(from && { from }) }),
            );
            const gone = all[(round * 97) % MANY] as Versioned<Product>;
            const writing = Promise.all([
              store.products.removeAll([{ id: gone.id, expected: 1, at: AT }]),
              store.products.insertAll([product(2_000_000 + round, { name: 'lamp' })]),
            ]);
            const [{ records, hasMore }] = await Promise.all([reading, writing]);
            seen.push(...idsOf(records));
            const last = records.at(-1);
            if (!last || !hasMore) break;
            from = { side: 'after', inclusive: false, values: [last.id] };
          }
          const removed = new Set(Array.from({ length: 100 }, (_, round) => all[(round * 97) % MANY]?.id));
          const steady = (ids: Id[]) => ids.filter((id) => id < 2_000_000 && !removed.has(id));
          expect(steady(seen)).to.deep.equal(steady(idsOf(matching('lamp'))));
          expect(new Set(seen)).to.have.length(seen.length);
        }).timeout(20_000);
      });
  });

  describe('the filter exists', () => {
    const COMBINATIONS = 24;
    const all = Array.from({ length: COMBINATIONS }, (_, i) => ({
      ...product(i + 1, {
        name: `n${i % 5}`,
        ...(i % 2 && { sku: `s${i}` }),
        ...(i % 3 && { price: { amount: i, currency: 'EUR' } }),
      }),
      createdAt: AT + (i % 4),
    }));
    const exists = (field: string, value: boolean): ExistenceFilter => ({ field, operator: 'exists', value });
    const matching = ({ field, value }: ExistenceFilter) =>
      all.filter(({ fields }) => ((field === 'sku' ? fields.sku : fields.price) !== undefined) === value);

    describe('of a few records', () => {
      store.filledOnce(() => store.addAll(all));

      for (const field of ['sku', 'price.amount', 'price.currency'])
        for (const value of [true, false])
          it(`separates the records with ${field} from the others: ${value}`, async () => {
            for (const sort of ['id', '-id', 'name,-id', '-createdAt,id'])
              await expectList(matching(exists(field, value)), {
                filters: [exists(field, value)],
                sort,
                limit: 5,
              });
          });

      it('combines with itself and with other filters', async () => {
        const noSku = exists('sku', false);
        const priced = exists('price.amount', true);
        const both = matching(noSku).filter((one) => matching(priced).includes(one));
        await expectList(both, { filters: [noSku, priced], sort: 'name,id', limit: 3 });
        await expectList([], { filters: [noSku, exists('sku', true)], sort: 'id', limit: 3 });
        const cheap: Filter = { field: 'price.amount', operator: 'lt', value: 9 };
        const cheapOnes = matching(priced).filter(({ fields }) => (fields.price?.amount ?? 0) < 9);
        await expectList(cheapOnes, { filters: [cheap, priced], sort: 'id', limit: 3 });
        await expectList([], { filters: [cheap, exists('price.amount', false)], sort: 'id', limit: 3 });
        const named: Filter = { field: 'name', operator: 'eq', value: 'n1' };
        const namedOnes = matching(noSku).filter(({ fields }) => fields.name === 'n1');
        await expectList(namedOnes, { filters: [named, noSku], sort: '-id', limit: 2 });
      });
    });

    it('follows a value that is added or removed, and finds no deleted record', async () => {
      const first = await store.add(1, { name: 'x' });
      await store.add(2, { name: 'x', sku: 's' });
      const ids = (value: boolean) => store.ids({ filters: [exists('sku', value)] });
      expect([await ids(true), await ids(false)]).to.deep.equal([[2], [1]]);
      const withSku = { ...first, version: 2, fields: { name: 'x', sku: 't' } };
      expect(await store.products.replaceAll([{ record: withSku, expected: 1 }])).to.deep.equal(['replaced']);
      expect([await ids(true), await ids(false)]).to.deep.equal([[1, 2], []]);
      expect(
        await store.products.replaceAll([
          { record: { ...withSku, version: 3, fields: { name: 'x' } }, expected: 2 },
        ]),
      ).to.deep.equal(['replaced']);
      await store.products.removeAll([{ id: 2, expected: 1, at: AT }]);
      expect([await ids(true), await ids(false)]).to.deep.equal([[], [1]]);
    });
  });
}

function named(name: string, at: number): Versioned<Product> {
  return product(at + 1, { name });
}

function attribute(value: string): Filter {
  return { field: 'attributes', operator: 'attribute', key: 'size', value };
}
