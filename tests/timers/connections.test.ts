import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { RequestListener, Server } from 'node:http';
import { connect as netConnect, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createPlainServer, createTlsServer, type ServerOptions } from '#src/adapters/inbound/http/server/server.js';
import { listen } from '#src/process/listen.js';
import { serverPair } from '../support/certificates.js';
import { HttpClient, received } from '../support/http-client.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const MAX_CONNECTIONS = 4;
const HOUR_MS = 3_600_000;
/** No timer ends a connection, however slow the machine is. */
const PATIENT = { handshakeMs: HOUR_MS, headersMs: HOUR_MS, requestMs: HOUR_MS, silenceMs: HOUR_MS };
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

describe('concurrent connections', () => {
  const folder = temporaryFolder();
  for (const kind of ['TLS', 'plain HTTP'])
    describe(`over ${kind}`, () => {
      let server: Server;
      let client: HttpClient;
      let sockets: Socket[] = [];
      /** @returns a connection with an unfinished request */
      const openBusy = async () => {
        const socket = await client.connect();
        sockets.push(socket);
        socket.on('error', () => {});
        socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
        return socket;
      };
      const finishRequest = async (socket: Socket) => {
        socket.write('\r\n');
        const [chunk] = await once(socket, 'data');
        return String(chunk).slice(0, 15);
      };
      const isServed = () =>
        client
          .raw(REQUEST, /here/)
          .then((text) => text.includes('here'))
          .catch(() => false);

      before(async () => {
        const { authority, ...identity } = await serverPair(folder);
        const maxConnections = { max: MAX_CONNECTIONS, maxPerAddress: MAX_CONNECTIONS };
        const options = { timeouts: PATIENT, maxConnections };
        server =
          kind === 'TLS'
            ? createTlsServer(identity, (_request, response) => response.end('here'), options)
            : createPlainServer((_request, response) => response.end('here'), options);
        const port = await listen(server, '127.0.0.1', 0);
        client = new HttpClient(port, kind === 'TLS' ? authority : undefined, '');
      });
      afterEach(async () => {
        for (const socket of sockets) socket.destroy();
        sockets = [];
        server.closeIdleConnections();
        const connections = promisify(server.getConnections.bind(server));
        await until('no connection is left', async () => (await connections()) === 0);
      });
      after(() => {
        server.close();
        server.closeAllConnections();
      });

      it('are limited: one more is closed, the existing ones continue, and a closed one makes room', async () => {
        const connections = await Promise.all(Array.from({ length: MAX_CONNECTIONS }, openBusy));
        expect(await isServed()).to.equal(false);
        expect(await isServed()).to.equal(false);
        const [first, second] = connections as [Socket, Socket];
        expect(await finishRequest(first)).to.equal('HTTP/1.1 200 OK');
        second.destroy();
        await until('a new connection is served', isServed);
      });

      it('that are idle are closed to make room for new ones', async () => {
        const idle = await Promise.all(Array.from({ length: MAX_CONNECTIONS - 1 }, openBusy));
        for (const socket of idle) await finishRequest(socket);
        const closed = Promise.all(idle.map((socket) => once(socket.resume(), 'close')));
        expect(await isServed()).to.equal(true);
        await closed;
      });

      it('that have not sent their first request yet are not closed for new ones', async () => {
        sockets = await Promise.all(Array.from({ length: MAX_CONNECTIONS - 1 }, () => client.connect()));
        expect(await isServed()).to.equal(true);
        for (const socket of sockets) {
          socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
          expect(await finishRequest(socket)).to.equal('HTTP/1.1 200 OK');
        }
      });
    });

  describe('from one IP address', () => {
    let server: Server;
    let port: number;
    let ca: string;

    before(async () => {
      const { authority, ...identity } = await serverPair(folder);
      ca = readFileSync(authority, 'utf8');
      const options = { timeouts: PATIENT, maxConnections: { max: 8, maxPerAddress: 2 } };
      server = createTlsServer(identity, (_request, response) => response.end('here'), options);
      port = await listen(server, '127.0.0.1', 0);
    });
    after(() => {
      server.close();
      server.closeAllConnections();
    });

    /** @returns the connection, or undefined if it is closed before the TLS handshake */
    const open = async (localAddress: string) => {
      const plain = netConnect({ host: '127.0.0.1', port, localAddress });
      const socket = tlsConnect({ socket: plain, ca, servername: 'localhost' });
      socket.on('error', () => {});
      return new Promise<Socket | undefined>((resolve) => {
        socket.once('secureConnect', () => resolve(socket));
        socket.once('close', () => resolve(undefined));
      });
    };

    it('have a lower limit: another IP address is served, and a closed connection makes room', async () => {
      const [first, second] = [await open('127.0.0.1'), await open('127.0.0.1')];
      expect(await open('127.0.0.1')).to.equal(undefined);
      const other = await open('127.0.0.2');
      expect([first, second, other]).to.not.include(undefined);
      first?.destroy();
      let again: Socket | undefined;
      await until('another connection is served', async () => {
        again = await open('127.0.0.1');
        return again !== undefined;
      });
      for (const socket of [second, other, again]) socket?.destroy();
    });
  });
});

describe('the last response of a connection', () => {
  const folder = temporaryFolder();
  for (const kind of ['TLS', 'plain HTTP'])
    describe(`over ${kind}`, () => {
      const BODY = 'x'.repeat(100_000);
      let server: Server;
      let handled = 0;

      /** @returns a client of a server that reads on for this time */
      const start = async (lingerMs: number) => {
        const { authority, ...identity } = await serverPair(folder);
        const respond: RequestListener = (_request, response) => {
          handled++;
          response.setHeader('Connection', 'close').end(BODY);
        };
        const options: ServerOptions = { timeouts: PATIENT, lingerMs };
        server = kind === 'TLS' ? createTlsServer(identity, respond, options) : createPlainServer(respond, options);
        const port = await listen(server, '127.0.0.1', 0);
        return new HttpClient(port, kind === 'TLS' ? authority : undefined, '');
      };
      beforeEach(() => (handled = 0));
      afterEach(() => {
        server.close();
        server.closeAllConnections();
      });

      const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n';
      for (const [what, head, piece] of [
        ['its body', HEAD, 'y'.repeat(16_384)],
        ['other requests', REQUEST, REQUEST.repeat(200)],
      ] as const)
        it(`reaches a client that still sends ${what}`, async () => {
          const client = await start(HOUR_MS);
          const socket = await client.connect();
          const errors: Error[] = [];
          socket.pause().on('error', (error) => errors.push(error));
          const response = received(socket);
          socket.write(head);
          await until('the request is handled', () => handled === 1);
          for (let at = 0; at < 50; at++) await new Promise((sent) => socket.write(piece, sent));
          socket.resume();
          const text = await response;
          expect(errors).to.deep.equal([]);
          expect(text).to.match(/^HTTP\/1\.1 200 OK\r\n/);
          expect(text.endsWith(BODY)).to.equal(true);
          expect(handled).to.equal(1);
        });

      it('is followed by the end of the connection, even if the client does not close its side', async () => {
        const client = await start(50);
        const socket = await client.connect();
        // A client that does not read does not see the end.
        socket.pause().write(HEAD);
        await until('the request is handled', () => handled === 1);
        const connections = promisify(server.getConnections.bind(server));
        expect(await connections()).to.equal(1);
        await until('the connection is closed', async () => (await connections()) === 0);
        socket.destroy();
      });
    });
});
