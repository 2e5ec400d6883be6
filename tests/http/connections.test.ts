import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect as netConnect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as tlsConnect } from 'node:tls';
import { expect } from 'chai';
import { createPlainServer, createTlsServer } from '#src/adapters/inbound/http/server/server.js';
import { listen } from '#src/composition/listen.js';
import { serverPair } from '../support/certificates.js';
import { HttpClient } from '../support/http-client.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const MOST = 4;
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

describe('connections at once', () => {
  const folder = temporaryFolder();
  for (const kind of ['TLS', 'plain HTTP']) {
    describe(`over ${kind}`, () => {
      let server: Server;
      let client: HttpClient;
      let sockets: Socket[] = [];
      /** What has begun a request and does not end it. */
      const busy = async () => {
        const socket = await client.connect();
        sockets.push(socket);
        socket.on('error', () => {});
        socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
        return socket;
      };
      const finished = async (socket: Socket) => {
        socket.write('\r\n');
        const [chunk] = await once(socket, 'data');
        return String(chunk).slice(0, 15);
      };
      const isServed = () =>
        client.raw(REQUEST, /here/).then(
          (text) => text.includes('here'),
          () => false,
        );
      const becomesServed = async () => {
        for (const end = Date.now() + 5_000; Date.now() < end; await sleep(20))
          if (await isServed()) return true;
        return false;
      };

      before(async () => {
        const { authority, ...identity } = await serverPair(folder);
        const options = { maxConnections: { max: MOST, maxPerAddress: MOST } };
        server =
          kind === 'TLS'
            ? createTlsServer(identity, (_request, response) => response.end('here'), options)
            : createPlainServer((_request, response) => response.end('here'), options);
        const port = await listen(server, '127.0.0.1', 0);
        client = new HttpClient(port, kind === 'TLS' ? authority : undefined, '');
      });
      afterEach(() => {
        for (const socket of sockets) socket.destroy();
        sockets = [];
      });
      after(() => {
        server.close();
        server.closeAllConnections();
      });

      it('are bounded: one more is closed, those that stand go on, and each that ends makes room', async () => {
        const held = await Promise.all(Array.from({ length: MOST }, busy));
        expect(await isServed()).to.equal(false);
        expect(await isServed()).to.equal(false);
        const [first, second] = held as [Socket, Socket];
        expect(await finished(first)).to.equal('HTTP/1.1 200 OK');
        second.destroy();
        expect(await becomesServed()).to.equal(true);
      });

      it('that are kept without a request make room for those that ask', async () => {
        const kept = await Promise.all(Array.from({ length: MOST - 1 }, busy));
        for (const socket of kept) await finished(socket);
        const closed = Promise.all(kept.map((socket) => once(socket.resume(), 'close')));
        expect(await isServed()).to.equal(true);
        await closed;
      });
    });
  }

  describe('of one address', () => {
    let server: Server;
    let port: number;
    let ca: string;

    before(async () => {
      const { authority, ...identity } = await serverPair(folder);
      ca = readFileSync(authority, 'utf8');
      const options = { maxConnections: { max: 8, maxPerAddress: 2 } };
      server = createTlsServer(identity, (_request, response) => response.end('here'), options);
      port = await listen(server, '127.0.0.1', 0);
    });
    after(() => {
      server.close();
      server.closeAllConnections();
    });

    /** @returns the connection, or undefined if it is closed before TLS is spoken */
    const open = async (localAddress: string) => {
      const socket = tlsConnect({
        socket: netConnect({ host: '127.0.0.1', port, localAddress }),
        ca,
        servername: 'localhost',
      });
      socket.on('error', () => {});
      return new Promise<Socket | undefined>((resolve) => {
        socket.once('secureConnect', () => resolve(socket));
        socket.once('close', () => resolve(undefined));
      });
    };

    it('are bounded below those of all: another address is served, and each that ends makes room', async () => {
      const [first, second] = [await open('127.0.0.1'), await open('127.0.0.1')];
      expect(await open('127.0.0.1')).to.equal(undefined);
      const other = await open('127.0.0.2');
      expect([first, second, other]).to.not.include(undefined);
      first?.destroy();
      let again: Socket | undefined;
      for (let attempt = 0; attempt < 100 && !again; attempt++) {
        await sleep(20);
        again = await open('127.0.0.1');
      }
      expect(again).to.not.equal(undefined);
      for (const socket of [second, other, again]) socket?.destroy();
    });
  });
});
