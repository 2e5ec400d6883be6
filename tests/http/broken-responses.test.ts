import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { koaListener } from '#src/adapters/inbound/http/pipeline/app.js';
import { createPlainServer, createTlsServer, Drain } from '#src/adapters/inbound/http/server/server.js';
import { listen } from '#src/process/listen.js';
import { serverPair } from '../support/certificates.js';
import { HttpClient } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { listService } from '../support/middleware-harness.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** How a connection ended: a client of HTTP/1.0 takes what it has for complete if there is no error. */
function endOf(socket: Socket): Promise<{ text: string; ended: boolean; code: string | undefined }> {
  let text = '';
  let ended = false;
  let code: string | undefined;
  socket.on('data', (chunk) => (text += chunk));
  socket.on('end', () => (ended = true));
  socket.on('error', (error: NodeJS.ErrnoException) => (code = error.code));
  return new Promise((resolve) => socket.on('close', () => resolve({ text, ended, code })));
}

const RESET = { ended: false, code: 'ECONNRESET' };

describe('an export', () => {
  const service = listService();
  const LINES = { ndjson: 'application/x-ndjson', csv: 'text/csv' };

  for (const version of ['1.0', '1.1'])
    for (const [name, type] of Object.entries(LINES))
      it(`as ${name} in HTTP/${version} ends with a reset if reading fails`, async () => {
        await service.records.fill(500);
        service.records.before = (page) => (page === 3 ? Promise.reject(new Error('disk')) : undefined);
        const socket = await service.connect();
        socket.write(`GET /products HTTP/${version}\r\nHost: x\r\nAccept: ${type}\r\n\r\n`);
        const { text, ...end } = await endOf(socket);
        expect(end).to.deep.equal(RESET);
        expect(text).to.match(/^HTTP\/1\.1 200 /);
      });

  it('in HTTP/1.0 ends in order if it is complete', async () => {
    await service.records.fill(500);
    for (const type of Object.values(LINES)) {
      const socket = await service.connect();
      socket.write(`GET /products HTTP/1.0\r\nHost: x\r\nAccept: ${type}\r\n\r\n`);
      const { text, ...end } = await endOf(socket);
      expect(end).to.deep.equal({ ended: true, code: undefined });
      expect(text.split('\n').filter((line) => line.includes('p500'))).to.have.length(1);
    }
  });
});

describe('an import in HTTP/1.0 whose results cannot be completed', () => {
  const service = inProcessService();

  it('ends with a reset if writing fails', async () => {
    const { products } = service.application.storage;
    const insertAll = products.insertAll.bind(products);
    let calls = 0;
    products.insertAll = (records) => (calls++ === 0 ? insertAll(records) : Promise.reject(new Error('disk')));
    const line = '{"name":"Lamp"}\n';
    const head = [
      'POST /products/imports HTTP/1.0',
      `Authorization: Bearer ${FIRST_KEY}`,
      'Content-Type: application/x-ndjson',
      `Content-Length: ${2 * line.length}`,
    ];
    const socket = await service.connect();
    const end = endOf(socket);
    socket.write(`${head.join('\r\n')}\r\n\r\n${line}`);
    await once(socket, 'data');
    socket.write(line);
    const { text, ...how } = await end;
    expect(text).to.match(/^HTTP\/1\.1 200 [\s\S]*\{"line":1,"status":201,"id":1\}\n$/);
    expect([how, calls]).to.deep.equal([RESET, 2]);
  });
});

for (const transport of ['TLS', 'plain HTTP'])
  describe(`over ${transport}, a connection whose response has begun`, () => {
    const folder = temporaryFolder();
    let server: Server;
    let client: HttpClient;
    let fail = () => {};

    beforeEach(async () => {
      const listener = koaListener(
        [
          (ctx) => {
            const body = new Readable({ read() {} });
            body.push('first line\n');
            fail = () => body.destroy(new Error('disk'));
            ctx.set('Content-Type', 'text/plain');
            ctx.body = body;
          },
        ],
        () => {},
      );
      const { cert, key, authority } = await serverPair(folder);
      const isTls = transport === 'TLS';
      server = isTls ? createTlsServer({ cert, key }, listener) : createPlainServer(listener);
      const port = await listen(server, '127.0.0.1', 0);
      client = new HttpClient(port, isTls ? authority : undefined, 'none');
    });
    afterEach(() => {
      server.close();
      server.closeAllConnections();
    });

    /** @returns how the connection ends after `cut`, which is called when the first bytes have come */
    const endAfter = async (version: string, cut: () => unknown) => {
      const socket = await client.connect();
      const end = endOf(socket);
      socket.write(`GET / HTTP/${version}\r\nHost: x\r\n\r\n`);
      await once(socket, 'data');
      await cut();
      const { ended, code } = await end;
      return { ended, code };
    };

    for (const version of ['1.0', '1.1']) {
      it(`is reset if its source fails, in HTTP/${version}`, async () => {
        expect(await endAfter(version, () => fail())).to.deep.equal(RESET);
      });

      it(`is reset if the time of a drain is over, in HTTP/${version}`, async () => {
        const drain = new Drain(server);
        expect(await endAfter(version, () => drain.drain(0))).to.deep.equal(RESET);
      });
    }
  });
