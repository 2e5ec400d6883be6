import type { Socket } from 'node:net';
import { expect } from 'chai';
import { CatalogueError, createCatalogue, type Fetch, UnknownOutcomeError } from 'product-catalogue-client';
import { TcpProxy } from '../../../tests/support/tcp-proxy.js';
import { all, catalogueService, proxied, refused, rejection } from './catalogue-service.js';

/** Returns a response instead of the service, for the first requests. */
function first(times: number, response: () => Response): (fetch: Fetch) => Fetch {
  return (fetch) => async (request) => (times-- > 0 ? response() : fetch(request));
}

const unavailable = (headers?: Record<string, string>) => () => refused(503, headers);

/** Closes the connection in the place of a response. */
class LosingProxy extends TcpProxy {
  /** The number of the next responses to lose. */
  toLose = 0;
  /** Whether a lost response is forwarded without its last bytes. */
  breaksOff = false;

  protected override forward(near: Socket, far: Socket): void {
    near.on('data', (bytes) => far.write(bytes));
    far.on('data', (bytes) => {
      if (this.toLose === 0) return near.write(bytes);
      this.toLose--;
      return near.end(bytes.subarray(0, this.breaksOff ? -5 : 0));
    });
  }
}

describe('the client under a rate limit', () => {
  const soon = catalogueService({ RATE_LIMIT_REQUESTS: '1', RATE_LIMIT_WINDOW_SECONDS: '1' });
  const late = catalogueService({ RATE_LIMIT_REQUESTS: '1', RATE_LIMIT_WINDOW_SECONDS: '3600' });

  it('waits as long as Retry-After says, then retries', async () => {
    const sleep = (ms: number) => {
      soon.waits.push(ms);
      return new Promise<void>((resolve) => setTimeout(resolve, ms));
    };
    const { products } = soon.connect({ retry: { sleep } });
    let created = 0;
    while (soon.waits.length === 0) await products.create({ name: `Lamp ${++created}` });
    const limited = soon.attempts.filter(({ status }) => status === 429);
    expect(soon.waits).to.deep.equal(limited.map(() => 1_000));
    expect(soon.attempts.length - limited.length).to.equal(created);
  });

  it('passes on the error if the wait would be too long, or after the last retry', async () => {
    const { users } = late.connect({ retry: { maxWaitMs: 3_000_000 } });
    await all(users.list());
    expect(await rejection(all(users.list()))).to.deep.include({ status: 429, code: 'rate_limited' });
    expect(late.waits).to.deep.equal([]);
    const { GET } = late.connect({ retry: { maxRetries: 2, maxWaitMs: 4_000_000 } });
    expect((await GET('/v1/users')).error?.code).to.equal('rate_limited');
    expect([late.waits.length, late.attempts.length]).to.deep.equal([2, 3]);
  });
});

