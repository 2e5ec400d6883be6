import { expect } from 'chai';
import type { Filter, ListQuery, Position, SortOrder } from '#src/application/ports/list-query.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import { searchFor } from '../../support/reference-search.js';
import { AT_NIGHT } from '../../support/run-settings.js';
import { keysOf, outermostPosition, sorted } from './expected.js';
import { AT, at, by, idsOf, next, product, query } from './records.js';
import type { TestStore } from './test-store.js';

/** So many records have a common tag that no store sorts them all at once. */
const MANY = 2_600;
const FEW = 45;

/** What matches, in the words of the filters and as a condition on the fields. */
type Case = readonly [
  name: string,
  filters: readonly Filter[],
  matches: (fields: Product, id: Id) => boolean,
];

const tag = (value: string): Filter => ({ field: 'tags', operator: 'eq', value });
const oneOf = (...values: string[]): Filter => ({ field: 'tags', operator: 'in', values });
const beginning = (value: string): Filter => ({ field: 'tags', operator: 'prefix', value });
const existing = (field: string, value: boolean): Filter => ({ field, operator: 'exists', value });
const brand: Filter = { field: 'brand', operator: 'eq', value: 'b1' };
const behind: Filter = { field: 'id', operator: 'gt', value: 20 };

const has = ({ tags = [] }: Product, ...wanted: string[]) => wanted.some((one) => tags.includes(one));
const begins = ({ tags = [] }: Product, prefix: string) => tags.some((one) => one.startsWith(prefix));

