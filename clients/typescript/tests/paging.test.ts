import { expect } from 'chai';
import { CatalogueError, type Fetch } from 'product-catalogue-client';
import { all, catalogueService, refusal } from './catalogue-service.js';

const PREFIX = '/shop/catalogue';

/** A proxy that takes a path away, as the service does not know of it. */
const prefixed =
  (fetch: Fetch): Fetch =>
  (request) => {
    expect(new URL(request.url).pathname).to.match(/^\/shop\/catalogue\/v1\//);
    return fetch(new Request(request.url.replace(PREFIX, ''), request));
  };

describe('the lists of the client', () => {
  const { service, tried, connect } = catalogueService();
  let ids: number[];

  before(async () => {
    const { products } = connect();
    const made = [];
    for (let i = 0; i < 23; i++) {
      const price = { amount: i * 100, currency: 'EUR' };
      made.push(await products.create({ name: `Lamp ${i}`, price, attributes: { 'a&b=c d#%é': i } }));
    }
    ids = made.map(({ id }) => id);
  });

  it('show what exists throughout once, by as many pages as it takes, whatever is written meanwhile', async () => {
    const { products } = connect();
    const seen: number[] = [];
    const added: number[] = [];
    for await (const { id } of products.list({ limit: 5, 'name:prefix': 'Lamp', sort: ['-name'] })) {
      seen.push(id);
      if (seen.length % 4 !== 0) continue;
      added.push(
        (await products.create({ name: 'Lamp 00' })).id,
        (await products.create({ name: 'Lamp 9z' })).id,
      );
      await products.patch(id, { description: 'seen' });
    }
    expect(seen.filter((id) => !added.includes(id)).sort((a, b) => a - b)).to.deep.equal(ids);
    expect(new Set(seen).size, 'none twice').to.equal(seen.length);
    expect(tried.filter(({ request }) => request.method === 'GET').length).to.be.at.least(5);
    for (const id of added) await products.delete(id);
  });

  it('are asked for page by page, as they are taken', async () => {
    const { products } = connect();
    for await (const { id } of products.list({ limit: 5, sort: ['id'] })) if (id === ids[6]) break;
    expect(tried).to.have.length(2);
  });

  it('come as pages too, each but the last with a reference to the next', async () => {
    const pages = await all(connect().products.pages({ limit: 10 }));
    expect(pages.map(({ records, next }) => [records.length, typeof next])).to.deep.equal([
      [10, 'string'],
      [10, 'string'],
      [3, 'undefined'],
    ]);
  });

  it('are followed below a path that the service knows nothing of', async () => {
    const baseUrl = `http://127.0.0.1:${service.port}${PREFIX}/`;
    const { products } = connect({ baseUrl }, prefixed);
    expect((await all(products.list({ limit: 9 }))).map(({ id }) => id)).to.deep.equal(ids);
    expect(tried).to.have.length(3);
  });

  it('are not followed to another host, which would be shown the token', async () => {
    const elsewhere =
      (fetch: Fetch): Fetch =>
      async (request) => {
        const { headers, body } = await fetch(request);
        const link = '<https://elsewhere.example/v1/products?cursor=x>; rel="next"';
        return new Response(body, { headers: [...headers].concat([['Link', link]]) });
      };
    const error = await refusal(all(connect({}, elsewhere).products.list()));
    expect(error).to.be.an('error').with.property('message').that.includes('leads away');
    expect(tried).to.have.length(1);
  });

  it('are filtered, by attributes of any name too, and an empty choice is refused and not left out', async () => {
    const { products } = connect();
    const found = await all(products.list({ 'price.amount:gte': 400, 'price.amount:lt': 600 }));
    expect(found.map(({ name }) => name)).to.deep.equal(['Lamp 4', 'Lamp 5']);
    expect(await all(products.list({ 'attributes.a&b=c d#%é': 7, 'id:in': ids }))).to.have.length(1);
    expect(await all(products.list({ 'name:in': ['Lamp 1', 'Lamp 2 & 3', 'Lamp 4'] }))).to.have.length(2);
    expect(await refusal(all(products.list({ 'id:in': [] })))).to.have.property('code', 'invalid_parameter');
  });

  it('show the fields that are asked for', async () => {
    const [first] = await all(
      connect().products.list({ fields: ['id', 'version'], 'id:in': ids, limit: 1000 }),
    );
    expect(first?.version.toFixed()).to.match(/^[1-9]$/);
    expect(first).to.have.all.keys('id', 'version');
  });

  it('end with the error of the service', async () => {
    const error = await refusal(all(connect().products.list({ limit: 0 })));
    expect(error).to.be.instanceOf(CatalogueError);
    expect(error).to.deep.include({ status: 400, code: 'invalid_parameter' });
  });

  it('come in one stream, whole', async () => {
    const { products } = connect();
    const exported = await all(products.export({ sort: ['-id'], fields: ['id'] }));
    expect(exported.map(({ id }) => id)).to.deep.equal([...ids].reverse());
    expect(tried).to.have.length(1);
  });

  it('come in one stream, however it is cut into pieces, and tell where it broke off', async () => {
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
    expect(await refusal(all(broken)))
      .to.have.property('message')
      .that.includes('broke off');
  });

  it('are there for every resource', async () => {
    const { users, orders, apiKeys } = connect();
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
