import type { RequestListener } from 'node:http';
import { connect, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { connectionOf } from '#src/adapters/inbound/http/server/connection.js';
import {
  createPlainServer,
  createTlsServer,
  Drain,
  type ServerTimeouts,
} from '#src/adapters/inbound/http/server/server.js';
import { LocalCa } from '#src/adapters/outbound/certificates/local-ca.js';
import { SystemClock } from '#src/adapters/outbound/system/clock.js';
import { listen } from '#src/process/listen.js';
import { concurrently } from '../support/concurrently.js';
import { HttpClient, received, statusesIn } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const TOKEN = `Authorization: Bearer ${FIRST_KEY}`;

describe('HTTP messages', () => {
  const service = inProcessService();
  const send = async (lines: string[], body = '') =>
    service.raw(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n${body}`);

  it('in plain HTTP on the TLS port get a plain-text 400 that names HTTPS', async () => {
    for (const line of [
      ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'BREW'].map(
        (method) => `${method} /products HTTP/1.1`,
      ),
      'GET /products HTTP/1.0',
      'CONNECT localhost:443 HTTP/1.1',
      'PRI * HTTP/2.0',
    ]) {
      const socket = connect(service.port, '127.0.0.1');
      socket.write(`${line}\r\nHost: evil.example\r\n${TOKEN}\r\n\r\n`);
      const text = await received(socket);
      expect(text, line).to.match(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(text, line).to.match(/\r\nConnection: close\r\n/);
      const [, body = ''] = text.split('\r\n\r\n');
      expect(text, line).to.include(`\r\nContent-Length: ${body.length}\r\n`);
      expect(body, line).to.equal(
        `This port serves HTTPS alone: use https:// in the address, as in https://localhost:${service.port}\n`,
      );
    }
    expect((await service.get('/products')).status).to.equal(200);
  });

  it('that are neither HTTP nor TLS get no HTTP response on the TLS port', async () => {
    for (const bytes of ['\x16\x03\x01\x00\x05hello', '\x15\x03\x01\x00\x02\x02\x28']) {
      const socket = connect(service.port, '127.0.0.1');
      socket.write(bytes, 'latin1');
      expect(await received(socket), bytes).to.not.include('HTTP');
    }
  });

  it('with many small headers lose none of them', async () => {
    const many = Array.from({ length: 1_500 }, () => 'A: b');
    expect(statusesIn(await send(['GET /products HTTP/1.1', 'Host: x', ...many, TOKEN]))).to.deep.equal(['200']);
  });

  describe('with Expect', () => {
    const post = (expectation: string, ...more: string[]) =>
      [
        'POST /products HTTP/1.1',
        'Host: x',
        TOKEN,
        'Content-Type: application/json',
        `Expect: ${expectation}`,
        ...more,
        '',
        '',
      ].join('\r\n');

    it('get 100 Continue if the body will be read', async () => {
      const socket = await service.connect();
      socket.write(post('100-continue', 'Content-Length: 15', 'Connection: close'));
      const interim = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
      expect(interim.toString()).to.equal('HTTP/1.1 100 Continue\r\n\r\n');
      socket.write('{"name":"Lamp"}');
      expect(statusesIn(await received(socket))[0]).to.equal('201');
    });

    it('in HTTP/1.0 get no 100 Continue', async () => {
      const old = post('100-continue', 'Content-Length: 15').replace('HTTP/1.1', 'HTTP/1.0');
      expect(await service.raw(`${old}{"name":"Lamp"}`)).to.match(/^HTTP\/1\.1 201 /);
    });
  });
});

const HOUR_MS = 3_600_000;
/** No timer ends a connection, however slow the machine is. */
const PATIENT = { handshakeMs: HOUR_MS, headersMs: HOUR_MS, requestMs: HOUR_MS, silenceMs: HOUR_MS };
const REQUEST_MS = 600;
/** Node wants no longer time for the headers than for the request. */
const REQUEST = { headersMs: REQUEST_MS, requestMs: REQUEST_MS };

