import { expect } from 'chai';
import { POSITION_MS } from '#src/application/changes/change-reader.js';
import { unavailable } from '#src/domain/errors.js';
import { HTTP_STORE_NAMES } from '../stores/index.js';
import { expectRefusal, type HttpClient, received, statusesIn } from '../support/http-client.js';
import { NDJSON, ndjson, resultsOf } from '../support/imports.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { cursorIn, linksOf } from '../support/links.js';
import { documentOf } from '../support/openapi/described.js';
import { until } from '../support/until.js';

const CHANGES = '/v1/products/changes';
const LINES = { Accept: 'application/x-ndjson' };

const nextOf = ({ headers }: { headers: Record<string, unknown> }) => linksOf(headers['link'])['next'] ?? '';

async function placeNow(client: HttpClient, path = CHANGES): Promise<string> {
  const response = await client.get(path);
  expect([response.status, response.text], response.text).to.deep.equal([200, '[]']);
  return nextOf(response);
}

async function idOfNew(client: HttpClient, fields: object = { name: 'Lamp' }): Promise<number> {
  return (await client.post('/v1/products', fields)).json.id;
}

/** @returns the ids of so many new products, in the order of their creation */
async function idsOfNew(client: HttpClient, count: number, fields: object = { name: 'Lamp' }): Promise<number[]> {
  const lines = ndjson(Array.from({ length: count }, () => fields));
  return resultsOf(await client.post('/v1/products/imports', lines, { headers: NDJSON })).map(({ id }) => id);
}

/** The entries from a place on, as soon as there are so many. A store may show a change some time after its response. */
// biome-ignore lint/suspicious/noExplicitAny: tests check the entries
async function entriesFrom(client: HttpClient, place: string, count: number): Promise<any[]> {
  // biome-ignore lint/suspicious/noExplicitAny: tests check the entries
  const entries: any[] = [];
  let next = place;
  await until(`${count} changes`, async () => {
    const response = await client.get(next);
    expect(response.status, response.text).to.equal(200);
    entries.push(...response.json);
    next = nextOf(response);
    return entries.length >= count;
  });
  return entries;
}

