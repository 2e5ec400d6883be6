import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Context } from '#src/adapters/inbound/http/core/context.js';
import { connectionOf } from '#src/adapters/inbound/http/server/connection.js';
import { received } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { middlewareHarness } from '../support/middleware-harness.js';

const KIB = 1_024;

/** @returns the text in chunks of `size` characters, without the last chunk */
function chunked(text: string, size: number): string {
  const chunks: string[] = [];
  for (let at = 0; at < text.length; at += size) {
    const piece = text.slice(at, at + size);
    chunks.push(`${piece.length.toString(16)}\r\n${piece}\r\n`);
  }
  return chunks.join('');
}

describe('a chunked body', () => {
  const service = inProcessService();
  const AUTHORIZED = `Host: x\r\nAuthorization: Bearer ${FIRST_KEY}\r\nTransfer-Encoding: chunked\r\n`;

  for (const size of [1, 7, 300, 70_000])
    it(`in chunks of ${size} bytes is read unchanged, and so is the next request on the connection`, async () => {
      const description = Array.from({ length: 4_900 }, (_, i) => String.fromCharCode(97 + (i % 26))).join('');
      const body = JSON.stringify({ name: 'x', description }).padEnd(100 * KIB);
      const head = `POST /products HTTP/1.1\r\n${AUTHORIZED}Content-Type: application/json\r\n`;
      const request = (more: string) => `${head}${more}\r\n${chunked(body, size)}0\r\n\r\n`;
      const text = await service.raw(request('') + request('Connection: close\r\n'));
      expect(text.match(/HTTP\/1\.1 201 /g)).to.have.length(2);
      expect(text.split(description)).to.have.length(3);
    });

  it('in small chunks is read completely behind a large response that the client reads late', async () => {
    const large = 'd'.repeat(5_000);
    const lines = `${JSON.stringify({ name: 'x', description: large })}\n`.repeat(900);
    await service.post('/products/imports', lines, { headers: { 'Content-Type': 'application/x-ndjson' } });
    const socket = await service.connect();
    socket.on('error', () => {});
    socket.pause();
    const page = `GET /products?limit=1000 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${FIRST_KEY}\r\n\r\n`;
    const records = '{"name":"late"}\n'.repeat(3_000);
    const head = `POST /products/imports HTTP/1.1\r\n${AUTHORIZED}Content-Type: application/x-ndjson\r\nConnection: close\r\n\r\n`;
    socket.write(`${page.repeat(3)}${head}${chunked(records, 3)}0\r\n\r\n`);
    await sleep(200);
    const text = await received(socket.resume());
    expect(text.match(/HTTP\/1\.1 200 OK/g)).to.have.length(4);
    expect(text.match(/"status":201/g)).to.have.length(3_000);
  });
});

describe('a malformed chunk', () => {
  const service = inProcessService();
  const AUTHORIZED = `Host: x\r\nAuthorization: Bearer ${FIRST_KEY}\r\nTransfer-Encoding: chunked\r\n`;

  it('behind the head of a DELETE is refused, and nothing is deleted', async () => {
    const { id } = (await service.post('/products', { name: 'x' })).json;
    const text = await service.raw(`DELETE /products/${id} HTTP/1.1\r\n${AUTHORIZED}\r\nzz\r\n`);
    expect(text).to.match(/^HTTP\/1\.1 400 /);
    expect((await service.get(`/products/${id}`)).status).to.equal(200);
  });

  it('behind the first lines of an import is refused, and nothing is created', async () => {
    const type = 'Content-Type: application/x-ndjson\r\n';
    const lines = chunked('{"name":"ghost"}\n', 100);
    const text = await service.raw(`POST /products/imports HTTP/1.1\r\n${AUTHORIZED}${type}\r\n${lines}zz\r\n`);
    expect(text).to.match(/^HTTP\/1\.1 400 /);
    expect((await service.get('/products?name=ghost')).json).to.deep.equal([]);
  });
});

describe('a malformed chunk that arrives later', () => {
  const service = middlewareHarness((_ctx, next) => next());

  /** Sends a head, waits until the handler runs, and sends the malformed chunk. @returns the response */
  const respondTo = async (method: string, prepare: (ctx: Context) => void): Promise<string> => {
    const handled = new Promise<void>((resolve) => {
      service.handler = (ctx) => {
        prepare(ctx);
        resolve();
        return new Promise((done) => ctx.res.once('close', done));
      };
    });
    const socket = await service.connect();
    socket.on('error', () => {});
    socket.write(`${method} / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n`);
    await handled;
    socket.write('zz\r\n');
    return received(socket);
  };

  it('gets no response if the request may have written: a DELETE, or an import', async () => {
    expect(await respondTo('DELETE', () => {})).to.equal('');
    expect(await respondTo('POST', (ctx) => connectionOf(ctx.req.socket).deadline.lift(ctx.req))).to.equal('');
  });

  it('gets 400 if the request waits for its body', async () => {
    expect(await respondTo('POST', () => {})).to.match(/^HTTP\/1\.1 400 /);
  });
});

describe('chunks of 1 byte', () => {
  const SOCKETS = 10;
  const service = middlewareHarness((_ctx, next) => next());

  it('are merged into larger pieces, and do not block other requests', async () => {
    let bytes = 0;
    let pieces = 0;
    service.handler = async (ctx) => {
      if (ctx.method === 'GET') {
        ctx.body = 'here';
        return;
      }
      for await (const piece of ctx.req) {
        bytes += piece.length;
        pieces++;
      }
      ctx.status = 204;
    };
    const sockets: Socket[] = await Promise.all(Array.from({ length: SOCKETS }, () => service.connect()));
    const body = chunked('x'.repeat(80 * KIB), 1);
    const done = sockets.map((socket) => {
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}0\r\n\r\n`);
      return once(socket, 'data');
    });
    let served = 0;
    let areDone = false;
    const all = Promise.all(done).then(() => {
      areDone = true;
    });
    while (!areDone) {
      await service.get('/');
      served++;
    }
    await all;
    for (const socket of sockets) socket.destroy();
    expect(bytes).to.equal(SOCKETS * 80 * KIB);
    expect(bytes / pieces).to.be.above(1_000);
    // Reading all of them in each turn of the event loop would let only a few through.
    expect(served).to.be.above(SOCKETS);
  });
});
