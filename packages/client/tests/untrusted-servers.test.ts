import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { clientCredentials, createCatalogue, type Fetch } from 'product-catalogue-client';
import { all, rejection } from './catalogue-service.js';

const BASE = 'http://127.0.0.1:8443';
const responding =
  (response: () => Response): Fetch =>
  async () =>
    response();

describe('the client that reaches another server than the service', () => {
  const bodies: string[] = [];
  let elsewhere: Server;
  let redirecting: Server;
  const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  before(async () => {
    elsewhere = createServer(async (request, response) => {
      bodies.push(String(await request.toArray()));
      response.setHeader('Content-Type', 'application/json').end('{"id":1,"name":"Lamp"}');
    });
    redirecting = createServer((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(307, { Location: addressOf(elsewhere) }).end();
      });
    });
    for (const server of [elsewhere, redirecting])
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(() => {
    elsewhere.close();
    redirecting.close();
  });

  it('sends neither secrets nor records to the target of a redirect', async () => {
    const baseUrl = addressOf(redirecting);
    const unexpected = { status: 307, code: 'unexpected_response' };
    const { products, POST } = createCatalogue({ baseUrl });
    const token = clientCredentials({ baseUrl, clientId: 1, clientSecret: 'pcs_secret' });
    expect(await rejection(products.create({ name: 'Lamp' }))).to.deep.include(unexpected);
    expect(await rejection(token())).to.deep.include(unexpected);
    expect((await POST('/v1/products', { body: { name: 'Lamp' } })).response.status).to.equal(307);
    expect(bodies).to.deep.equal([]);
  });

  it('rejects a web page with status 200', async () => {
    const page = () => new Response('<h1>Welcome</h1>', { headers: { 'Content-Type': 'text/html' } });
    const { products } = createCatalogue({ baseUrl: BASE, fetch: responding(page) });
    const calls = [products.read(1), products.delete(1), all(products.list()), all(products.export())];
    for (const call of calls)
      expect(await rejection(call)).to.deep.include({ status: 200, code: 'unexpected_response' });
  });

  it('rejects a page whose next link is the page itself', async () => {
    const headers = { 'Content-Type': 'application/json', Link: '</v1/products>; rel="next"' };
    const { products } = createCatalogue({ baseUrl: BASE, fetch: responding(() => new Response('[]', { headers })) });
    expect(await rejection(all(products.list()))).to.deep.include({ status: 200, code: 'unexpected_response' });
  });

  it('stops waiting for a token when aborted', async () => {
    const controller = new AbortController();
    const { products } = createCatalogue({ baseUrl: BASE, token: () => new Promise<string>(() => {}) });
    const call = rejection(products.read(1, { signal: controller.signal }));
    controller.abort(new Error('enough'));
    expect(await call).to.have.property('message', 'enough');
  });

  it('does not quote an invalid token in the error', async () => {
    const { products } = createCatalogue({ baseUrl: BASE, token: 'pcs_se\ncret' });
    expect(String(await rejection(products.read(1))))
      .to.match(/token/)
      .and.not.match(/cret/);
  });

  it('waits longer each time if Retry-After is neither seconds nor a date', async () => {
    const waits: number[] = [];
    const sleep = async (ms: number) => void waits.push(ms);
    const unavailable = (value: string) => () => new Response('', { status: 503, headers: { 'Retry-After': value } });
    for (const value of ['-5', '1.5', '5, 6']) {
      const retry = { maxRetries: 2, sleep, random: () => 0 };
      const { products } = createCatalogue({ baseUrl: BASE, retry, fetch: responding(unavailable(value)) });
      await rejection(products.read(1));
    }
    expect(waits).to.deep.equal([125, 250, 125, 250, 125, 250]);
  });

  it('passes on an error whose Retry-After is longer than a timer can wait', async () => {
    const waits: number[] = [];
    const retry = { maxWaitMs: 1e12, sleep: async (ms: number) => void waits.push(ms) };
    const response = () => new Response('', { status: 429, headers: { 'Retry-After': '2592000' } });
    const { products } = createCatalogue({ baseUrl: BASE, retry, fetch: responding(response) });
    expect(await rejection(products.read(1))).to.have.property('status', 429);
    expect(waits).to.deep.equal([]);
  });

  it('requests a new token for each call if the response has no expires_in', async () => {
    let requests = 0;
    const fetch = responding(() => Response.json({ access_token: `token-${++requests}` }));
    const token = clientCredentials({ baseUrl: BASE, clientId: 1, clientSecret: 'pcs_secret', fetch });
    expect([await token(), await token()]).to.deep.equal(['token-1', 'token-2']);
  });

  it('closes the source of an import that is refused or never sent', async () => {
    const refusing = createServer((_request, response) => {
      response.writeHead(403).end('{"code":"insufficient_scope","message":"no","details":[]}');
    });
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
    const failing = () => Promise.reject(new Error('no token'));
    for (const token of ['pcs_key', failing]) {
      const { products } = createCatalogue({ baseUrl: addressOf(refusing), token });
      await new Promise<void>((onClose) => {
        async function* endless() {
          try {
            for (;;) {
              yield { name: 'Lamp' };
              await new Promise((resolve) => setTimeout(resolve, 1));
            }
          } finally {
            onClose();
          }
        }
        void rejection(all(products.import(endless())));
      });
    }
    refusing.close();
  });
});
