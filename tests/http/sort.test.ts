import { expect } from 'chai';
import { expectIssues } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { linksOf } from '../support/links.js';

// The query property has the orders themselves, on every store.
describe('sort', () => {
  const service = inProcessService();
  const get = (path: string, headers: Record<string, string> = {}) => service.get(path, { headers });
  const idsIn = (records: { id: number }[]) => records.map(({ id }) => id);

  /** Their ids are their places here, from 1. */
  const PRODUCTS = [
    { name: 'a', stock: 5, brand: 'B', price: { amount: 2, currency: 'EUR' } },
    { name: 'b' },
    { name: '\u{1f600}', stock: 5, brand: 'b', price: { amount: 2, currency: 'CHF' } },
    { name: '\uffee', stock: 0 },
    { name: 'B', brand: 'B', status: 'draft' },
    { name: 'a b', stock: 7, price: { amount: 1, currency: 'EUR' } },
    { name: 'a', status: 'archived' },
  ];
  const ORDERS: [sort: string, ids: number[]][] = [
    ['-id', [7, 6, 5, 4, 3, 2, 1]],
    ['name', [5, 1, 7, 6, 2, 4, 3]],
    ['-name,-id', [3, 4, 2, 6, 7, 1, 5]],
    ['-stock', [6, 1, 3, 4, 2, 5, 7]],
    ['stock,-brand', [4, 3, 1, 6, 5, 2, 7]],
    ['price.amount,price.currency', [6, 3, 1, 2, 4, 5, 7]],
    ['status,name', [7, 5, 1, 6, 2, 4, 3]],
  ];

  before(async () => {
    for (const product of PRODUCTS) await service.post('/v1/products', product);
  });

  for (const [sort, expected] of ORDERS)
    it(`is that of pages in both directions, and of streams: ${sort}`, async () => {
      for (const limit of [2, 3]) {
        let links: Record<string, string> = { next: `/v1/products?sort=${sort}&limit=${limit}` };
        const pages: string[] = [];
        const seen: { id: number }[] = [];
        while (links['next'] !== undefined) {
          const { json, headers, text } = await get(links['next']);
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

  it('goes on in a stream at a cursor among the records without a value', async () => {
    const { headers } = await get('/v1/products?sort=-stock&limit=5');
    const next = linksOf(headers['link'])['next'] ?? '';
    const rest = await get(next.replace('limit=5&', ''), { Accept: 'application/x-ndjson' });
    expect(rest.text.split('\n').map((line) => line && JSON.parse(line).id)).to.deep.equal([5, 7, '']);
  });

  it('shows each record once that loses its value while a client reads', async () => {
    const { id } = (await service.post('/v1/products', { name: 'moves', stock: 9 })).json;
    const first = await get('/v1/products?sort=-stock&limit=3');
    expect(idsIn(first.json)).to.deep.equal([id, 6, 1]);
    await service.patch('/v1/products/6', { stock: null });
    const rest = await get(linksOf(first.headers['link'])['next'] ?? '');
    expect(idsIn(rest.json)).to.deep.equal([3, 4, 2]);
    await service.patch('/v1/products/6', { stock: 7 });
    await service.delete(`/v1/products/${id}`);
  });

  it('works for the optional fields of API keys', async () => {
    const body = { name: 'maker', scopes: ['keys:admin'] };
    const { key, id } = (await service.post('/v1/api-keys', body)).json;
    expect((await service.post('/v1/api-keys', body, { token: key })).json.createdBy).to.equal(id);
    const makers = async (sort: string) =>
      (await get(`/v1/api-keys?sort=${sort}`)).json.map((made: { createdBy?: number }) => made.createdBy);
    expect(await makers('createdBy')).to.deep.equal([1, id, undefined]);
    expect(await makers('-createdBy')).to.deep.equal([id, 1, undefined]);
  });

  it('is refused by fields that there are not, or that have no order, and by a field twice', async () => {
    for (const [sort, ...codes] of [
      ['', 'too_short'],
      [',', 'too_short', 'duplicate_value'],
      ['name,', 'too_short'],
      ['-', 'too_short'],
      ...['description', 'price', 'tags', '-tags', 'images', 'url', 'images.url', 'attributes', 'attributes[a]'],
      ...['attributes.a', 'version', 'Name', 'email', '+name', '%2Bname', 'name,%20id', '--name', 'name:desc'],
      ...['sku,tags', 'name%00', '__proto__', '-__proto__', 'constructor', 'x'.repeat(8_000)],
      ['name,name', 'duplicate_value'],
      ['name,-name', 'duplicate_value'],
      ['id,id', 'duplicate_value'],
      ['a,'.repeat(4_000), 'too_short', 'unknown_field', 'duplicate_value'],
    ].map((one) => (typeof one === 'string' ? [one, 'unknown_field'] : one))) {
      const response = await get(`/products?sort=${sort}`);
      const issues = codes.map((code) => `${code} sort`);
      await expectIssues(response, 'invalid_parameter', issues, sort);
      expect(response.text.length, 'the length of the response').to.be.lessThan(2_000);
    }
  });
});