describe('slow messages', () => {
  const folder = temporaryFolder();
  const readAll: RequestListener = (request, response) => {
    if (request.url === '/lifted') connectionOf(request.socket).deadline.lift(request);
    if (request.url === '/early') response.end('not read');
    request.on('error', () => {});
    request.resume().on('end', () => response.end('read'));
  };
  const servers = {
    TLS: async (timeouts: ServerTimeouts) => {
      const certificates = new LocalCa(`${folder}/tls`, new SystemClock());
      return {
        server: createTlsServer(await certificates.current(), readAll, { timeouts }),
        authorityFile: certificates.authorityFile,
      };
    },
    'plain HTTP': async (timeouts: ServerTimeouts) => ({
      server: createPlainServer(readAll, { timeouts }),
      authorityFile: undefined,
    }),
  };

  for (const [kind, start] of Object.entries(servers)) {
    describe(`over ${kind}`, () => {
      const running: Server[] = [];
      /** Starts a server with these times and no other. @returns a client of it */
      const serving = async (timeouts: Partial<ServerTimeouts>): Promise<HttpClient> => {
        const { server, authorityFile } = await start({ ...PATIENT, ...timeouts });
        running.push(server);
        return new HttpClient(await listen(server, '127.0.0.1', 0), authorityFile, '');
      };
      before(() => serving({}));
      after(() => Promise.all(running.map((server) => new Drain(server).drain(0))));

      /** Sends bytes one by one, for longer than a request may take: Node looks for late ones once a second. */
      const sendSlowly = async (socket: Socket, count: number) => {
        const startedAt = performance.now();
        for (let bytes = 1; bytes < count; bytes++) {
          await sleep(50);
          socket.write('x');
        }
        while (performance.now() - startedAt < REQUEST_MS + 1_500) await sleep(50);
        socket.write('x');
      };

      concurrently({
        'get 408 when the headers take too long': async () => {
          const client = await serving({ headersMs: 300 });
          expect(statusesIn(await client.raw('GET / HTTP/1.1\r\nHost: x\r\n'))).to.deep.equal(['408 request_timeout']);
        },

        'get 408 even if bytes keep arriving': async () => {
          const socket = await (await serving(REQUEST)).connect();
          const timer = setInterval(() => socket.write('x'), 50);
          socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n');
          const text = await received(socket);
          clearInterval(timer);
          expect(statusesIn(text)).to.deep.equal(['408 request_timeout']);
        },

        'may take longer if their deadline is lifted, but the next ones may not': async () => {
          const socket = await (await serving(REQUEST)).connect();
          socket.write('POST /lifted HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n\r\n');
          await sendSlowly(socket, 30);
          socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab');
          expect(statusesIn(await received(socket))).to.deep.equal(['200', '408 request_timeout']);
        },

        'may take longer behind another one with a lifted deadline': async () => {
          const socket = await (await serving(REQUEST)).connect();
          const head = (length: number) => `POST /lifted HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;
          socket.write(`${head(1)}x${head(20)}`);
          await sendSlowly(socket, 20);
          const responses = received(socket, /read[\s\S]*read/);
          expect(statusesIn(await responses)).to.deep.equal(['200', '200']);
        },

        'get no second response if they are late after the first': async () => {
          const socket = await (await serving(REQUEST)).connect();
          socket.write('POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab');
          expect(statusesIn(await received(socket))).to.deep.equal(['200']);
        },

        'are still cut off by silence if their deadline is lifted': async () => {
          const client = await serving({ ...REQUEST, silenceMs: 1_500 });
          const socket = await client.connect();
          socket.write('POST /lifted HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab');
          expect(await received(socket)).to.equal('');
        },

        'lose the connection if nothing arrives': async () => {
          const { port } = await serving({ handshakeMs: 300, headersMs: 300 });
          const text = await received(connect(port, '127.0.0.1'));
          if (kind === 'TLS') expect(text).to.equal('');
          else expect(statusesIn(text)).to.deep.equal(['408 request_timeout']);
        },
      });
    });

    it(`over ${kind} get 408 if the time for silence ends with that for a request`, async () => {
      const { server, authorityFile } = await start({ ...PATIENT, ...REQUEST, silenceMs: REQUEST_MS });
      const client = new HttpClient(await listen(server, '127.0.0.1', 0), authorityFile, '');
      try {
        for (const sent of ['', 'ab']) {
          const text = await client.raw(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n${sent}`);
          expect(statusesIn(text), sent).to.deep.equal(['408 request_timeout']);
        }
      } finally {
        await new Drain(server).drain(0);
      }
    });
  }
});