const CASES: readonly Case[] = [
  ['tags=', [tag('common')], (fields) => has(fields, 'common')],
  ['tags= of a rare tag', [tag('rare')], (fields) => has(fields, 'rare')],
  ['tags= of no record', [tag('comm')], () => false],
  ['tags.in', [oneOf('odd', 'mod/1', 'rare')], (fields) => has(fields, 'odd', 'mod/1', 'rare')],
  ['tags.in with a value twice', [oneOf('even', 'even', 'none')], (fields) => has(fields, 'even')],
  ['tags.in of no value', [oneOf()], () => false],
  ['tags.in of many values', [oneOf(...manyTags())], (fields) => has(fields, 'odd')],
  ['tags.all', [tag('common'), tag('odd'), tag('mod/1')], allOf('common', 'odd', 'mod/1')],
  ['tags.all of one value twice', [tag('odd'), tag('odd')], allOf('odd')],
  ['tags.all that never meet', [tag('odd'), tag('even')], () => false],
  ['tags.prefix', [beginning('mod/')], (fields) => begins(fields, 'mod/')],
  ['tags.prefix of a whole tag', [beginning('mod/1')], (fields) => begins(fields, 'mod/1')],
  ['tags.prefix of every tag', [beginning('')], ({ tags }) => tags !== undefined],
  ['tags.prefix of no tag', [beginning('mod/9')], () => false],
  ['tags.prefix of very many tags', [beginning('own/')], (fields) => begins(fields, 'own/')],
  ['tags.exists=true', [existing('tags', true)], ({ tags }) => tags !== undefined],
  ['tags.exists=false', [existing('tags', false)], ({ tags }) => tags === undefined],
  ['images.exists=true', [existing('images', true)], ({ images }) => images !== undefined],
  ['url.exists=false', [existing('url', false)], ({ url }) => url === undefined],
  ['images.exists&url.exists', [existing('images', true), existing('url', true)], (_, id) => id % 14 === 0],
  [
    'tags=&status.exists=false',
    [tag('common'), existing('status', false)],
    (fields) => has(fields, 'common') && fields.status === undefined,
  ],
  [
    'tags=&status.in=live,draft',
    [tag('common'), { field: 'status', operator: 'inOrNone', values: ['draft'] }],
    (fields) => has(fields, 'common') && fields.status !== 'archived',
  ],
  [
    'status.in=live,archived',
    [{ field: 'status', operator: 'inOrNone', values: ['archived'] }],
    ({ status }) => status !== 'draft',
  ],
  ['tags=&brand=', [tag('even'), brand], (fields) => has(fields, 'even') && fields.brand === 'b1'],
  [
    'tags.in&brand=',
    [oneOf('even', 'mod/0'), brand],
    (fields) => has(fields, 'even', 'mod/0') && isB1(fields),
  ],
  [
    'tags.in&status.exists=false',
    [oneOf('mod/1', 'mod/2'), existing('status', false)],
    (fields) => has(fields, 'mod/1', 'mod/2') && fields.status === undefined,
  ],
  [
    'tags.prefix&tags=',
    [beginning('mod/'), tag('odd')],
    (fields) => has(fields, 'odd') && begins(fields, 'mod/'),
  ],
  [
    'tags.prefix&tags.prefix',
    [beginning('mod/2'), beginning('o')],
    (fields) => begins(fields, 'mod/2') && begins(fields, 'o'),
  ],
  [
    'tags.in&tags.in',
    [oneOf('odd', 'rare'), oneOf('mod/2', 'x')],
    (fields) => has(fields, 'mod/2') && has(fields, 'odd', 'rare'),
  ],
  ['tags=&id.gt', [tag('odd'), behind], (fields, id) => has(fields, 'odd') && id > 20],
  ['tags.in&id.gt', [oneOf('odd', 'mod/2'), behind], (fields, id) => has(fields, 'odd', 'mod/2') && id > 20],
  ['tags=&attributes', [tag('odd'), colour()], (fields) => has(fields, 'odd') && isRed(fields)],
  [
    'q&tags=',
    [searchFor('lam'), tag('odd')],
    (fields) => has(fields, 'odd') && fields.name.startsWith('lamp'),
  ],
  [
    'q&tags= of a rare tag',
    [searchFor('lam'), tag('rare')],
    (fields) => has(fields, 'rare') && fields.name.startsWith('lamp'),
  ],
  ['q of a tag', [searchFor('rare')], (fields) => has(fields, 'rare')],
  [
    'gtin= with another zero',
    [{ field: 'gtin', operator: 'eq', value: '0036000291452' }],
    ({ gtin }) => gtin === '036000291452',
  ],
  [
    'gtin.ne of 14 digits',
    [{ field: 'gtin', operator: 'ne', value: '00036000291452' }],
    ({ gtin }) => gtin === '96385074',
  ],
  [
    'gtin.in&brand=',
    [{ field: 'gtin', operator: 'in', values: ['00000096385074', '0036000291452'] }, brand],
    (fields) => isB1(fields),
  ],
  ['gtin.prefix', [{ field: 'gtin', operator: 'prefix', value: '00' }], () => false],
  ['gtin.gt', [{ field: 'gtin', operator: 'gt', value: '1' }], ({ gtin }) => gtin === '96385074'],
  [
    'brand.in',
    [{ field: 'brand', operator: 'in', values: ['b1', 'b2', 'x'] }],
    ({ brand = '' }) => /^b[12]$/.test(brand),
  ],
  [
    'brand.prefix',
    [{ field: 'brand', operator: 'prefix', value: 'b' }],
    (fields) => fields.brand !== undefined,
  ],
  ['stock.gte&stock.lt', [stock('gte', 2), stock('lt', 4)], ({ stock = 0 }) => stock === 2 || stock === 3],
];

function named(filters: readonly Filter[]): string {
  return filters.map(({ operator }) => operator).join(' and ');
}

function manyTags(): string[] {
  return ['odd', ...Array.from({ length: 150 }, (_, at) => `none ${at}`)];
}

function allOf(...wanted: string[]): (fields: Product) => boolean {
  return (fields) => wanted.every((one) => has(fields, one));
}

function colour(): Filter {
  return { field: 'attributes', operator: 'attribute', key: 'colour', value: 'red' };
}

function stock(operator: 'gte' | 'lt', value: number): Filter {
  return { field: 'stock', operator, value };
}

