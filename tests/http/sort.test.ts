import { expect } from 'chai';
import { issueLocations } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { linksOf } from '../support/links.js';

describe('sort', () => {
  const service = inProcessService();
  const request = () => service.client;
  const NAMES = ['b', 'a', '\u{1f600}', 'B', '\uffee', 'a', 'é', 'ab', 'a b', 'z', 'a', '"', '\\'];
  const ascending = ['"', 'B', '\\', 'a', 'a', 'a', 'a b', 'ab', 'b', 'z', 'é', '\uffee', '\u{1f600}'];

  async function all(query: string): Promise<{ id: number; name: string }[]> {
    const found: { id: number; name: string }[] = [];
    for (let next: string | undefined = `/products?${query}`; next !== undefined; ) {
      const response = await request().get(next);
      expect(response.status, response.text).to.equal(200);
      found.push(...response.json);
      next = linksOf(response.headers['link'])['next'];
    }
    return found;
  }
  const namesOf = (records: { name: string }[]) => records.map(({ name }) => name);
  const idsOf = (records: { id: number }[]) => records.map(({ id }) => id);

  before(async () => {
    for (const name of NAMES) await request().post('/products', { name });
  });

  for (const limit of [1, 2, 5, 100]) {
    it(`orders text by code point, ties by id, in pages of ${limit}`, async () => {
      const found = await all(`sort=name&limit=${limit}`);
      expect(namesOf(found)).to.deep.equal(ascending);
      expect(idsOf(found.filter(({ name }) => name === 'a'))).to.deep.equal([2, 6, 11]);
    });

    it(`reverses an order, with ties by ascending id by default, in pages of ${limit}`, async () => {
      const idsOfTies = async (sort: string) => {
        const found = await all(`sort=${sort}&limit=${limit}`);
        expect(namesOf(found)).to.deep.equal([...ascending].reverse());
        return idsOf(found.filter(({ name }) => name === 'a'));
      };
      expect(await idsOfTies('-name')).to.deep.equal([2, 6, 11]);
      expect(await idsOfTies('-name,id')).to.deep.equal([2, 6, 11]);
      expect(await idsOfTies('-name,-id')).to.deep.equal([11, 6, 2]);
    });
  }

  it('orders by id, by time and by several keys', async () => {
    const ids = NAMES.map((_, i) => i + 1);
    for (const [sort, expected] of [
      ['id', ids],
      ['-id', [...ids].reverse()],
      ['-id,name', [...ids].reverse()],
      ['createdAt,id', ids],
      ['-createdAt,-id', [...ids].reverse()],
    ] as const) {
      expect(idsOf(await all(`sort=${sort}&limit=4`)), sort).to.deep.equal(expected);
    }
    await request().patch('/products/1', { description: 'changed last' });
    expect(idsOf(await all('sort=-updatedAt,id')).at(0)).to.equal(1);
  });

  it('returns the same pages when following prev', async () => {
    const pages: string[] = [];
    let links: Record<string, string> = { next: '/products?sort=-name,-id&limit=3' };
    for (let next = links['next']; next !== undefined; next = links['next']) {
      const response = await request().get(next);
      links = linksOf(response.headers['link']);
      pages.push(response.text);
    }
    const back: string[] = [pages.at(-1) ?? ''];
    for (let prev = links['prev']; prev !== undefined; prev = links['prev']) {
      const response = await request().get(prev);
      links = linksOf(response.headers['link']);
      back.unshift(response.text);
    }
    expect(back).to.deep.equal(pages);
  });

  const REJECTED: [string, string[]][] = [
    ['', ['too_short']],
    [',', ['too_short', 'duplicate_value']],
    ['name,', ['too_short']],
    ['description', ['unknown_field']],
    ['price', ['unknown_field']],
    ['tags', ['unknown_field']],
    ['images', ['unknown_field']],
    ['url', ['unknown_field']],
    ['attributes[a]', ['unknown_field']],
    ['attributes', ['unknown_field']],
    ['attributes.a', ['unknown_field']],
    ['version', ['unknown_field']],
    ['Name', ['unknown_field']],
    ['%2Bname', ['unknown_field']],
    ['+name', ['unknown_field']],
    ['name,%20id', ['unknown_field']],
    ['--name', ['unknown_field']],
    ['-', ['too_short']],
    ['name:desc', ['unknown_field']],
    ['sku,tags', ['unknown_field']],
    ['name%00', ['unknown_field']],
    ['__proto__', ['unknown_field']],
    ['-__proto__', ['unknown_field']],
    ['constructor', ['unknown_field']],
    ['name,name', ['duplicate_value']],
    ['name,-name', ['duplicate_value']],
    ['id,id', ['duplicate_value']],
    ['email', ['unknown_field']],
    ['x'.repeat(8_000), ['unknown_field']],
    ['a,'.repeat(4_000), ['too_short', 'unknown_field', 'duplicate_value']],
  ];
  for (const [sort, codes] of REJECTED) {
    it(`rejects ${sort.slice(0, 40) || 'an empty value'}`, async () => {
      const response = await request().get(`/products?sort=${sort}`);
      expect([response.status, response.json.code]).to.deep.equal([400, 'invalid_parameter']);
      expect(issueLocations(response)).to.deep.equal(codes.map((code) => [code, 'sort']));
      expect(response.text.length, 'the length of the response').to.be.lessThan(2_000);
    });
  }
});

