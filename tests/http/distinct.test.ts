import { expect } from 'chai';
import { HTTP_STORE_NAMES } from '../stores/index.js';
import { refusalOf } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { cursorIn, linksOf } from '../support/links.js';

const PRODUCTS = '/v1/products';
const CARDS = 'distinct=group';

/** Of group A, B and C, and without one; the order of prices is another than that of ids. */
const SAMPLES = [
  { name: 'a1', group: 'A', price: 30, tags: ['t'], brand: 'x', status: 'draft' },
  { name: 'b1', group: 'B', price: 10, tags: ['t', 'u'], brand: 'x' },
  { name: 'a2', group: 'A', price: 20, tags: ['t'], brand: 'y' },
  { name: 'n1', price: 25, tags: ['u'], brand: 'y' },
  { name: 'a3', group: 'A', price: 5, tags: ['u'], brand: 'x' },
  { name: 'b2', group: 'B', brand: 'y' },
  { name: 'n2', tags: ['t'], brand: 'x' },
  { name: 'c1', group: 'C', price: 40, tags: ['u'], brand: 'y' },
];
const body = ({ price, ...fields }: { price?: number }) =>
  price === undefined ? fields : { ...fields, price: { amount: price, currency: 'EUR' } };

for (const store of HTTP_STORE_NAMES)
  describe(`lists of one product a group, on ${store}`, () => {
    const service = inProcessService({ STORE: store, PUBLIC_READ: 'products' });
    const get = (path: string, headers: Record<string, string> = {}) => service.get(path, { headers });
    const page = async (path: string) => {
      const { status, json, text, headers } = await get(path);
      expect(status, text).to.equal(200);
      return { names: json.map(({ name }: { name: string }) => name), links: linksOf(headers['link']) };
    };
    const names = async (query: string) => (await page(`${PRODUCTS}?${CARDS}&${query}`)).names;
    /** The names on each page, from a path on. */
    const follow = async (path: string, rel: 'next' | 'prev') => {
      const pages: string[][] = [];
      let last = path;
      for (let target: string | undefined = path; target !== undefined; ) {
        const { names, links } = await page(target);
        pages.push(names);
        last = target;
        target = links[rel];
      }
      return { pages, last };
    };

    before(async () => {
      for (const sample of SAMPLES) expect((await service.post(PRODUCTS, body(sample))).status).to.equal(201);
    });

    it('show the first that matches of each group in their order, and each product without a group', async () => {
      for (const [query, expected] of [
        ['', ['a1', 'b1', 'n1', 'n2', 'c1']],
        ['sort=-id', ['c1', 'n2', 'b2', 'a3', 'n1']],
        ['sort=price.amount', ['a3', 'b1', 'n1', 'c1', 'n2']],
        ['sort=-price.amount', ['c1', 'a1', 'n1', 'b1', 'n2']],
        ['sort=group', ['a1', 'b1', 'c1', 'n1', 'n2']],
        ['price.amount.exists=false', ['b2', 'n2']],
        ['tags=u&sort=price.amount', ['a3', 'b1', 'n1', 'c1']],
        ['group=A&sort=-name', ['a3']],
        ['q=a&sort=price.amount', ['a3']],
        ['status=live', ['b1', 'a2', 'n1', 'n2', 'c1']],
        ['attributes[none]=1', []],
      ] as const)
        expect(await names(query), query).to.deep.equal(expected);
    });

    it('show each card once, page by page in both directions, and the same to an export', async () => {
      for (const sort of ['id', '-id', 'price.amount', '-price.amount', 'name', 'group,-id']) {
        const path = `${PRODUCTS}?${CARDS}&sort=${sort}`;
        const whole = (await page(path)).names;
        const { pages, last } = await follow(`${path}&limit=1`, 'next');
        expect(pages.flat(), sort).to.deep.equal(whole);
        expect(pages.map(({ length }) => length)).to.deep.equal(whole.map(() => 1));
        expect((await follow(last, 'prev')).pages.toReversed().flat(), `${sort} backwards`).to.deep.equal(whole);
        const lines = (await get(path, { Accept: 'application/x-ndjson' })).text.trimEnd().split('\n');
        expect(lines.map((line) => JSON.parse(line).name)).to.deep.equal(whole);
      }
    });

    it('go on with each group that nobody changed, whatever is written between two pages', async () => {
      const first = await page(`${PRODUCTS}?${CARDS}&sort=price.amount&limit=2`);
      expect(first.names).to.deep.equal(['a3', 'b1']);
      await service.delete(`${PRODUCTS}/5`);
      await service.patch(`${PRODUCTS}/4`, { group: 'D' });
      const added = await service.post(PRODUCTS, body({ ...SAMPLES[4], price: 39 }));
      const next = await page(first.links['next'] ?? '');
      // Group A has lost the card of the first page, and shows another one.
      expect(next.names).to.deep.equal(['a2', 'n1']);
      expect((await page(next.links['prev'] ?? '')).names).to.deep.equal(['b1']);
      await service.delete(`${PRODUCTS}/${added.json.id}`);
      await service.patch(`${PRODUCTS}/4`, { group: null });
      const again = await service.post(PRODUCTS, body(SAMPLES[4] ?? {}));
      expect(again.status).to.equal(201);
    });

    it('are counted by cards, and say how many products a card stands for', async () => {
      const count = { Prefer: 'count=exact' };
      for (const [query, expected] of [
        ['', '5'],
        ['tags=t', '3'],
        ['brand=x&tags=t', '3'],
        ['group.exists=false', '2'],
      ])
        expect((await get(`${PRODUCTS}?${CARDS}&limit=1&${query}`, count)).headers['x-total-count'], query).to.equal(
          expected,
        );
      const query = `${CARDS}&sort=price.amount&fields=name,variants`;
      const cards = Object.entries({ a3: 3, b1: 2, n1: 1, c1: 1, n2: 1 });
      expect((await get(`${PRODUCTS}?${query}`)).json).to.deep.equal(
        cards.map(([name, variants]) => ({ name, variants })),
      );
      expect((await get(`${PRODUCTS}?${query}&tags=t`)).json).to.deep.equal([
        { name: 'b1', variants: 1 },
        { name: 'a2', variants: 2 },
        { name: 'n2', variants: 1 },
      ]);
      expect((await get(`${PRODUCTS}?${query}`, { Accept: 'text/csv' })).text).to.equal(
        ['name,variants', ...cards, ''].join('\r\n'),
      );
    });

    it('have facets that count cards: a group once under each value of its matching variants', async () => {
      const facets = async (query: string) =>
        (await get(`${PRODUCTS}/facets?${CARDS}&${query}`)).json.map(
          ({ values }: { values: { value: string; count: number }[] }) =>
            values.map(({ value, count }) => `${value} ${count}`).join(', '),
        );
      expect(await facets('fields=tags,brand,group')).to.deep.equal(['u 4, t 3', 'y 4, x 3', 'A 1, B 1, C 1']);
      expect(await facets('fields=tags,brand&tags=t')).to.deep.equal(['u 4, t 3', 'x 3, y 1']);
      expect(await facets('fields=tags,status&brand=x')).to.deep.equal(['t 3, u 2', 'draft 1']);
      const links = linksOf((await get(`${PRODUCTS}/facets?${CARDS}&fields=tags&limit=1`)).headers['link']);
      expect((await get(links['next'] ?? '')).json[0].values).to.deep.equal([{ value: 't', count: 3 }]);
      const mixed = await get(`${PRODUCTS}/facets?fields=tags&limit=1&cursor=${cursorIn(links['next'])}`);
      expect([mixed.status, mixed.json.code]).to.deep.equal([400, 'cursor_mismatch']);
    });

    it('show to the public what it may see', async () => {
      const names = async (query: string) =>
        (await service.get(`${PRODUCTS}?${CARDS}&${query}`, { token: null })).json.map(
          ({ name }: { name: string }) => name,
        );
      expect(await names('')).to.deep.equal(['b1', 'a2', 'n1', 'n2', 'c1']);
      expect(await names('sort=-price.amount')).to.deep.equal(['c1', 'n1', 'a2', 'b1', 'n2']);
    });

    it('are refused in any other form', async () => {
      for (const [path, code, name] of [
        [`${PRODUCTS}?distinct=brand`, 'invalid_parameter', 'unknown_field distinct'],
        [`${PRODUCTS}?distinct=`, 'invalid_parameter', 'unknown_field distinct'],
        [`${PRODUCTS}?distinct=group,group`, 'invalid_parameter', 'unknown_field distinct'],
        [`${PRODUCTS}?distinct=group&distinct=group`, 'invalid_parameter', 'duplicate_value distinct'],
        ['/v1/users?distinct=group', 'invalid_parameter', 'unknown_field distinct'],
        ['/v1/orders?distinct=group', 'invalid_parameter', 'unknown_field distinct'],
        [`${PRODUCTS}/facets?fields=brand&distinct=brand`, 'invalid_parameter', 'unknown_field distinct'],
        [`${PRODUCTS}?fields=variants`, 'invalid_parameter', 'unknown_field fields'],
        [`${PRODUCTS}?fields=id,variants&limit=2`, 'invalid_parameter', 'unknown_field fields'],
        [`${PRODUCTS}/1?fields=variants`, 'invalid_parameter', 'unknown_field fields'],
        [`${PRODUCTS}/changes?fields=variants`, 'invalid_parameter', 'unknown_field fields'],
        [`${PRODUCTS}/facets?fields=variants&${CARDS}`, 'invalid_parameter', 'unknown_field fields'],
        [`${PRODUCTS}/1?${CARDS}`, 'unknown_parameter', 'unknown_parameter distinct'],
      ])
        expect(refusalOf(await get(`${path}`)), path).to.deep.equal([400, code, name]);
      const csv = await get(`${PRODUCTS}?fields=variants`, { Accept: 'text/csv' });
      expect([csv.status, csv.json.code]).to.deep.equal([400, 'invalid_parameter']);
      for (const [from, to] of [
        [CARDS, ''],
        ['', CARDS],
      ]) {
        const { links } = await page(`${PRODUCTS}?${from}&limit=1`);
        const response = await get(`${PRODUCTS}?${to}&limit=1&cursor=${cursorIn(links['next'])}`);
        expect([response.status, response.json.code]).to.deep.equal([400, 'cursor_mismatch']);
      }
    });
  });