const isRed = ({ attributes }: Product) => attributes?.['colour'] === 'red';
const isB1 = ({ brand }: Product) => brand === 'b1';

/** Of every five records one has no tags. A record has up to three tags that begin with `mod/`. */
function tagged(id: Id): Versioned<Product> {
  const mod = `mod/${id % 3}`;
  const tags = [
    ...['common', id % 2 === 0 ? 'even' : 'odd', mod],
    ...(id % 4 === 0 ? [`${mod}/a`, `${mod}/b`] : []),
    ...(id % 37 === 0 ? ['rare'] : []),
    ...(id % 2 === 0 ? [`own/${id}`] : []),
  ];
  const record = product(id, {
    name: `${id % 3 === 0 ? 'lamp' : 'chair'} ${id % 4}`,
    ...(id % 4 === 1 && { attributes: { colour: 'red' } }),
    ...(id % 6 === 0 && { status: 'draft' }),
    ...(id % 5 !== 0 && { tags }),
    ...(id % 2 === 0 && { images: [{ url: 'https://example.com/1.jpg' }] }),
    ...(id % 7 === 0 && { url: `https://example.com/${id}` }),
    ...(id % 3 !== 0 && { brand: `b${id % 3}`, gtin: id % 3 === 1 ? '036000291452' : '96385074' }),
    stock: id % 6,
  });
  return { ...record, createdAt: AT + (id % 5), updatedAt: AT + id };
}

const SORTS = ['id', '-id', 'name,id', '-name,id', '-createdAt,-id'];

