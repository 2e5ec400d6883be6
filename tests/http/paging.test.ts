import { expect } from 'chai';
import type { HttpClient } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { linksOf } from '../support/links.js';

type Links = Record<string, string>;

/** The links of a page, but for the one that is the same on all of them. */
function pageLinks(header: unknown): Links {
  const { monitor: _, ...links } = linksOf(header);
  return links;
}

async function page(client: HttpClient, path: string): Promise<{ ids: number[]; links: Links }> {
  const response = await client.get(path);
  expect(response.status, response.text).to.equal(200);
  return { ids: response.json.map(({ id }: { id: number }) => id), links: pageLinks(response.headers['link']) };
}

/** @returns the ids of all pages, from a path on */
async function follow(client: HttpClient, path: string): Promise<number[]> {
  const all: number[] = [];
  for (let target: string | undefined = path; target !== undefined; ) {
    const { ids, links } = await page(client, target);
    all.push(...ids);
    target = links['next'];
  }
  return all;
}

describe('paging', () => {
  const service = inProcessService();
  let all: number[];

  before(async () => {
    for (let i = 0; i < 250; i++) await service.post('/products', { name: `product ${i}` });
    all = Array.from({ length: 250 }, (_, i) => i + 1);
  });

  it('returns an array of 100 records, and links with the same base path', async () => {
    for (const base of ['/v1/products', '/products']) {
      const { ids, links } = await page(service.client, base);
      expect(ids).to.deep.equal(all.slice(0, 100));
      expect(Object.keys(links)).to.deep.equal(['first', 'next']);
      expect(links['first']).to.equal(`${base}?limit=100`);
      expect(links['next']).to.match(new RegExp(`^${base}\\?limit=100&cursor=[\\w-]+$`));
    }
  });

  it('accepts a limit from 1 to 1000', async () => {
    expect((await page(service.client, '/products?limit=1')).ids).to.deep.equal([1]);
    expect((await page(service.client, '/products?limit=1000')).ids).to.deep.equal(all);
    const whole = await page(service.client, '/products?limit=250');
    expect(Object.keys(whole.links), 'a full last page').to.deep.equal(['first']);
  });

  it('lets the limit and the form of the path change while a cursor is followed', async () => {
    const { links } = await page(service.client, '/products?limit=10');
    const next = links['next']?.replace('limit=10', 'limit=1000').replace('/products', '/v1/products');
    expect((await page(service.client, `${next}`)).ids).to.deep.equal(all.slice(10));
  });

  it('keeps filters, sort and fields in every link, encoded without loss', async () => {
    const query = 'name.prefix=p&name.ne=%C3%A9%26%3D%2B%25%20%2C%22%3C%3E&attributes.a%20b=&sort=-name&fields=id,name';
    const first = pageLinks((await service.get(`/v1/products?limit=2&${query}`)).headers['link']);
    expect(Object.keys(first)).to.deep.equal(['first']);
    const target = `/v1/products?${query.replace('id,name', 'id%2Cname')}&limit=2`;
    expect(first['first']).to.equal(target);

    const sorted = '/products?fields=id,name&name.prefix=product+1&sort=-name,id&id.gt=5&limit=7';
    const { links } = await page(service.client, sorted);
    expect(links['first']).to.equal(
      '/products?fields=id%2Cname&name.prefix=product%201&sort=-name%2Cid&id.gt=5&limit=7',
    );
    expect(links['next']).to.match(new RegExp(`^${links['first']?.replaceAll('?', '\\?')}&cursor=[\\w-]+$`));
    const found = await follow(service.client, sorted);
    const expected = all
      .filter((id) => id > 5 && String(id - 1).startsWith('1'))
      .sort((a, b) => (`${a - 1}` < `${b - 1}` ? 1 : -1));
    expect(found).to.deep.equal(expected);
  });

  it('is private in caches, and supports HEAD', async () => {
    const got = await service.get('/products?limit=2');
    expect(got.headers['cache-control']).to.equal('private, no-cache');
    const head = await service.request('HEAD', '/products?limit=2');
    expect([head.status, head.text, head.headers['link']]).to.deep.equal([200, '', got.headers['link']]);
    expect(head.headers['content-length']).to.equal(got.headers['content-length']);
    expect(head.headers['etag']).to.equal(got.headers['etag']);
  });

  it('lists the relevant request headers in Vary', async () => {
    for (const [path, vary] of [
      ['/products', 'API-Version, Accept, Prefer, Accept-Encoding'],
      ['/v1/products', 'Accept, Prefer, Accept-Encoding'],
    ] as const) {
      for (const Accept of ['*/*', 'application/x-ndjson'])
        expect((await service.get(path, { headers: { Accept } })).headers['vary']).to.equal(vary);
      for (const [query, token, status] of [
        ['?limit=0', undefined, 400],
        ['', null, 401],
      ] as const) {
        const refused = await service.get(path + query, token === null ? { token } : {});
        expect([refused.status, refused.headers['vary']]).to.deep.equal([status, vary]);
      }
    }
  });

  describe('a count', () => {
    const counted = (path: string, Prefer: string) => service.get(path, { headers: { Prefer } });
    const countHeaders = ({ headers }: { headers: Record<string, unknown> }) => [
      headers['x-total-count'],
      headers['preference-applied'],
    ];

    it('is the number of all matches, on any page', async () => {
      const next = (await page(service.client, '/products?limit=5&id.lte=10')).links['next'] ?? '';
      for (const path of ['/products?limit=5&id.lte=10', next, '/products?id.lte=10&limit=1&sort=-name'])
        expect(countHeaders(await counted(path, 'count=exact')), path).to.deep.equal(['10', 'count=exact']);
      expect(countHeaders(await counted('/v1/products', 'count=exact'))).to.deep.equal(['250', 'count=exact']);
      expect(countHeaders(await counted('/products?name=none', 'count=exact'))).to.deep.equal(['0', 'count=exact']);
    });

    it('is sent only with Prefer: count=exact', async () => {
      for (const prefer of ['', 'count', 'count=planned', 'count=planned, count=exact']) {
        const response = await counted('/products?limit=1', prefer);
        expect([response.status, ...countHeaders(response)], prefer).to.deep.equal([200, undefined, undefined]);
      }
    });

    it('is sent with NDJSON and with HEAD', async () => {
      const headers = { Prefer: 'count=exact', Accept: 'application/x-ndjson' };
      for (const path of ['/products?id.in=1,2', '/products?id.in=1,2&limit=1']) {
        expect(countHeaders(await service.get(path, { headers })), path).to.deep.equal(['2', 'count=exact']);
        const head = await service.request('HEAD', path, { headers });
        expect(countHeaders(head), path).to.deep.equal(['2', 'count=exact']);
      }
    });
  });
});