for (const STORE of HTTP_STORE_NAMES)
  describe(`changes, on ${STORE}`, () => {
    const service = inProcessService({ STORE });
    const codeOf = async (path: string) => {
      const { status, json } = await service.get(path);
      return [status, json.code];
    };

    it('are none without a cursor, with a link to those from now on', async () => {
      for (const path of [CHANGES, '/products/changes']) {
        const response = await service.get(path);
        expect([response.status, response.text]).to.deep.equal([200, '[]']);
        expect(response.headers).to.include({ 'cache-control': 'no-store', 'content-type': 'application/json' });
        expect(response.headers).to.not.have.any.keys('etag', 'preference-applied');
        expect(response.headers['link']).to.match(new RegExp(`^<${path}\\?limit=100&cursor=[\\w-]+>; rel="next"$`));
        expect(await placeNow(service.client, nextOf(response))).to.match(/cursor=/);
      }
    });

    it('are the record as it is now with its version, or its deletion', async () => {
      const place = await placeNow(service.client);
      const [kept, gone] = [await idOfNew(service.client), await idOfNew(service.client)];
      await service.patch(`/v1/products/${kept}`, { price: { amount: 5, currency: 'EUR' } });
      await service.delete(`/v1/products/${gone}`);
      const price = { amount: 5, currency: 'EUR' };
      expect((await entriesFrom(service.client, place, 2)).slice(-2)).to.deep.equal([
        { id: kept, name: 'Lamp', price, version: 2 },
        { id: gone, version: 2, deleted: true },
      ]);
    });

    it('come in pages, of which the last is empty and leads on', async () => {
      const place = (await placeNow(service.client)).replace('limit=100', 'limit=2');
      const ids = await idsOfNew(service.client, 5);
      await entriesFrom(service.client, place, 5);
      const pages: number[][] = [];
      let next = place;
      do {
        const response = await service.get(next);
        pages.push(response.json.map(({ id }: { id: number }) => id));
        next = nextOf(response);
        expect(next).to.match(/^\/v1\/products\/changes\?limit=2&cursor=/);
      } while (pages.at(-1)?.length !== 0);
      expect(pages).to.deep.equal([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4), []]);
      const last = await idOfNew(service.client);
      expect((await entriesFrom(service.client, next, 1)).map(({ id }) => id)).to.deep.equal([last]);
    });

    it('have the fields that are asked, and always the id and the version', async () => {
      const place = await placeNow(service.client, `${CHANGES}?fields=sku&fields=createdAt`);
      expect(place).to.match(/\?fields=sku%2CcreatedAt&limit=100&cursor=/);
      const id = await idOfNew(service.client, { name: 'Lamp', sku: `S-${STORE}` });
      const [entry] = await entriesFrom(service.client, place, 1);
      expect(entry).to.have.all.keys('id', 'sku', 'version', 'createdAt');
      await service.delete(`/v1/products/${id}`);
      expect((await entriesFrom(service.client, place, 1)).at(-1)).to.deep.equal({ id, version: 2, deleted: true });
    });

    it('belong to a resource', async () => {
      const places = new Map<string, string>();
      for (const plural of ['products', 'users', 'orders'])
        places.set(plural, await placeNow(service.client, `/v1/${plural}/changes`));
      const user = (await service.post('/v1/users', { name: 'Ann', email: 'ann@example.com' })).json;
      const product = await idOfNew(service.client);
      const items = [{ productId: product, quantity: 1 }];
      const order = (await service.post('/v1/orders', { userId: user.id, items })).json;
      for (const [plural, expected] of Object.entries({ users: user, orders: order }))
        expect(await entriesFrom(service.client, `${places.get(plural)}`, 1)).to.deep.equal([
          { ...expected, version: 1 },
        ]);
      expect((await entriesFrom(service.client, `${places.get('products')}`, 1)).map(({ id }) => id)).to.deep.equal([
        product,
      ]);
    });

    it('refuse a cursor of another resource, of other fields, of a list, and none at all', async () => {
      const cursor = cursorIn(await placeNow(service.client));
      for (const path of ['/v1/users/changes?', `${CHANGES}?fields=id&`])
        expect(await codeOf(`${path}cursor=${cursor}`), path).to.deep.equal([400, 'cursor_mismatch']);
      await idOfNew(service.client);
      const ofList = cursorIn(nextOf(await service.get('/v1/products?limit=1')));
      for (const other of [ofList, cursor.slice(1), `${cursor}A`, 'x', ''])
        expect(await codeOf(`${CHANGES}?cursor=${other}`), other).to.deep.equal([400, 'invalid_cursor']);
      expect(await codeOf(`/v1/products?cursor=${cursor}`)).to.deep.equal([400, 'invalid_cursor']);
      const same = await placeNow(service.client, `${CHANGES}?fields=name,version,id`);
      expect((await service.get(`/products/changes?fields=version,name&cursor=${cursorIn(same)}`)).status).to.equal(
        200,
      );
    });

    it('refuse other parameters, media types and methods', async () => {
      for (const [query, code] of [
        ['sort=id', 'unknown_parameter'],
        ['name=Lamp', 'unknown_parameter'],
        ['limit=0', 'invalid_parameter'],
        ['limit=1001', 'invalid_parameter'],
        ['fields=none', 'invalid_parameter'],
        [`fields=${'id,'.repeat(2_700)}id`, 'uri_too_long'],
      ])
        expect((await codeOf(`${CHANGES}?${query}`))[1], query).to.equal(code);
      await expectRefusal(service.get(CHANGES, { headers: { Accept: 'text/csv' } }), 'not_acceptable');
      const options = await service.request('OPTIONS', CHANGES, { token: null });
      expect([options.status, options.headers.allow]).to.deep.equal([204, 'GET, HEAD, OPTIONS']);
    });

    it('have the headers of GET with HEAD too', async () => {
      const place = await placeNow(service.client);
      const id = await idOfNew(service.client);
      await entriesFrom(service.client, place, 1);
      for (const headers of [{}, LINES]) {
        const head = await service.request('HEAD', place, { headers });
        expect([head.status, head.text, head.headers['cache-control']]).to.deep.equal([200, '', 'no-store']);
        expect(await placeNow(service.client, nextOf(head))).to.match(/cursor=/);
      }
      expect((await service.get(place)).json[0].id).to.equal(id);
    });

    it('are all up to now as NDJSON, and the link leads on from there', async () => {
      const place = (await placeNow(service.client)).replace('limit=100&', '');
      const ids = await idsOfNew(service.client, 150, { name: 'x\u2028y' });
      await entriesFrom(service.client, place, 150);
      const response = await service.get(place, { headers: LINES });
      expect([response.status, response.headers['content-type']]).to.deep.equal([200, 'application/x-ndjson']);
      const lines = response.text.trimEnd().split('\n');
      expect(lines.map((line) => JSON.parse(line).id)).to.deep.equal(ids);
      expect(lines[0]).to.equal(`{"id":${ids[0]},"name":"x\\u2028y","version":1}`);
      expect(nextOf(response)).to.match(/^\/v1\/products\/changes\?cursor=[\w-]+$/);
      const empty = await service.get(nextOf(response), { headers: LINES });
      expect([empty.status, empty.text]).to.deep.equal([200, '']);
      const later = await idOfNew(service.client);
      expect((await entriesFrom(service.client, nextOf(response), 1)).map(({ id }) => id)).to.deep.equal([later]);
      const page = await service.get(place.replace('?', '?limit=2&'), { headers: LINES });
      expect(page.text.trimEnd().split('\n')).to.deep.equal(lines.slice(0, 2));
      expect((await service.get(nextOf(page))).json[0].id).to.equal(ids[2]);
      const first = await service.get(CHANGES, { headers: LINES });
      expect([first.text, nextOf(first)]).to.satisfy(([text, next]: string[]) => text === '' && next !== '');
    });

    it('refuse a cursor behind which changes may be missing', async () => {
      const place = await placeNow(service.client);
      await service.application.feedState.reset();
      for (const headers of [{}, LINES, { Prefer: 'wait=30' }]) {
        const { status, json, headers: shown } = await service.get(place, { headers });
        expect([status, json.code, shown['link']]).to.deep.equal([410, 'cursor_expired', undefined]);
      }
      const young = await placeNow(service.client);
      // A place is good for exactly this long.
      service.clock.pass(POSITION_MS + 1);
      expect(await codeOf(young)).to.deep.equal([410, 'cursor_expired']);
    });
  });