/** Tests filters of lists, and of fields of which only the presence counts. */
export function listContract(store: TestStore, hasLarge: boolean): void {
  const page = (list: Partial<ListQuery>) => store.products.list(query(list));
  const matching = (records: readonly Versioned<Product>[], [, , matches]: Case) =>
    records.filter(({ id, fields }) => matches(fields, id));

  /** Reads up to some pages from a position on, each from the edge of the one before. */
  const idsFrom = async (
    filters: readonly Filter[],
    order: SortOrder,
    limit: number,
    start: Position,
    maxPages: number,
  ): Promise<Id[]> => {
    const ids: Id[] = [];
    let from = start;
    for (let pages = 0; pages < maxPages; pages++) {
      const { records, hasMore } = await page({ filters, order, limit, from });
      ids.push(...idsOf(start.side === 'after' ? records : records.toReversed()));
      const edge = start.side === 'after' ? records.at(-1) : records[0];
      if (!hasMore || !edge) break;
      from = { side: start.side, inclusive: false, values: keysOf(edge, order) };
    }
    return ids;
  };

  describe('filters of lists and of presence', () => {
    describe('of a few records', () => {
      const all = Array.from({ length: FEW }, (_, i) => tagged(i + 1));
      store.filledOnce(() => store.addAll(all));

      for (const one of CASES) {
        const [name, filters] = one;
        it(`${name}: list and count what matches, in every order, in both directions`, async () => {
          const expected = matching(all, one);
          expect(await store.products.count(filters)).to.equal(expected.length);
          for (const sort of SORTS) {
            const order = by(sort);
            const ids = idsOf(sorted(expected, order));
            expect(await page({ filters, order }), sort).to.deep.equal({
              records: sorted(expected, order),
              hasMore: false,
            });
            for (const side of ['after', 'before'] as const) {
              const read = await idsFrom(filters, order, 4, outermostPosition(order, side), FEW);
              expect(read, `${sort} ${side}`).to.deep.equal(side === 'after' ? ids : ids.toReversed());
            }
          }
        });
      }
    });

    it('compare the texts of a list literally', async () => {
      const texts = [
        'a',
        'A',
        'a ',
        '%',
        '_',
        'a%',
        '*',
        '"',
        '"a"',
        '\\',
        '\\"',
        "'",
        '[',
        '{"a":1}',
        'é',
        'e\u0301',
        '日本',
        '😀',
        '\ue000',
        'null',
        '1',
        '\u2028',
      ];
      await store.addAll(texts.map((text, i) => product(i + 1, { tags: [text, `${text}!`, 'last'] })));
      const brief = existing('status', false);
      for (const text of [...texts, 'b', '', 'a"', 'e']) {
        const same = texts.flatMap((one, i) => (one === text ? [i + 1] : []));
        const begun = texts.flatMap((one, i) =>
          `${one}!`.startsWith(text) || 'last'.startsWith(text) ? [i + 1] : [],
        );
        // The second filter is no index's, so the first one is checked in another way too.
        for (const filters of [[], [brief], [tag('last')], [searchFor('last')]]) {
          expect(await store.ids({ filters: [tag(text), ...filters] }), text).to.deep.equal(same);
          expect(await store.ids({ filters: [oneOf(text), ...filters] }), text).to.deep.equal(same);
          expect(await store.ids({ filters: [beginning(text), ...filters] }), text).to.deep.equal(begun);
        }
      }
    });

    it('find the tags of the latest version, and no deleted record', async () => {
      const old = await store.add(1, { tags: ['kept', 'left', 'x'] });
      await store.add(2, { tags: ['kept', 'left'] });
      await store.products.replaceAll([{ record: next(old, { tags: ['new', 'kept'] }), expected: 1 }]);
      expect(await store.ids({ filters: [tag('kept')] })).to.deep.equal([1, 2]);
      expect(await store.ids({ filters: [tag('left')] })).to.deep.equal([2]);
      expect(await store.ids({ filters: [oneOf('new', 'x')] })).to.deep.equal([1]);
      expect(await store.ids({ filters: [beginning('ne')] })).to.deep.equal([1]);
      await store.products.replaceAll([{ record: next(next(old, {}), {}), expected: 2 }]);
      expect(await store.ids({ filters: [tag('kept')] })).to.deep.equal([2]);
      expect(await store.ids({ filters: [existing('tags', false)] })).to.deep.equal([1]);
      expect(await store.products.removeAll([{ id: 2, expected: 1, at: AT }])).to.deep.equal([true]);
      for (const filter of [tag('kept'), oneOf('kept', 'left'), beginning('')]) {
        expect(await store.ids({ filters: [filter] })).to.deep.equal([]);
        expect(await store.products.count([filter])).to.equal(0);
      }
    });

    it('keep the tags of a record whose write is refused', async () => {
      const old = await store.add(1, { tags: ['a'], sku: 's1' });
      await store.add(2, { tags: ['b'], sku: 's2' });
      expect(
        await store.products.replaceAll([{ record: next(old, { tags: ['c'] }), expected: 7 }]),
      ).to.deep.equal(['version_conflict']);
      expect(await store.products.removeAll([{ id: 1, expected: 7, at: AT }])).to.deep.equal([false]);
      expect(await store.products.insertAll([product(1, { tags: ['c'] })])).to.deep.equal(['id_conflict']);
      const outcomes = await store.products.replaceAll([
        { record: next(old, { tags: ['c'], sku: 's2' }), expected: 1 },
      ]);
      expect(outcomes[0]).to.be.instanceOf(Error);
      expect(await store.ids({ filters: [tag('a')] })).to.deep.equal([1]);
      expect(await store.ids({ filters: [tag('c')] })).to.deep.equal([]);
    });

    it('continue at the position of a record that lost its tags, or was deleted', async () => {
      await store.addAll(Array.from({ length: 9 }, (_, i) => product(i + 1, { tags: ['x', 'y'] })));
      for (const filters of [[tag('x')], [oneOf('x', 'y')], [beginning('')], [tag('x'), tag('y')]])
        expect(await store.ids({ filters, limit: 4 })).to.deep.equal([1, 2, 3, 4]);
      await store.products.replaceAll([{ record: next(product(4), {}), expected: 1 }]);
      await store.products.removeAll([{ id: 5, expected: 1, at: AT }]);
      for (const filters of [[tag('x')], [oneOf('x', 'y')], [beginning('')], [tag('x'), tag('y')]]) {
        expect(await store.ids({ filters, from: at('after', 4) })).to.deep.equal([6, 7, 8, 9]);
        expect(await store.ids({ filters, from: at('before', 5) })).to.deep.equal([1, 2, 3]);
      }
    });

    for (const filters of [
      [tag('common')],
      [oneOf('even', 'mod/1')],
      [beginning('mod/')],
      [tag('common'), tag('even')],
    ])
      it(`show each record that keeps its tags exactly once while others write: ${named(filters)}`, async () => {
        const isSteady = (id: Id) => id % 4 !== 0;
        const all = Array.from({ length: 60 }, (_, i) => tagged(2 + 2 * i));
        const [steady, leaving] = [isSteady, (id: Id) => !isSteady(id)].map((isOne) =>
          all.filter(({ id }) => isOne(id)),
        ) as [Versioned<Product>[], Versioned<Product>[]];
        await store.addAll(all);
        const writeConcurrently = async (round: number) => {
          const edited = await store.products.find(steady[(round * 7) % steady.length]?.id ?? 0);
          if (!edited) throw new Error('A steady record is missing.');
          const { version, fields } = edited;
          const tags = [`new/${round}`, ...(fields.tags ?? [])];
          await Promise.all([
            store.products.insertAll([tagged(2 * round + 1)]),
            store.products.removeAll([
              { id: leaving[(round * 11) % leaving.length]?.id ?? 0, expected: 1, at: AT },
            ]),
            fields.tags &&
              store.products.replaceAll([
                {
                  record: { ...edited, version: version + 1, fields: { ...fields, tags } },
                  expected: version,
                },
              ]),
          ]);
        };
        const seen: Id[] = [];
        let from = outermostPosition(by('id'), 'after');
        for (let round = 0; ; round++) {
          const [{ records, hasMore }] = await Promise.all([
            page({ filters, limit: 4, from }),
            writeConcurrently(round),
          ]);
          seen.push(...idsOf(records));
          const last = records.at(-1);
          if (!last || !hasMore) break;
          from = at('after', last.id);
        }
        const expected = steady.filter(({ fields }) => fields.tags);
        expect(seen.filter((id) => id % 2 === 0 && isSteady(id))).to.deep.equal(idsOf(expected));
        expect(new Set(seen)).to.have.length(seen.length);
      });

    if (hasLarge)
      it('list and count what matches among many records, from any position', async () => {
        const all = Array.from({ length: MANY }, (_, i) => tagged(i + 1));
        await store.addAll(all);
        const lists = ['id', '-id', 'name,id', '-createdAt,-id'].flatMap((sort) => {
          const order = by(sort);
          const inOrder = sorted(all, order);
          return [all[MANY - 300], all[299]].flatMap((start) => {
            const at = inOrder.indexOf(start as Versioned<Product>);
            const values = keysOf(start as Versioned<Product>, order);
            return (['after', 'before'] as const).map((side) => ({
              ...{ sort, order, from: { side, inclusive: true, values } },
              rest: side === 'after' ? inOrder.slice(at) : inOrder.slice(0, at + 1).toReversed(),
            }));
          });
        });
        for (const [number, one] of CASES.entries()) {
          const [name, filters] = one;
          // In the gate a case has one start, and the next case the other.
          const some = lists.filter((_, place) => AT_NIGHT || (number + (place >> 1)) % 2 === 0);
          expect(await store.products.count(filters), name).to.equal(matching(all, one).length);
          for (const { sort, order, from, rest } of some) {
            const read = await idsFrom(filters, order, 150, from, 2);
            const expected = idsOf(matching(rest, one)).slice(0, 300);
            expect(read, `${name} ${sort} ${from.side}`).to.deep.equal(expected);
          }
        }
      });
  });
}
