import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { LOCAL_STORE_NAMES } from '../stores/index.js';
import { expectRefusal, type HttpResponse } from '../support/http-client.js';
import { type InProcessService, inProcessService } from '../support/in-process-service.js';
import { jsonLines } from '../support/line-stream.js';
import { cursorIn, linksOf } from '../support/links.js';
import { list } from '../support/list.js';
import { inParallel } from '../support/parallel-limits.js';
import { AT_NIGHT } from '../support/run-settings.js';

const NDJSON = 'application/x-ndjson';
const CSV = 'text/csv';
const PRIVATE = 'private, no-cache';

/** Live products between others, so that pages end at and between them. */
const PRODUCTS = [
  { name: 'Draft lamp', sku: 'DRAFT', status: 'draft', tags: ['lamps', 'new'], brand: 'A', stock: 1 },
  { name: 'Lamp', sku: 'LIVE', tags: ['lamps', 'new'], brand: 'A', stock: 2 },
  { name: 'Old lamp', sku: 'OLD', status: 'archived', tags: ['lamps'], brand: 'B', stock: 3 },
  { name: 'Desk', sku: 'DESK', tags: ['desks'], brand: 'A', group: 'G', stock: 4 },
  { name: 'Draft desk', sku: 'DRAFT-2', status: 'draft', tags: ['desks', 'new'], brand: 'B', group: 'G', stock: 5 },
  { name: 'Lamp', sku: 'LIVE-2', tags: ['lamps'], brand: 'B', stock: 6 },
  { name: 'Zenith', sku: 'DRAFT-3', status: 'draft', tags: ['lamps', 'zenith'], brand: 'C', stock: 7 },
];

/** Queries and headers with which a request is refused, or is conditional. */
const WRONG: readonly (readonly [query: string, headers: Record<string, string>])[] = [
  ['', {}],
  ['?fields=name', {}],
  ['?fields=colour', {}],
  ['?nonsense=1', {}],
  ['', { Accept: 'image/png' }],
  ['', { Accept: 'application/problem+json' }],
  ['', { 'API-Version': '9' }],
  ['', { 'If-None-Match': '"1"' }],
  ['', { 'If-None-Match': '*' }],
  ['', { 'If-Match': '"1"' }],
  ['', { Expect: 'a-miracle' }],
];

/** Who reads. Nobody sends no credential; the writer's lacks the scope of reading. */
type Reader = 'nobody' | 'writer' | 'stranger' | 'reader';
const SCOPES: Readonly<Record<Exclude<Reader, 'nobody'>, readonly string[]>> = {
  writer: ['products:write'],
  stranger: ['users:read', 'orders:write'],
  reader: ['products:read'],
};
const PUBLIC: readonly Reader[] = ['nobody', 'writer', 'stranger'];

/** A service with the products and readers. */
function catalogue(settings: Record<string, string>) {
  const service = inProcessService(settings);
  const tokens: Partial<Record<Reader, string>> = {};
  const ids = new Map<string, number>();
  before(async () => {
    for (const product of PRODUCTS) ids.set(product.sku, (await service.post('/v1/products', product)).json.id);
    for (const [reader, scopes] of Object.entries(SCOPES))
      tokens[reader as Reader] = (await service.post('/v1/api-keys', { name: reader, scopes })).json.key;
  });
  const send = (reader: Reader, method: string, path: string, headers: Record<string, string> = {}) =>
    service.request(method, path, { token: tokens[reader] ?? null, headers });
  const get = (reader: Reader, path: string, headers: Record<string, string> = {}) =>
    send(reader, 'GET', path, headers);
  return { service: service as InProcessService, ids, send, get };
}

const listOf = (header: string | undefined) => (header ?? '').split(', ').filter((name) => name !== '');

/** What a response tells, without what differs between any two. */
function told({ status, text, headers }: HttpResponse): object {
  const { date, 'x-request-id': _id, ratelimit, ...rest } = headers;
  return { status, text, headers: rest };
}