describe('an empty list', () => {
  const service = inProcessService();

  it('is an empty array with a first page', async () => {
    const response = await service.get('/v1/products');
    const link = '</v1/products?limit=100>; rel="first", </v1/products/changes>; rel="monitor"';
    expect([response.text, response.headers['link']]).to.deep.equal(['[]', link]);
  });
});

for (const [order, ids] of Object.entries({ '': [1, 2, 3, 4], '&sort=-name': [4, 3, 2, 1] }))
  describe(`pages that have become empty, with ${order || 'no sort'}`, () => {
    const service = inProcessService();
    const [first, second, third, fourth] = ids;

    before(async () => {
      for (const name of ['a', 'b', 'c', 'd']) await service.post('/products', { name });
    });

    it('link back, and from there forward again, without losing a record', async () => {
      const { links } = await page(service.client, `/products?limit=2${order}`);
      for (const id of [third, fourth]) await service.delete(`/products/${id}`);
      const emptied = await page(service.client, `${links['next']}`);
      expect(emptied.ids).to.deep.equal([]);
      expect(Object.keys(emptied.links)).to.deep.equal(['first', 'prev']);
      const back = await page(service.client, `${emptied.links['prev']}`);
      expect(back.ids).to.deep.equal([first, second]);
      expect(Object.keys(back.links)).to.deep.equal(['first', 'next']);
      const again = await page(service.client, `${back.links['next']}`);
      expect([again.ids, Object.keys(again.links)]).to.deep.equal([[], ['first', 'prev']]);
    });

    it('link forward, and from there back again, without losing a record', async () => {
      const { links } = await page(service.client, `/products?limit=1${order}`);
      const next = await page(service.client, `${links['next']}`);
      await service.delete(`/products/${first}`);
      const emptied = await page(service.client, `${next.links['prev']}`);
      expect(emptied.ids).to.deep.equal([]);
      expect(Object.keys(emptied.links)).to.deep.equal(['first', 'next']);
      const forward = await page(service.client, `${emptied.links['next']}`);
      expect(forward.ids).to.deep.equal([second]);
      const back = await page(service.client, `${forward.links['prev']}`);
      expect([back.ids, Object.keys(back.links)]).to.deep.equal([[], ['first', 'next']]);
    });
  });
