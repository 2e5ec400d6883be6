import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { clientCredentials, createCatalogue, type Fetch } from 'product-catalogue-client';
import { all, refusal } from './catalogue-service.js';

const BASE = 'http://127.0.0.1:8443';
const responding =
  (response: () => Response): Fetch =>
  async () =>
    response();

describe('the client before somebody else than the service', () => {
  const bodies: string[] = [];
  let elsewhere: Server;
  let leading: Server;
  const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  before(async () => {
    elsewhere = createServer(async (request, response) => {
      bodies.push(String(await request.toArray()));
      response.setHeader('Content-Type', 'application/json').end('{"id":1,"name":"Lamp"}');
    });
    leading = createServer((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(307, { Location: addressOf(elsewhere) }).end();
      });
    });
    for (const server of [elsewhere, leading])
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(() => {
    elsewhere.close();
    leading.close();
  });

  it('carries neither secrets nor records to where it is led', async () => {
    const baseUrl = addressOf(leading);
    const unexpected = { status: 307, code: 'unexpected_answer' };
    const { products, POST } = createCatalogue({ baseUrl });
    const token = clientCredentials({ baseUrl, clientId: 1, clientSecret: 'pcs_secret' });
    expect(await refusal(products.create({ name: 'Lamp' }))).to.deep.include(unexpected);
    expect(await refusal(token())).to.deep.include(unexpected);
    expect((await POST('/v1/products', { body: { name: 'Lamp' } })).response.status).to.equal(307);
    expect(bodies).to.deep.equal([]);
  });

  it('takes no page for a success', async () => {
    const page = () => new Response('<h1>Welcome</h1>', { headers: { 'Content-Type': 'text/html' } });
    const { products } = createCatalogue({ baseUrl: BASE, fetch: responding(page) });
    const calls = [products.read(1), products.delete(1), all(products.list()), all(products.export())];
    for (const call of calls)
      expect(await refusal(call)).to.deep.include({ status: 200, code: 'unexpected_answer' });
  });

  it('follows no page that leads to itself', async () => {
    const headers = { 'Content-Type': 'application/json', Link: '</v1/products>; rel="next"' };
    const { products } = createCatalogue({
      baseUrl: BASE,
      fetch: responding(() => new Response('[]', { headers })),
    });
    expect(await refusal(all(products.list()))).to.deep.include({ status: 200, code: 'unexpected_answer' });
  });

  it('lets go of a token that never comes, when it is told to', async () => {
    const controller = new AbortController();
    const { products } = createCatalogue({ baseUrl: BASE, token: () => new Promise<string>(() => {}) });
    const call = refusal(products.read(1, { signal: controller.signal }));
    controller.abort(new Error('enough'));
    expect(await call).to.have.property('message', 'enough');
  });

  it('tells nobody a token that cannot be sent', async () => {
    const { products } = createCatalogue({ baseUrl: BASE, token: 'pcs_se\ncret' });
    expect(String(await refusal(products.read(1))))
      .to.match(/token/)
      .and.not.match(/cret/);
  });

  it('waits longer each time where Retry-After is neither seconds nor a time', async () => {
    const waits: number[] = [];
    const sleep = async (ms: number) => void waits.push(ms);
    const put = (value: string) => () => new Response('', { status: 503, headers: { 'Retry-After': value } });
    for (const value of ['-5', '1.5', '5, 6']) {
      const retry = { maxRetries: 2, sleep, random: () => 0 };
      const { products } = createCatalogue({ baseUrl: BASE, retry, fetch: responding(put(value)) });
      await refusal(products.read(1));
    }
    expect(waits).to.deep.equal([125, 250, 125, 250, 125, 250]);
  });

  it('hands on a refusal that asks for more than a timer can wait', async () => {
    const waits: number[] = [];
    const retry = { maxWaitMs: 1e12, sleep: async (ms: number) => void waits.push(ms) };
    const response = () => new Response('', { status: 429, headers: { 'Retry-After': '2592000' } });
    const { products } = createCatalogue({ baseUrl: BASE, retry, fetch: responding(response) });
    expect(await refusal(products.read(1))).to.have.property('status', 429);
    expect(waits).to.deep.equal([]);
  });

  it('asks for a new token each time where nobody says how long one is good', async () => {
    let requested = 0;
    const fetch = responding(() => Response.json({ access_token: `token-${++requested}` }));
    const token = clientCredentials({ baseUrl: BASE, clientId: 1, clientSecret: 'pcs_secret', fetch });
    expect([await token(), await token()]).to.deep.equal(['token-1', 'token-2']);
  });

  it('lets go of the records of an import that is refused, or never sent', async () => {
    const refusing = createServer((_request, response) => {
      response.writeHead(403).end('{"code":"insufficient_scope","message":"no","details":[]}');
    });
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
    const failing = () => Promise.reject(new Error('no token'));
    for (const token of ['pcs_key', failing]) {
      const { products } = createCatalogue({ baseUrl: addressOf(refusing), token });
      await new Promise<void>((letGo) => {
        async function* endless() {
          try {
            for (;;) {
              yield { name: 'Lamp' };
              await new Promise((resolve) => setTimeout(resolve, 1));
            }
          } finally {
            letGo();
          }
        }
        void refusal(all(products.import(endless())));
      });
    }
    refusing.close();
  });
});