for (const [place, store] of LOCAL_STORE_NAMES.entries())
  describe(`what everybody sees under PUBLIC_READ=products, on ${store}`, () => {
    const { service, ids, get, send } = catalogue({ STORE: store, PUBLIC_READ: 'products', PUBLIC_MAX_AGE: '7' });

    it('are live products, by id and by SKU; another is not there', async () => {
      for (const { sku, name, status } of PRODUCTS)
        for (const path of [`/v1/products/${ids.get(sku)}`, `/v1/products/sku/${sku}`, `/products/sku/${sku}`]) {
          for (const reader of PUBLIC) {
            const response = await get(reader, path);
            expect(response.status, `${reader} ${path}`).to.equal(status ? 404 : 200);
            if (!status) expect(response.json.name).to.equal(name);
            expect((await send(reader, 'HEAD', path)).status).to.equal(response.status);
          }
          expect((await get('reader', path)).json.name, path).to.equal(name);
          expect((await send('reader', 'HEAD', path)).status).to.equal(200);
        }
    });

    it('tells of no other product that it exists, whatever else is wrong with the request', async () => {
      // What is wrong does not depend on the store: in the gate one has all of it.
      const wrong = AT_NIGHT || place === 0 ? WRONG : WRONG.slice(0, 1);
      const requests = ['DRAFT', 'OLD'].flatMap((sku) =>
        [
          [`/v1/products/${ids.get(sku)}`, '/v1/products/999'],
          [`/products/${ids.get(sku)}`, '/products/999'],
          [`/v1/products/sku/${sku}`, '/v1/products/sku/NONE'],
        ].flatMap(([path = '', absent = '']) => [
          ...wrong.flatMap(([query, headers]) =>
            ['GET', 'HEAD'].map((method) => ({ method, path: path + query, absent: absent + query, headers })),
          ),
          ...['OPTIONS', 'PURGE', 'POST', 'DELETE'].map((method) => ({ method, path, absent, headers: {} })),
        ]),
      );
      for (const reader of ['nobody', 'stranger'] as const)
        await inParallel(8, requests, async ({ method, path, absent, headers }) => {
          const found = await send(reader, method, path, headers);
          const missing = await send(reader, method, absent, headers);
          const what = `${reader} ${method} ${path} ${JSON.stringify(headers)}`;
          expect(told(found), what).to.deep.equal(told(missing));
          if (method === 'GET') expect(found.status, what).to.equal(404);
        });
    });

    const QUERIES = [
      '',
      ...list`status=draft  status.in=draft,archived  status.exists=true  status.exists=false&status=draft
        sku.in=DRAFT,LIVE,OLD  id.lte=3  name.prefix=Draft  tags.in=lamps,new  tags.prefix=l  brand.gt=A  stock.gte=3
        q=lamp&tags=new  sort=-name,-id  fields=id,name,status,sku`,
    ];
    for (const [at, query] of QUERIES.entries())
      it(`are the live products of a list, ${query || 'of all'}, in every format and count`, async () => {
        const all = (await get('reader', `/v1/products?${query.replace(/fields=.*/, '')}`)).json;
        const live = all.filter(({ status }: { status?: string }) => status === undefined);
        const liveIds = live.map(({ id }: { id: number }) => id);
        const ofEach = (records: readonly { id: number | string }[]) => records.map(({ id }) => Number(id));
        // Who reads does not depend on the store: in the gate each query has one store for all readers, in turn.
        const isInTurn = AT_NIGHT || at % LOCAL_STORE_NAMES.length === place;
        for (const reader of isInTurn ? PUBLIC : PUBLIC.slice(0, 1)) {
          const page = await get(reader, `/products?${query}`, { Prefer: 'count=exact' });
          expect(page.status, page.text).to.equal(200);
          expect(ofEach(page.json), reader).to.deep.equal(liveIds);
          expect(page.headers['x-total-count'], reader).to.equal(String(live.length));
          const head = await send(reader, 'HEAD', `/products?${query}`, { Prefer: 'count=exact' });
          expect([head.status, head.headers['x-total-count']]).to.deep.equal([200, String(live.length)]);
          const lines = (await get(reader, `/v1/products?${query}`, { Accept: NDJSON })).text;
          expect(ofEach(jsonLines(lines))).to.deep.equal(liveIds);
          const rows = (await get(reader, `/v1/products?${query}`, { Accept: CSV })).text;
          expect(ofEach(parse(rows, { columns: true }))).to.deep.equal(liveIds);
          for (const text of [page.text, lines, rows]) expect(text, reader).to.not.match(/DRAFT|OLD|Zenith|archived/);
        }
        const counted = await get('reader', `/v1/products?${query}`, { Prefer: 'count=exact' });
        expect(counted.headers['x-total-count']).to.equal(String(all.length));
      });

    it('go on at the cursor of another reader', async () => {
      for (const [from, to] of [
        ['reader', 'nobody'],
        ['nobody', 'reader'],
        ['writer', 'nobody'],
        ['nobody', 'writer'],
      ] as const) {
        const { json, headers } = await get(from, '/v1/products?sort=-id&limit=2');
        const { next } = linksOf(headers['link']);
        expect(next?.includes('status'), 'a link has the filters of the client alone').to.equal(false);
        const rest = await get(to, `/v1/products?sort=-id&cursor=${cursorIn(next)}`);
        const whole = (await get(to, '/v1/products?sort=-id')).json;
        const last = json.at(-1).id;
        expect(rest.json, `${from} ${to}`).to.deep.equal(whole.filter(({ id }: { id: number }) => id < last));
      }
    });

    it('have a filter more than the 100 of a client', async () => {
      const filters = Array.from({ length: 100 }, (_, at) => `attributes.k${at}=x`);
      expect((await get('nobody', `/v1/products?${filters.join('&')}`)).json).to.deep.equal([]);
      await expectRefusal(get('nobody', `/v1/products?${[...filters, 'name=x'].join('&')}`), 'invalid_parameter');
      const tags = Array.from({ length: 100 }, (_, at) => `t${at}`).join();
      expect((await get('nobody', `/v1/products?tags.all=${tags}&q=lamp`)).json).to.deep.equal([]);
    });

    it('follows the status at once: what becomes a draft is gone, and its tag finds nothing', async () => {
      const { id } = (await service.post('/v1/products', { name: 'Once', sku: 'ONCE' })).json;
      for (const path of [`/v1/products/${id}`, '/v1/products/sku/ONCE']) {
        const { headers } = await get('nobody', path);
        const conditional = { 'If-None-Match': headers.etag ?? '' };
        expect((await get('nobody', path, conditional)).status).to.equal(304);
        await service.patch(path, { status: 'draft' });
        expect((await get('nobody', path, conditional)).status).to.equal(404);
        const current = { 'If-None-Match': (await get('reader', path)).headers.etag ?? '' };
        expect((await get('nobody', path, current)).status).to.equal(404);
        expect((await get('reader', path, current)).status).to.equal(304);
        expect((await get('nobody', '/v1/products?name=Once')).json).to.deep.equal([]);
        await service.patch(path, { status: null });
        expect((await get('nobody', path, conditional)).status).to.equal(200);
        expect((await get('nobody', '/v1/products?name=Once')).json).to.have.length(1);
      }
    });

    it('lets a credential that may only write change a draft, which it does not read', async () => {
      const path = `/v1/products/${ids.get('DRAFT-2')}`;
      const body = { name: 'Draft desk', sku: 'DRAFT-2', status: 'draft', stock: 8 };
      const token = (await service.post('/v1/api-keys', { name: 'w', scopes: ['products:write'] })).json.key;
      expect((await service.put(path, body, { token })).json.stock).to.equal(8);
      expect((await service.get(path, { token })).status).to.equal(404);
      expect((await service.patch(path, {}, { token })).status).to.equal(403);
      expect((await service.get(path)).json.stock).to.equal(8);
    });

    it('tells caches what they may keep, and that readers differ', async () => {
      const live = `/v1/products/${ids.get('LIVE')}`;
      const tagOf = async (reader: Reader, path: string) => (await get(reader, path)).headers.etag ?? '';
      for (const reader of [...PUBLIC, 'reader'] as const)
        for (const [path, accept] of [
          [live, '*/*'],
          [`${live}?fields=name`, '*/*'],
          ['/v1/products/sku/LIVE', '*/*'],
          ['/products/sku/LIVE', '*/*'],
          ['/v1/products', '*/*'],
          ['/products?limit=1', '*/*'],
          ['/v1/products', NDJSON],
          ['/v1/products', CSV],
          ['/v1/products?limit=1', CSV],
          ['/v1/products?q=lamp', '*/*'],
          ['/v1/products/facets?fields=tags', '*/*'],
        ] as const) {
          const tag = accept === '*/*' ? await tagOf(reader, path) : '"0"';
          for (const [method, condition] of [
            ['GET', {}],
            ['HEAD', {}],
            ['GET', { 'If-None-Match': tag }],
          ] as const) {
            const response = await send(reader, method, path, { Accept: accept, 'X-Request-Id': 'mine', ...condition });
            const what = `${reader} ${method} ${path} ${accept} ${JSON.stringify(condition)}`;
            expect(response.status, what).to.equal('If-None-Match' in condition && accept === '*/*' ? 304 : 200);
            const { headers } = response;
            const isPublic = reader === 'nobody';
            expect(headers['cache-control'], what).to.equal(isPublic ? 'public, max-age=7' : PRIVATE);
            const vary = listOf(headers.vary);
            expect(vary, what).to.include.members(['Accept', 'Authorization']);
            expect(new Set(vary).size, what).to.equal(vary.length);
            expect('ratelimit' in headers, what).to.equal(!isPublic);
            expect('ratelimit-policy' in headers, what).to.equal(!isPublic);
            expect(headers['x-request-id'] === 'mine', what).to.equal(!isPublic);
          }
        }
    });

    it('lets no cache keep a refusal', async () => {
      for (const [path, headers] of [
        [`/v1/products/${ids.get('DRAFT')}`, {}],
        ['/v1/products/sku/NONE', {}],
        ['/v1/products?limit=0', {}],
        ['/v1/products', { Accept: 'image/png' }],
        ['/v1/products', { Authorization: 'Bearer nonsense' }],
      ] as const) {
        const response = await get('nobody', path, headers);
        expect(response.status).to.be.within(400, 499);
        expect(response.headers['cache-control'], path).to.equal('no-store');
        expect(listOf(response.headers.vary), path).to.include('Authorization');
      }
    });
  });

