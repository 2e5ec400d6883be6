import { expect } from 'chai';
import { CatalogueError, createCatalogue, type Fetch, UnknownOutcomeError } from 'product-catalogue-client';
import { all, catalogueService, proxied, refusal } from './catalogue-service.js';
import { LosingProxy } from './losing-proxy.js';

/** Answers instead of the service, so often. */
function first(times: number, response: () => Response): (fetch: Fetch) => Fetch {
  return (fetch) => async (request) => (times-- > 0 ? response() : fetch(request));
}

const refused =
  (status: number, headers: Record<string, string> = {}) =>
  () =>
    new Response('{"code":"unavailable","message":"later","details":[]}', {
      status,
      headers: { 'Content-Type': 'application/json', ...headers },
    });
const unavailable = (headers?: Record<string, string>) => refused(503, headers);

describe('the client against a limit', () => {
  const soon = catalogueService({ RATE_LIMIT_REQUESTS: '1', RATE_LIMIT_WINDOW_SECONDS: '1' });
  const late = catalogueService({ RATE_LIMIT_REQUESTS: '1', RATE_LIMIT_WINDOW_SECONDS: '3600' });

  it('waits as long as it is asked to, and comes again', async () => {
    const sleep = (ms: number) => {
      soon.waits.push(ms);
      return new Promise<void>((resolve) => setTimeout(resolve, ms));
    };
    const { products } = soon.connect({ retry: { sleep } });
    let made = 0;
    while (soon.waits.length === 0) await products.create({ name: `Lamp ${++made}` });
    const refused = soon.tried.filter(({ status }) => status === 429);
    expect(soon.waits).to.deep.equal(refused.map(() => 1_000));
    expect(soon.tried.length - refused.length).to.equal(made);
  });

  it('hands the refusal on where the wait would be too long, or has been long enough', async () => {
    const { users } = late.connect({ retry: { maxWaitMs: 3_000_000 } });
    await all(users.list());
    expect(await refusal(all(users.list()))).to.deep.include({ status: 429, code: 'rate_limited' });
    expect(late.waits).to.deep.equal([]);
    const { GET } = late.connect({ retry: { maxRetries: 2, maxWaitMs: 4_000_000 } });
    expect((await GET('/v1/users')).error?.code).to.equal('rate_limited');
    expect([late.waits.length, late.tried.length]).to.deep.equal([2, 3]);
  });
});

