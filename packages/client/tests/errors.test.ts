import { expect } from 'chai';
import { CatalogueError, createCatalogue, type Fetch } from 'product-catalogue-client';
import { inProcessService } from '../../../tests/support/in-process-service.js';
import { catalogueService, rejection } from './catalogue-service.js';

const responding = (status: number, body: unknown) => () => async () => Response.json(body, { status });

describe('an error of the client', () => {
  const { connect } = catalogueService();

  it('has every detail and the request id, and its message has the code and the first detail', async () => {
    const order = { userId: 99, items: [{ productId: 98, quantity: 1 }] };
    const error = (await rejection(connect().orders.create(order))) as CatalogueError;
    expect(error).to.be.instanceOf(CatalogueError).and.an('error');
    expect(error).to.deep.include({ status: 400, code: 'validation_failed' });
    expect(error.requestId).to.have.length(36);
    expect(error.details.map((detail) => [detail.code, 'pointer' in detail && detail.pointer])).to.deep.equal([
      ['reference_not_found', '/userId'],
      ['reference_not_found', '/items/0/productId'],
    ]);
    expect(error.message).to.equal(
      'validation_failed: userId must be the id of one of the users, an integer from 1; none has this id (/userId), and 1 more',
    );
  });

  it('has no location in its message if the detail has no pointer, or points to the whole body', async () => {
    const { products } = connect();
    expect(await rejection(products.list({ limit: 0 }).next()))
      .to.have.property('message')
      .that.matches(/^invalid_parameter: [^()]*\blimit\b[^()]*[^.()]$/);
    expect(await rejection(products.create([] as never)))
      .to.have.property('message')
      .that.matches(/^validation_failed: [^()]+$/);
  });

  it('has the message of the service if there are no details', async () => {
    expect(await rejection(connect().products.read(99))).to.have.property('message', 'not_found: Not found');
  });

  it('has the wait that the service asks for, in seconds, rounded up', async () => {
    const body = { code: 'rate_limited', message: 'x', details: [] };
    const waiting = (retryAfter: string) => () => async () =>
      Response.json(body, { status: 429, headers: { 'Retry-After': retryAfter } });
    const options = { retry: { maxRetries: 0 } };
    const waitOf = async (retryAfter: string) =>
      ((await rejection(connect(options, waiting(retryAfter)).products.read(1))) as CatalogueError).retryAfterSeconds;
    expect(await waitOf('17')).to.equal(17);
    expect(await waitOf(new Date(Date.now() + 90_500).toUTCString())).to.be.within(1, 91);
    expect(await waitOf('soon')).to.equal(undefined);
  });

  it('is unexpected_response if another server responded', async () => {
    const gateway = () => async () => new Response('<h1>Bad Gateway</h1>', { status: 502 });
    const unexpected = { status: 502, code: 'unexpected_response', details: [], requestId: undefined };
    expect(await rejection(connect({}, gateway).products.read(1))).to.deep.include(unexpected);
    for (const details of [['x'], [null], [{ code: 'required' }], [{ message: 1 }], 'x', null]) {
      const body = { code: 'validation_failed', message: 'no', details };
      expect(await rejection(connect({}, responding(502, body)).products.read(1))).to.deep.include(unexpected);
    }
  });
});

describe('the TLS check of the client', () => {
  const service = inProcessService();
  const waits: number[] = [];
  const retry = { sleep: async (ms: number) => void waits.push(ms) };

  it('names NODE_EXTRA_CA_CERTS and the cause if Node does not trust the CA, and is not repeated', async () => {
    const baseUrl = `https://localhost:${service.port}`;
    const { products } = createCatalogue({ baseUrl, retry });
    const error = (await rejection(products.read(1))) as TypeError;
    expect(error).to.be.instanceOf(TypeError);
    const { cause } = error.cause as { cause: { message: string } };
    expect(error.message).to.include(`${baseUrl} was rejected: ${cause.message}`).and.include('NODE_EXTRA_CA_CERTS');
    expect(waits).to.deep.equal([]);
  });

  it('names only the cause if another CA would not help', async () => {
    const cause = Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' });
    const fetch: Fetch = () => Promise.reject(new TypeError('fetch failed', { cause }));
    const { products } = createCatalogue({ baseUrl: 'https://shop.example/api', fetch, retry });
    expect(await rejection(products.read(1))).to.have.property(
      'message',
      'The certificate of https://shop.example was rejected: certificate has expired (CERT_HAS_EXPIRED)',
    );
  });

  it('leaves other network errors as they are, after the retries', async () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    for (const failure of [new TypeError('fetch failed', { cause }), new TypeError('Failed to fetch')]) {
      const options = { baseUrl: 'https://shop.example', fetch: () => Promise.reject(failure), retry };
      expect(await rejection(createCatalogue(options).products.read(1))).to.equal(failure);
    }
    expect(waits).to.have.length(10);
  });
});