describe('PUBLIC_MAX_AGE=0', () => {
  const { get } = catalogue({ PUBLIC_READ: 'products', PUBLIC_MAX_AGE: '0' });

  it('lets caches ask every time', async () => {
    for (const path of ['/v1/products', '/v1/products/sku/LIVE']) {
      const { headers } = await get('nobody', path);
      expect(headers['cache-control']).to.equal('public, max-age=0');
      expect(headers).to.not.have.any.keys('ratelimit', 'ratelimit-policy');
      expect(listOf(headers.vary)).to.include('Authorization');
      const again = await get('nobody', path, { 'If-None-Match': headers.etag ?? '' });
      expect([again.status, again.headers['cache-control']]).to.deep.equal([304, 'public, max-age=0']);
    }
  });
});

describe('without PUBLIC_READ', () => {
  const { get } = catalogue({});

  it('products of every status need the scope of reading', async () => {
    for (const path of ['/v1/products/sku/DRAFT', '/v1/products/sku/LIVE', '/v1/products']) {
      expect((await get('nobody', path)).status).to.equal(401);
      expect((await get('writer', path)).status).to.equal(403);
      const { status, headers } = await get('reader', path);
      expect([status, headers['cache-control']]).to.deep.equal([200, PRIVATE]);
    }
    expect((await get('reader', '/v1/products')).json).to.have.length(PRODUCTS.length);
  });
});