describe('sort by a field that some products lack', () => {
  const service = inProcessService();
  const get = (path: string, headers: Record<string, string> = {}) => service.client.get(path, { headers });
  const idsIn = (records: { id: number }[]) => records.map(({ id }) => id);

  /** Their ids are their places here, from 1. */
  const PRODUCTS = [
    { name: 'a', stock: 5, brand: 'B', price: { amount: 2, currency: 'EUR' } },
    { name: 'b' },
    { name: 'c', stock: 5, brand: 'b', price: { amount: 2, currency: 'CHF' } },
    { name: 'd', stock: 0 },
    { name: 'e', brand: 'B', status: 'draft' },
    { name: 'f', stock: 7, price: { amount: 1, currency: 'EUR' } },
    { name: 'a', status: 'archived' },
  ];
  const ORDERS: [string, number[]][] = [
    ['stock', [4, 1, 3, 6, 2, 5, 7]],
    ['-stock', [6, 1, 3, 4, 2, 5, 7]],
    ['-stock,-id', [6, 3, 1, 4, 7, 5, 2]],
    ['stock,-brand', [4, 3, 1, 6, 5, 2, 7]],
    ['price.amount,price.currency', [6, 3, 1, 2, 4, 5, 7]],
    ['-price.currency', [1, 6, 3, 2, 4, 5, 7]],
    ['brand,-stock', [1, 5, 3, 6, 4, 2, 7]],
    ['status,name', [7, 5, 1, 2, 3, 4, 6]],
    ['name,stock', [1, 7, 2, 3, 4, 5, 6]],
    ['gtin,-id', [7, 6, 5, 4, 3, 2, 1]],
  ];

  before(async () => {
    for (const product of PRODUCTS) await service.client.post('/v1/products', product);
  });

  for (const [sort, expected] of ORDERS)
    it(`puts these last, in pages, backwards, streams and counts: ${sort}`, async () => {
      for (const limit of [1, 2, 3, 4, 100]) {
        let links: Record<string, string> = { next: `/v1/products?sort=${sort}&limit=${limit}` };
        const pages: string[] = [];
        const seen: { id: number }[] = [];
        while (links['next'] !== undefined) {
          const { json, headers, text } = await get(links['next'], { Prefer: 'count=exact' });
          expect(headers['x-total-count'], text).to.equal('7');
          links = linksOf(headers['link']);
          pages.push(text);
          seen.push(...json);
        }
        expect(idsIn(seen), `by ${limit}`).to.deep.equal(expected);
        const back = pages.slice(-1);
        while (links['prev'] !== undefined) {
          const { headers, text } = await get(links['prev']);
          links = linksOf(headers['link']);
          back.unshift(text);
        }
        expect(back, `backwards by ${limit}`).to.deep.equal(pages);
      }
      const lines = (await get(`/products?sort=${sort}&fields=id`, { Accept: 'application/x-ndjson' })).text;
      expect(lines).to.equal(expected.map((id) => `{"id":${id}}\n`).join(''));
      const rows = (await get(`/products?sort=${sort}&fields=id`, { Accept: 'text/csv' })).text;
      expect(rows).to.equal(['id', ...expected, ''].join('\r\n'));
    });

  it('goes on in a stream at a cursor among the last', async () => {
    const { headers } = await get('/v1/products?sort=-stock&limit=5');
    const next = linksOf(headers['link'])['next'] ?? '';
    const rest = await get(next.replace('limit=5&', ''), { Accept: 'application/x-ndjson' });
    expect(rest.text.split('\n').map((line) => line && JSON.parse(line).id)).to.deep.equal([5, 7, '']);
  });

  it('shows each record once that moves to the last while a client reads', async () => {
    const { id } = (await service.client.post('/v1/products', { name: 'moves', stock: 9 })).json;
    const first = await get('/v1/products?sort=-stock&limit=3');
    expect(idsIn(first.json)).to.deep.equal([id, 6, 1]);
    await service.client.patch('/v1/products/6', { stock: null });
    const rest = await get(linksOf(first.headers['link'])['next'] ?? '');
    expect(idsIn(rest.json)).to.deep.equal([3, 4, 2]);
    await service.client.patch('/v1/products/6', { stock: 7 });
    await service.client.delete(`/v1/products/${id}`);
  });

  it('combines with filters on the field', async () => {
    for (const [query, expected] of [
      ['sort=-stock&stock.exists=false', [2, 5, 7]],
      ['sort=-stock,-name&stock.exists=true', [6, 3, 1, 4]],
      ['sort=stock&stock.lte=5&limit=2', [4, 1]],
      ['sort=-brand&brand.in=B,b', [3, 1, 5]],
      ['sort=status&status.exists=false&limit=3', [1, 2, 3]],
      ['sort=stock&stock=99', []],
    ] as const)
      expect(idsIn((await get(`/v1/products?${query}`)).json), query).to.deep.equal(expected);
  });

  it('works for the optional fields of API keys', async () => {
    const { key, id } = (await service.client.post('/v1/api-keys', { name: 'maker', scopes: ['keys:admin'] }))
      .json;
    const made = await service.client.post(
      '/v1/api-keys',
      { name: 'made', scopes: ['keys:admin'] },
      { token: key },
    );
    const byMaker = async (sort: string) =>
      (await get(`/v1/api-keys?sort=${sort}`)).json.map(
        ({ createdBy = 0 }: { createdBy?: number }) => createdBy,
      );
    const makers = await byMaker('createdBy');
    expect(makers).to.deep.equal(
      [...makers]
        .filter(Boolean)
        .sort((a, b) => a - b)
        .concat(0),
    );
    expect((await byMaker('-createdBy')).slice(-2)).to.deep.equal([1, 0]);
    expect(made.json.createdBy).to.equal(id);
  });
});
