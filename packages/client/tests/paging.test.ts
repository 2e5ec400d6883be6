import { expect } from 'chai';
import type { Fetch, ProductTypes } from 'product-catalogue-client';
import { all, catalogueService, rejection } from './catalogue-service.js';

const PREFIX = '/shop/catalogue';

/** A proxy that removes a path prefix. */
const prefixed =
  (prefix: string) =>
  (fetch: Fetch): Fetch =>
  (request) => {
    const { pathname } = new URL(request.url);
    expect(pathname.slice(0, prefix.length + 4)).to.equal(`${prefix}/v1/`);
    return fetch(new Request(request.url.replace(prefix, ''), request));
  };

describe('the lists of the client', () => {
  const { attempts, connect } = catalogueService();
  let ids: number[];

  before(async () => {
    const { products } = connect();
    const created = [];
    for (let i = 0; i < 23; i++) {
      const price = { amount: i * 100, currency: 'EUR' };
      created.push(await products.create({ name: `Lamp ${i}`, price, attributes: { 'a&b=c d#%é': i } }));
    }
    ids = created.map(({ id }) => id);
  });

  it('yield every record that exists throughout exactly once, during concurrent writes', async () => {
    const { products } = connect();
    const seen: number[] = [];
    const added: number[] = [];
    for await (const { id } of products.list({ limit: 5, 'name.prefix': 'Lamp', sort: ['-name'] })) {
      seen.push(id);
      if (seen.length % 4 !== 0) continue;
      added.push((await products.create({ name: 'Lamp 00' })).id, (await products.create({ name: 'Lamp 9z' })).id);
      await products.patch(id, { description: 'seen' });
    }
    expect(seen.filter((id) => !added.includes(id)).sort((a, b) => a - b)).to.deep.equal(ids);
    expect(new Set(seen).size, 'none twice').to.equal(seen.length);
    expect(attempts.filter(({ request }) => request.method === 'GET').length).to.be.at.least(5);
    for (const id of added) await products.delete(id);
  });

  it('request a page only when it is needed', async () => {
    const { products } = connect();
    for await (const { id } of products.list({ limit: 5, sort: ['id'] })) if (id === ids[6]) break;
    expect(attempts).to.have.length(2);
  });

  it('yield pages, each except the last with a reference to the next', async () => {
    const pages = await all(connect().products.pages({ limit: 10 }));
    expect(pages.map(({ records, next }) => [records.length, typeof next])).to.deep.equal([
      [10, 'string'],
      [10, 'string'],
      [3, 'undefined'],
    ]);
  });

  it('are read a page at a time, forwards, back and to the first, with a count when asked', async () => {
    const { products } = connect();
    const query = { limit: 10, sort: ['id'] } as const;
    const numbers = ({ records }: { records: readonly { id: number }[] }) => records.map(({ id }) => ids.indexOf(id));
    const first = await products.page(query, { count: true });
    expect([numbers(first)[0], first.total, first.prev]).to.deep.equal([0, 23, undefined]);
    const second = await products.page(first.next);
    expect([numbers(second)[0], second.total]).to.deep.equal([10, undefined]);
    const last = await products.page(second.next);
    expect([numbers(last), last.next]).to.deep.equal([[20, 21, 22], undefined]);
    expect(numbers(await products.page(last.prev))).to.deep.equal(numbers(second));
    expect(numbers(await products.page(last.first))).to.deep.equal(numbers(first));
    expect(attempts.map(({ request }) => request.headers.get('Prefer'))).to.deep.equal([
      'count=exact',
      ...[null, null, null, null],
    ]);
  });

  it('are the same by the path of the collection', async () => {
    const { records } = await connect()
      .collection<ProductTypes>('/v1/products')
      .page({ limit: 1, sort: ['id'] });
    expect(records.map(({ id }) => id)).to.deep.equal(ids.slice(0, 1));
  });

  it('do not follow a page to another host, which would see the token', async () => {
    const elsewhere =
      (fetch: Fetch): Fetch =>
      async (request) => {
        const { headers, body } = await fetch(request);
        const link = '<https://elsewhere.example/v1/products?cursor=x>; rel="next"';
        return new Response(body, { headers: [...headers].concat([['Link', link]]) });
      };
    const error = await rejection(all(connect({}, elsewhere).products.list()));
    expect(error).to.be.an('error').with.property('message').that.includes('leads away');
    expect(attempts).to.have.length(1);
  });

  it('filter by fields and by attributes of any name, and send an empty list of values', async () => {
    const { products } = connect();
    const found = await all(products.list({ 'price.amount.gte': 400, 'price.amount.lt': 600 }));
    expect(found.map(({ name }) => name)).to.deep.equal(['Lamp 4', 'Lamp 5']);
    expect(await all(products.list({ 'attributes.a&b=c d#%é': 7, 'id.in': ids }))).to.have.length(1);
    expect(await all(products.list({ 'name.in': ['Lamp 1', 'Lamp 2 & 3', 'Lamp 4'] }))).to.have.length(2);
    expect(await rejection(all(products.list({ 'id.in': [] })))).to.have.property('code', 'invalid_parameter');
  });

  it('search by words, and by whether a field has a value', async () => {
    const { products } = connect();
    const { id } = await products.create({ name: 'Café & bar', sku: 'CB-1' });
    expect((await all(products.list({ q: 'BAR cafe' }))).map((one) => one.id)).to.deep.equal([id]);
    expect((await all(products.list({ 'sku.exists': true }))).map((one) => one.id)).to.deep.equal([id]);
    expect(await all(products.list({ q: 'bar', 'price.amount.exists': true }))).to.deep.equal([]);
    const found = await all(products.list({ q: 'lamp', limit: 5, 'sku.exists': false }));
    expect(found.map((one) => one.id)).to.deep.equal(ids);
    expect((await all(products.export({ q: 'bar' }))).map((one) => one.id)).to.deep.equal([id]);
    await products.delete(id);
  });

  it('return only the requested fields', async () => {
    const [first] = await all(connect().products.list({ fields: ['id', 'version'], 'id.in': ids, limit: 1000 }));
    expect(first?.version.toFixed()).to.match(/^[1-9]$/);
    expect(first).to.have.all.keys('id', 'version');
  });

  it('export all records in one stream', async () => {
    const { products } = connect();
    const exported = await all(products.export({ sort: ['-id'], fields: ['id'] }));
    expect(exported.map(({ id }) => id)).to.deep.equal([...ids].reverse());
    expect(attempts).to.have.length(1);
  });

  it('read a stream in chunks of any size, and throw if it breaks off', async () => {
    const pieces =
      (size: number, bytes = Number.POSITIVE_INFINITY) =>
      (fetch: Fetch): Fetch =>
      async (request) => {
        const response = await fetch(request);
        const all = new Uint8Array(await response.arrayBuffer()).slice(0, bytes);
        const starts = Array.from({ length: Math.ceil(all.length / size) }, (_, at) => at * size);
        const start = (controller: ReadableStreamDefaultController) => {
          for (const at of starts) controller.enqueue(all.slice(at, at + size));
          controller.close();
        };
        return new Response(new ReadableStream({ start }), response);
      };
    const whole = await all(connect().products.export());
    expect(await all(connect({}, pieces(1)).products.export())).to.deep.equal(whole);
    const broken = connect({}, pieces(100, 1_000)).products.export();
    expect(await rejection(all(broken)))
      .to.have.property('message')
      .that.includes('broke off');
  });

  it('exist for every resource of the document: packages/client/src/resource-types.ts', async () => {
    const catalogue = connect();
    const { data: document } = await catalogue.GET('/openapi.json');
    const { paths } = document as unknown as { paths: object };
    const collections = Object.keys(paths).flatMap((path) => /^\/v1\/([^/]+)$/.exec(path)?.[1] ?? []);
    const names = collections.map((name) => name.replaceAll(/-(.)/g, (_, letter) => letter.toUpperCase()));
    expect(names).to.include('apiKeys');
    expect(catalogue).to.include.all.keys(names);
    const { users, orders, apiKeys } = catalogue;
    const user = await users.create({ name: 'Ann', email: 'ann@example.com' });
    const items = [{ productId: ids[0] ?? 0, quantity: 2 }];
    const order = await orders.create({ userId: user.id, items });
    expect(await all(users.list({ email: 'ANN@example.com' }))).to.deep.equal([user.data]);
    expect(await all(orders.list({ userId: user.id }))).to.deep.equal([order.data]);
    const { data } = await apiKeys.create({ name: 'shop', scopes: ['products:read'] });
    expect(data.key).to.match(/^pcs_/);
    expect((await all(apiKeys.list({ name: 'shop' }))).map(({ id }) => id)).to.deep.equal([data.id]);
  });
});

for (const prefix of [PREFIX, '/products', '/v1'])
  describe(`the lists of the client, of a service with the path ${prefix} in PUBLIC_URL`, () => {
    const { service, connect } = catalogueService({ PUBLIC_URL: `https://shop.example${prefix}` });

    it('follow every page and read every record below it, once', async () => {
      const baseUrl = `http://127.0.0.1:${service.port}${prefix}`;
      const { products, GET } = connect({ baseUrl }, prefixed(prefix));
      const ids: number[] = [];
      for (let i = 0; i < 5; i++) ids.push((await products.create({ name: 'Lamp' })).id);
      const pages = await all(products.pages({ limit: 2 }));
      expect(pages.flatMap(({ records }) => records.map(({ id }) => id))).to.deep.equal(ids);
      const back = await products.page(pages.at(-1)?.prev);
      expect(back.records.map(({ id }) => id)).to.deep.equal(ids.slice(2, 4));
      expect((await products.read(Number(ids[0]))).data.name).to.equal('Lamp');
      const { data } = await GET('/v1/products/{id}', { params: { path: { id: Number(ids[0]) } } });
      expect(data?.name).to.equal('Lamp');
    });
  });