describe('the client against trouble', () => {
  const { service, connect, waits, tried } = catalogueService();
  const proxy = new LosingProxy(() => service.port);
  let port: number;
  const names = async () => (await all(connect().products.list())).map(({ name }) => name);
  /** By way of the proxy. */
  const lossy = (toLose: number, breaksOff = false) => {
    Object.assign(proxy, { toLose, breaksOff });
    return connect({ baseUrl: `http://127.0.0.1:${port}` });
  };

  before(async () => {
    port = await proxy.listen();
  });
  after(() => proxy.close());
  afterEach(async () => {
    proxy.toLose = 0;
    const { products } = connect();
    for await (const { id } of products.list()) await products.delete(id);
  });

  it('waits out a 503, by its Retry-After, be it a time, or else ever longer', async () => {
    const { products } = connect({}, first(2, unavailable({ 'Retry-After': '2' })));
    await products.create({ name: 'Lamp' });
    expect(waits).to.deep.equal([2_000, 2_000]);
    await all(connect({}, first(3, unavailable())).products.list());
    expect(waits).to.deep.equal([125, 250, 500]);
    await all(
      connect({}, first(1, unavailable({ 'Retry-After': new Date(0).toUTCString() }))).products.list(),
    );
    expect(waits).to.deep.equal([0]);
  });

  it('spreads the waits, and never below what was asked', async () => {
    const retry = { random: () => 0.5 };
    await all(connect({ retry }, first(1, unavailable({ 'Retry-After': '2' }))).products.list());
    expect(waits).to.deep.equal([2_500]);
  });

  it('creates one record where answers get lost, under one key', async () => {
    const lamp = await lossy(2).products.create({ name: 'Lamp' });
    expect(tried).to.have.length(3);
    expect(new Set(tried.map(({ request }) => request.headers.get('Idempotency-Key'))).size).to.equal(1);
    expect([lamp.data.name, await names()]).to.deep.equal(['Lamp', ['Lamp']]);
  });

  it('does so for an answer that breaks off, and by the plain methods', async () => {
    const { data } = await lossy(1, true).POST('/v1/products', { body: { name: 'Torch' } });
    expect(tried.map(({ status }) => status)).to.deep.equal([201, 201]);
    expect([data?.name, await names()]).to.deep.equal(['Torch', ['Torch']]);
  });

  it('has another key for another call, and leaves one that is given', async () => {
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

  it('repeats what comes to the same twice, and no operations of a JSON Patch', async () => {
    const { id } = await connect().products.create({ name: 'Lamp', sku: 'L' });
    await lossy(1).products.replace(id, { name: 'Lamp' });
    await lossy(1).products.patch(id, { name: 'Torch' });
    expect(tried).to.have.length(2);
    const appended = lossy(1).products.patch(id, [{ op: 'add', path: '/sku', value: 'M' }]);
    expect(await refusal(appended)).to.be.instanceOf(TypeError);
    expect(tried).to.have.length(1);
  });

  it('says so where a repetition cannot tell whether the write was done', async () => {
    const { products } = connect();
    const lamp = await products.create({ name: 'Lamp' });
    const replaced = lossy(1).products.replace(lamp, { name: 'Torch' });
    expect(await refusal(replaced))
      .to.be.instanceOf(UnknownOutcomeError)
      .with.property('cause')
      .an('error');
    expect((await products.read(lamp.id)).data.name).to.equal('Torch');
    expect(await refusal(lossy(1).products.delete(lamp.id))).to.be.instanceOf(UnknownOutcomeError);
    expect(await names()).to.deep.equal([]);
  });

  it('never makes one edit into two', async () => {
    const { id } = await connect().products.create({ name: 'Lamp', price: { amount: 1, currency: 'EUR' } });
    const { products } = lossy(0);
    const raised = products.edit(id, (product) => {
      proxy.toLose = 1;
      return { ...product, price: { amount: (product.price?.amount ?? 0) + 1, currency: 'EUR' } };
    });
    expect(await refusal(raised)).to.be.instanceOf(UnknownOutcomeError);
    expect((await connect().products.read(id)).data.price?.amount).to.equal(2);
  });

  it('tells a write that was lost before it arrived from one that was done', async () => {
    const lamp = await connect().products.create({ name: 'Lamp' });
    const { products } = connect({}, first(1, unavailable()));
    expect((await products.replace(lamp, { name: 'Torch' })).data.name).to.equal('Torch');
  });

  it('knows that nothing was done where a limit was over', async () => {
    const lamp = await connect().products.create({ name: 'Lamp' });
    const limited = () => connect({}, first(1, refused(429, { 'Retry-After': '3' }))).products;
    const torch = await limited().patch(lamp.id, [{ op: 'replace', path: '/name', value: 'Torch' }]);
    expect([torch.data.name, waits]).to.deep.equal(['Torch', [3_000]]);
    expect(await refusal(limited().delete(lamp))).to.have.property('code', 'precondition_failed');
  });

  it('repeats no other refusal', async () => {
    const { products } = connect();
    expect(await refusal(products.create({ name: '' }))).to.have.property('code', 'validation_failed');
    expect(await refusal(products.read(1e15))).to.have.property('code', 'not_found');
    expect([tried.length, waits]).to.deep.equal([2, []]);
  });

  it('gives up after as many repetitions as it may make', async () => {
    const { products } = connect({ retry: { maxRetries: 2 } }, first(9, unavailable()));
    expect(await refusal(products.read(1)))
      .to.be.instanceOf(CatalogueError)
      .with.property('status', 503);
    expect(tried).to.have.length(3);
    const away = connect({ baseUrl: 'http://127.0.0.1:1', retry: { maxRetries: 1 } });
    expect(await refusal(away.products.read(1))).to.be.instanceOf(TypeError);
    expect(tried).to.have.length(2);
  });

  it('asks for the token before each try, and ends where there is none', async () => {
    const tokens = ['old', 'new'];
    const { products } = connect({ token: async () => tokens.shift() ?? '' }, first(1, unavailable()));
    expect(await refusal(products.read(1))).to.have.property('code', 'invalid_token');
    expect(tried.map(({ request }) => request.headers.get('Authorization'))).to.deep.equal([
      'Bearer old',
      'Bearer new',
    ]);
    const none = connect({ token: () => Promise.reject(new Error('no token')) });
    expect(await refusal(none.products.read(1))).to.have.property('message', 'no token');
    expect([tried, waits]).to.deep.equal([[], []]);
  });

  it('stops where it is told to, before a try, within one and while it waits', async () => {
    const reason = new Error('enough');
    const early = connect().products.read(1, { signal: AbortSignal.abort(reason) });
    expect(await refusal(early)).to.equal(reason);
    const within = new AbortController();
    const { products } = connect({}, () => (request) => {
      within.abort(reason);
      return proxied(request);
    });
    expect(await refusal(products.read(1, { signal: within.signal }))).to.equal(reason);
    expect([tried.length, waits]).to.deep.equal([1, []]);
    for (const soon of [true, false]) {
      const waiting = new AbortController();
      let requested = 0;
      const fetch: Fetch = async () => {
        if (requested++ > 0) throw new Error('asked again');
        if (soon) waiting.abort(reason);
        else setTimeout(() => waiting.abort(reason), 20);
        return unavailable({ 'Retry-After': '30' })();
      };
      const patient = createCatalogue({ baseUrl: 'https://localhost', fetch });
      expect(await refusal(patient.products.read(1, { signal: waiting.signal }))).to.equal(reason);
    }
  });
});