describe('changes as NDJSON', () => {
  const service = inProcessService();

  /** What a client receives of a stream whose second slice is read so. */
  const streamWith = async (second: () => Promise<undefined>) => {
    const feed = service.application.storage.changes.products;
    const place = (await placeNow(service.client)).replace('limit=100&', '');
    await idsOfNew(service.client, 70);
    const { read } = feed;
    let reads = 0;
    feed.read = (...args) => (++reads === 2 ? second() : read.apply(feed, args));
    const socket = await service.connect();
    socket.write(
      `GET ${place} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${FIRST_KEY}\r\nAccept: application/x-ndjson\r\n\r\n`,
    );
    const text = await received(socket);
    feed.read = read;
    return text;
  };

  it('are cut off if the store fails or changes go missing meanwhile', async () => {
    for (const second of [() => Promise.reject(unavailable('down')), async () => undefined]) {
      const text = await streamWith(second);
      expect(statusesIn(text)).to.deep.equal(['200']);
      expect(text).to.include('"version":1}');
      expect(text.endsWith('\r\n0\r\n\r\n'), 'the response is complete').to.equal(false);
    }
  });
});

describe('the link to the changes of a list', () => {
  const on = inProcessService();
  const off = inProcessService({ CHANGES: 'off' });
  const monitorOf = ({ headers }: { headers: Record<string, unknown> }) => linksOf(headers['link'])['monitor'];

  before(async () => {
    for (const { client } of [on, off]) for (const name of ['a', 'b', 'c']) await client.post('/v1/products', { name });
  });

  it('is on every page, in every form, in the form of the address', async () => {
    for (const path of ['/v1/products', '/products', '/v1/users', '/v1/orders'])
      for (const headers of [{}, LINES, { Accept: 'text/csv' }])
        for (const query of ['', '?limit=1', '?id.gt=1&sort=-id']) {
          const response = await on.get(path + query, { headers });
          expect(monitorOf(response), `${path}${query}`).to.equal(`${path}/changes`);
        }
    expect(monitorOf(await on.request('HEAD', '/v1/products'))).to.equal(CHANGES);
    expect(monitorOf(await on.get('/v1/api-keys'))).to.equal(undefined);
  });

  it('is in no tag', async () => {
    for (const path of ['/v1/products', '/products?limit=1']) {
      const [one, other] = [await on.get(path), await off.get(path)];
      expect([monitorOf(one), monitorOf(other)]).to.deep.equal([`${path.split('?')[0]}/changes`, undefined]);
      const stripped = one.text.replaceAll(/"(created|updated)At":"[^"]*"/g, '');
      expect(stripped).to.equal(other.text);
      expect(one.headers.etag).to.equal(other.headers.etag);
      const known = { 'If-None-Match': `${other.headers.etag}` };
      const unchanged = await on.get(path, { headers: known });
      expect([unchanged.status, monitorOf(unchanged)]).to.deep.equal([304, monitorOf(one)]);
    }
  });

  it('leads nowhere with CHANGES=off, where there is none', async () => {
    for (const path of [CHANGES, '/products/changes', '/v1/users/changes', '/v1/orders/changes'])
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST'])
        expect((await off.request(method, path)).status, `${method} ${path}`).to.equal(404);
    const { changes } = off.application.storage;
    const outcome = await changes.products.end().catch((error) => error.code);
    expect(outcome, 'nothing is recorded').to.equal('unavailable');
    const settings = { STORE: 'memory', PUBLIC_URL: 'https://catalogue.test' };
    expect(JSON.stringify(documentOf(settings))).to.include('/changes');
    const document = JSON.stringify(documentOf({ ...settings, CHANGES: 'off' }));
    expect(document).to.not.match(/\/changes|cursor_expired|Change"/);
  });
});

describe('changes under PUBLIC_READ', () => {
  const service = inProcessService({ PUBLIC_READ: 'products', CORS_ORIGINS: 'https://shop.example' });
  const keyWith = async (...scopes: string[]) =>
    (await service.post('/v1/api-keys', { name: 'reader', scopes })).json.key;

  it('need a credential that may read drafts, and show them', async () => {
    const place = await placeNow(service.client);
    const id = await idOfNew(service.client, { name: 'Secret', status: 'draft' });
    await expectRefusal(service.get(place, { token: null }), 'unauthenticated');
    await expectRefusal(service.get(place, { token: await keyWith('users:read') }), 'insufficient_scope');
    const { json } = await service.get(place, { token: await keyWith('products:read') });
    expect(json).to.deep.equal([{ id, name: 'Secret', status: 'draft', version: 1 }]);
  });

  it('are linked from what everybody sees', async () => {
    const { headers } = await service.get('/v1/products', { token: null, headers: { Origin: 'https://shop.example' } });
    expect(headers['cache-control']).to.equal('public, max-age=60');
    expect(linksOf(headers['link'])['monitor']).to.equal(CHANGES);
    expect(headers['access-control-expose-headers']).to.include('Link').and.include('Preference-Applied');
  });
});
