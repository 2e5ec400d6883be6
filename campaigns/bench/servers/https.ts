/**
 * Node's HTTPS server on a Map, with a head as long as the service's. It is the floor: no program in Node that sends
 * such responses is faster.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { json } from 'node:stream/consumers';
import type { Draft, Entry } from './products.js';
import { announce, certificate, HEAD, productsInMemory, send } from './start.js';

const products = productsInMemory();

const server = createServer(certificate(), async (request, response) => {
  const { method, url = '' } = request;
  if (method === 'POST') {
    sendEntry(response, 201, products.create((await json(request)) as Draft));
  } else if (url.includes('?')) {
    const [, limit, cursor] = /limit=(\d+)(?:&cursor=(\d+))?/.exec(url) ?? [];
    const page = products.page(Number(cursor ?? 0), Number(limit));
    send(response, 200, JSON.stringify(page.products), page.next ? ['Link', page.next] : []);
  } else {
    const id = Number(url.slice(url.lastIndexOf('/') + 1));
    const entry = method === 'PATCH' ? products.patch(id, (await json(request)) as Draft) : products.find(id);
    if (!entry) response.writeHead(404).end();
    else if (isFresh(request, entry)) response.writeHead(304, [...HEAD, 'ETag', `"${entry.version}"`]).end();
    else sendEntry(response, 200, entry);
  }
});
server.listen(0, '127.0.0.1', () => announce(server));

function isFresh({ method, headers }: IncomingMessage, { version }: Entry): boolean {
  return method === 'GET' && headers['if-none-match'] === `"${version}"`;
}

function sendEntry(response: ServerResponse, status: number, { version, product }: Entry): void {
  const location = status === 201 ? ['Location', `/v1/products/${product.id}`] : [];
  send(response, status, JSON.stringify(product), ['ETag', `"${version}"`, ...location]);
}