describe('the client during failures', () => {
  const { service, connect, waits, attempts } = catalogueService();
  const proxy = new LosingProxy(service);
  const names = async () => (await all(connect().products.list())).map(({ name }) => name);
  /** A client behind the proxy. */
  const lossy = (toLose: number, breaksOff = false) => {
    Object.assign(proxy, { toLose, breaksOff });
    return connect({ baseUrl: `http://127.0.0.1:${proxy.port}` });
  };

  before(() => proxy.listen());
  after(() => proxy.close());
  afterEach(async () => {
    proxy.toLose = 0;
    const { products } = connect();
    for await (const { id } of products.list()) await products.delete(id);
  });

  it('retries a 503 after its Retry-After, or else with growing waits', async () => {
    const { products } = connect({}, first(2, unavailable({ 'Retry-After': '2' })));
    await products.create({ name: 'Lamp' });
    expect(waits).to.deep.equal([2_000, 2_000]);
    await all(connect({}, first(3, unavailable())).products.list());
    expect(waits).to.deep.equal([125, 250, 500]);
    await all(connect({}, first(1, unavailable({ 'Retry-After': new Date(0).toUTCString() }))).products.list());
    expect(waits).to.deep.equal([0]);
  });

  it('adds a random time to the requested wait', async () => {
    const retry = { random: () => 0.5 };
    await all(connect({ retry }, first(1, unavailable({ 'Retry-After': '2' }))).products.list());
    expect(waits).to.deep.equal([2_500]);
  });

  it('creates one record if responses are lost, with one key', async () => {
    const lamp = await lossy(2).products.create({ name: 'Lamp' });
    expect(attempts).to.have.length(3);
    expect(new Set(attempts.map(({ request }) => request.headers.get('Idempotency-Key'))).size).to.equal(1);
    expect([lamp.data.name, await names()]).to.deep.equal(['Lamp', ['Lamp']]);
  });

  it('creates one record if a response breaks off, through the plain methods', async () => {
    const { data } = await lossy(1, true).POST('/v1/products', { body: { name: 'Torch' } });
    expect(attempts.map(({ status }) => status)).to.deep.equal([201, 201]);
    expect([data?.name, await names()]).to.deep.equal(['Torch', ['Torch']]);
  });

  it('uses a new key for each call, and keeps the key of the caller', async () => {
    const { products, POST } = connect();
    await products.create({ name: 'Lamp' });
    await products.create({ name: 'Lamp' });
    await products.create({ name: 'Desk' }, { idempotencyKey: 'order-4711' });
    const { response } = await POST('/v1/products', {
      body: { name: 'Desk' },
      params: { header: { 'Idempotency-Key': 'order-4711' } },
    });
    expect(response.headers.get('Idempotency-Replayed')).to.equal('true');
    expect(await names()).to.deep.equal(['Lamp', 'Lamp', 'Desk']);
  });

  it('retries idempotent writes, but no JSON Patch', async () => {
    const { id } = await connect().products.create({ name: 'Lamp', sku: 'L' });
    await lossy(1).products.replace(id, { name: 'Lamp' });
    await lossy(1).products.patch(id, { name: 'Torch' });
    expect(attempts).to.have.length(2);
    const appended = lossy(1).products.patch(id, [{ op: 'add', path: '/sku', value: 'M' }]);
    expect(await rejection(appended)).to.be.instanceOf(TypeError);
    expect(attempts).to.have.length(1);
  });

  it('throws UnknownOutcomeError if a retry cannot show whether the write was done', async () => {
    const { products } = connect();
    const lamp = await products.create({ name: 'Lamp' });
    const replaced = lossy(1).products.replace(lamp, { name: 'Torch' });
    expect(await rejection(replaced))
      .to.be.instanceOf(UnknownOutcomeError)
      .with.property('cause')
      .an('error');
    expect((await products.read(lamp.id)).data.name).to.equal('Torch');
    expect(await rejection(lossy(1).products.delete(lamp.id))).to.be.instanceOf(UnknownOutcomeError);
    expect(await names()).to.deep.equal([]);
  });

  it('never applies an edit twice', async () => {
    const { id } = await connect().products.create({ name: 'Lamp', price: { amount: 1, currency: 'EUR' } });
    const { products } = lossy(0);
    const raised = products.edit(id, (product) => {
      proxy.toLose = 1;
      return { ...product, price: { amount: (product.price?.amount ?? 0) + 1, currency: 'EUR' } };
    });
    expect(await rejection(raised)).to.be.instanceOf(UnknownOutcomeError);
    expect((await connect().products.read(id)).data.price?.amount).to.equal(2);
  });

  it('retries a write that was lost before it arrived', async () => {
    const lamp = await connect().products.create({ name: 'Lamp' });
    const { products } = connect({}, first(1, unavailable()));
    expect((await products.replace(lamp, { name: 'Torch' })).data.name).to.equal('Torch');
  });

  it('treats a request that got 429 as not carried out', async () => {
    const lamp = await connect().products.create({ name: 'Lamp' });
    const limited = () =>
      connect(
        {},
        first(1, () => refused(429, { 'Retry-After': '3' })),
      ).products;
    const torch = await limited().patch(lamp.id, [{ op: 'replace', path: '/name', value: 'Torch' }]);
    expect([torch.data.name, waits]).to.deep.equal(['Torch', [3_000]]);
    expect(await rejection(limited().delete(lamp))).to.have.property('code', 'precondition_failed');
  });

  it('does not retry other errors', async () => {
    const { products } = connect();
    expect(await rejection(products.create({ name: '' }))).to.have.property('code', 'validation_failed');
    expect(await rejection(products.read(1e15))).to.have.property('code', 'not_found');
    expect([attempts.length, waits]).to.deep.equal([2, []]);
  });

  it('gives up after maxRetries', async () => {
    const { products } = connect({ retry: { maxRetries: 2 } }, first(9, unavailable()));
    expect(await rejection(products.read(1)))
      .to.be.instanceOf(CatalogueError)
      .with.property('status', 503);
    expect(attempts).to.have.length(3);
    const away = connect({ baseUrl: 'http://127.0.0.1:1', retry: { maxRetries: 1 } });
    expect(await rejection(away.products.read(1))).to.be.instanceOf(TypeError);
    expect(attempts).to.have.length(2);
  });

  it('gets the token before each attempt, and ends if there is none', async () => {
    const tokens = ['old', 'new'];
    const { products } = connect({ token: async () => tokens.shift() ?? '' }, first(1, unavailable()));
    expect(await rejection(products.read(1))).to.have.property('code', 'invalid_token');
    expect(attempts.map(({ request }) => request.headers.get('Authorization'))).to.deep.equal([
      'Bearer old',
      'Bearer new',
    ]);
    const none = connect({ token: () => Promise.reject(new Error('no token')) });
    expect(await rejection(none.products.read(1))).to.have.property('message', 'no token');
    expect([attempts, waits]).to.deep.equal([[], []]);
  });

  it('stops when aborted: before an attempt, during an attempt and during a wait', async () => {
    const reason = new Error('enough');
    const early = connect().products.read(1, { signal: AbortSignal.abort(reason) });
    expect(await rejection(early)).to.equal(reason);
    const within = new AbortController();
    const { products } = connect({}, () => (request) => {
      within.abort(reason);
      return proxied(request);
    });
    expect(await rejection(products.read(1, { signal: within.signal }))).to.equal(reason);
    expect([attempts.length, waits]).to.deep.equal([1, []]);
    for (const soon of [true, false]) {
      const waiting = new AbortController();
      let requests = 0;
      const fetch: Fetch = async () => {
        if (requests++ > 0) throw new Error('requested again');
        if (soon) waiting.abort(reason);
        else setTimeout(() => waiting.abort(reason), 20);
        return unavailable({ 'Retry-After': '30' })();
      };
      const patient = createCatalogue({ baseUrl: 'https://localhost', fetch });
      expect(await rejection(patient.products.read(1, { signal: waiting.signal }))).to.equal(reason);
    }
  });
});
