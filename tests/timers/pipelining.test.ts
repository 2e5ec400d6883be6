import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  createPlainServer,
  createTlsServer,
  Drain,
  type ServerTimeouts,
} from '#src/adapters/inbound/http/server/server.js';
import { listen } from '#src/process/listen.js';
import { serverPair } from '../support/certificates.js';
import { HttpClient, received, statusesIn } from '../support/http-client.js';
import { sized } from '../support/run-settings.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

interface Exchange {
  /** The length of the response. */
  readonly pad: number;
  /** Milliseconds before the response. */
  readonly pause: number;
  /** The length of the body. */
  readonly body: number;
  /** The length of each chunk of the body; 0 for a body with Content-Length. */
  readonly chunk: number;
}

const EXCHANGE = fc.record({
  pad: fc.constantFrom(8, 8, 8, 40_000, 300_000),
  pause: fc.constantFrom(0, 0, 0, 0, 3),
  body: fc.constantFrom(0, 0, 0, 10, 5_000, 70_000),
  chunk: fc.constantFrom(0, 0, 1_000, 7),
});
const PIECES = fc.array(
  fc.record({ size: fc.constantFrom(3_000, 20_000, 400_000), wait: fc.constantFrom(0, 0, 2), pauses: fc.boolean() }),
  { minLength: 1, maxLength: 20 },
);

function messageOf({ pad, pause, body, chunk }: Exchange, connection = 'keep-alive'): string {
  const head = `POST /${pad}/${pause} HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\n`;
  if (chunk === 0) return `${head}Content-Length: ${body}\r\n\r\n${'x'.repeat(body)}`;
  const chunks: string[] = [];
  for (let rest = body; rest > 0; rest -= chunk) {
    const size = Math.min(chunk, rest);
    chunks.push(`${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`);
  }
  return `${head}Transfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`;
}

const CONNECT = 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n';

/** Sends it piece by piece, as fast as the connection takes it. */
function sendStream(text: string, response: ServerResponse): void {
  response.setHeader('Content-Length', text.length);
  Readable.from(text.match(/.{1,10000}/g) ?? []).pipe(response);
}

describe('pipelined requests', () => {
  for (const kind of ['TLS', 'plain HTTP'])
    describe(`over ${kind}`, () => {
      const folder = temporaryFolder();
      /** No request meets them, however slow the machine is. */
      const LONG = { handshakeMs: 600_000, headersMs: 600_000, requestMs: 600_000, silenceMs: 600_000 };
      const REQUEST_MS = 3_000;
      const drains: Drain[] = [];
      let client: HttpClient;
      /** The client of a server that soon closes a silent connection. */
      let impatient: HttpClient;
      /** The client of a server that soon ends a request that is not complete. */
      let timed: HttpClient;
      let begun: [IncomingMessage, ServerResponse][] = [];
      let sockets: Socket[] = [];
      let onRequest: RequestListener = () => {};

      const get = (path: string | number) => `GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
      const post = (path: string | number, length: number) =>
        `POST /${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;
      const paths = () => begun.map(([{ url }]) => url);
      const untilBegun = (count: number) => until(`${count} requests begin`, () => begun.length >= count);
      const send = async (bytes: string, by = client) => {
        const socket = await by.connect();
        sockets.push(socket);
        socket.on('error', () => {});
        socket.write(bytes);
        return socket;
      };

      before(async () => {
        const { authority, ...identity } = await serverPair(folder);
        const listener: RequestListener = (request, response) => {
          begun.push([request, response]);
          onRequest(request, response);
        };
        const start = async (timeouts: ServerTimeouts) => {
          const server: Server =
            kind === 'TLS'
              ? createTlsServer(identity, listener, { timeouts })
              : createPlainServer(listener, { timeouts });
          drains.push(new Drain(server));
          const port = await listen(server, '127.0.0.1', 0);
          return new HttpClient(port, kind === 'TLS' ? authority : undefined, '');
        };
        client = await start(LONG);
        impatient = await start({ ...LONG, silenceMs: 300 });
        timed = await start({ ...LONG, headersMs: REQUEST_MS, requestMs: REQUEST_MS });
      });
      afterEach(() => {
        for (const socket of sockets) socket.destroy();
        [sockets, begun] = [[], []];
        onRequest = () => {};
      });
      after(() => Promise.all(drains.map((drain) => drain.drain(0))));

      it('get their responses however requests, pauses and slow reading alternate', async () => {
        // Responds with the length of the body, padded, after a pause of its own.
        onRequest = async (request, response) => {
          const [, pad, pause] = (request.url ?? '').split('/').map(Number);
          let length = 0;
          for await (const chunk of request) length += chunk.length;
          if (pause) await sleep(pause);
          response.end(String(length).padEnd(pad || 8, '.'));
        };
        await fc.assert(
          fc.asyncProperty(fc.array(EXCHANGE, { minLength: 1, maxLength: 60 }), PIECES, async (exchanges, pieces) => {
            const last = { pad: 8, pause: 0, body: 0, chunk: 0 };
            const bytes = Buffer.from([...exchanges.map((one) => messageOf(one)), messageOf(last, 'close')].join(''));
            const socket = await send('');
            const text = received(socket);
            for (let sent = 0, at = 0; sent < bytes.length; at++) {
              const { size, wait, pauses } = pieces[at % pieces.length] ?? { size: 100, wait: 0, pauses: false };
              if (pauses) socket.pause();
              socket.write(bytes.subarray(sent, sent + size));
              sent += size;
              if (wait) await sleep(wait);
              socket.resume();
            }
            const bodies = statusesIn(await text);
            expect(bodies).to.have.lengthOf(exchanges.length + 1);
            const lengths = (await text).match(/(?<=\r\n\r\n)\d+/g);
            expect(lengths).to.deep.equal([...exchanges, last].map(({ body }) => String(body)));
          }),
          { numRuns: sized({ gate: 15, night: 50 }) },
        );
      });

      it('run one at a time, in order, and each gets a response', async () => {
        const many = 590;
        let running = 0;
        let maxRunning = 0;
        onRequest = (_request, response) => {
          maxRunning = Math.max(maxRunning, ++running);
          response.once('finish', () => running--);
          setImmediate(() => response.end('x'.repeat(2_000)));
        };
        const all = Array.from({ length: many }, (_, index) => get(index));
        all.push(get('last').replace('Host', 'Connection: close\r\nHost'));
        const text = await received(await send(all.join('')));
        expect(statusesIn(text)).to.have.lengthOf(many + 1);
        expect(paths()).to.deep.equal([...all.keys()].map((index) => (index < many ? `/${index}` : '/last')));
        expect(maxRunning).to.equal(1);
      });

      it('yield to the event loop between two requests', async () => {
        let turns = 0;
        const counting = setInterval(() => {}, 0);
        const turn = () => {
          turns++;
          if (begun.length < 100) setImmediate(turn);
        };
        setImmediate(turn);
        const seen: number[] = [];
        onRequest = (_request, response) => {
          seen.push(turns);
          response.end();
        };
        (await send(Array.from({ length: 100 }, (_, index) => get(index)).join(''))).resume();
        await untilBegun(100);
        clearInterval(counting);
        expect(new Set(seen).size).to.equal(100);
      });

      it('do not begin while the client does not read the previous response', async () => {
        onRequest = (_request, response) => response.end(Buffer.alloc(32 * 1024 * 1024));
        const socket = await send(get(1) + get(2));
        socket.pause();
        await untilBegun(1);
        await sleep(300);
        expect(paths()).to.deep.equal(['/1']);
        socket.resume();
        await untilBegun(2);
      });

      for (const [how, end] of [
        ['closed', (socket: Socket) => socket.destroy()],
        ['closed for sending', (socket: Socket) => socket.end()],
      ] as const)
        it(`never begin if the connection is ${how} before their turn`, async () => {
          const socket = await send(get(1) + get(2) + get(3));
          await untilBegun(1);
          const [[request, response] = []] = begun;
          // A client that closes without reading everything resets the connection.
          const ended = new Promise((resolve) => {
            request?.socket.once('end', resolve).once('error', resolve);
          });
          end(socket);
          await ended;
          response?.end('late');
          await sleep(100);
          expect(paths()).to.deep.equal(['/1']);
        });

      it('never begin after a response that closes the connection', async () => {
        onRequest = (_request, response) => response.setHeader('Connection', 'close').end();
        const text = await received(await send(get(1) + get(2) + get(3)));
        expect(statusesIn(text)).to.have.lengthOf(1);
        expect(paths()).to.deep.equal(['/1']);
      });

      it('never begin after a request that asks for a protocol upgrade', async () => {
        for (const fields of [
          'Connection: Upgrade\r\nUpgrade: websocket',
          'Connection: keep-alive, upgrade, HTTP2-Settings\r\nUpgrade: h2c',
          'Upgrade: h2c',
          'Connection: Upgrade',
        ])
          for (const [head, body] of [
            ['GET /upgrade HTTP/1.1', ''],
            ['POST /upgrade HTTP/1.1\r\nContent-Length: 5', 'hello'],
            ['POST /upgrade HTTP/1.1\r\nTransfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
          ]) {
            begun = [];
            const socket = await send(`${head}\r\nHost: x\r\n${fields}\r\n\r\n${body}${post('next', 100)}`);
            const text = received(socket);
            await untilBegun(1);
            const [[request, response] = []] = begun;
            const content = request?.setEncoding('latin1').toArray();
            // Node would parse these bytes as new requests.
            socket.write(get('hidden').repeat(3));
            await sleep(100);
            response?.end(String(await content));
            const guard = sleep(60_000, 'it is still open', { ref: false });
            const got = await Promise.race([text, guard]);
            expect(statusesIn(got), fields).to.have.lengthOf(1);
            expect(got, fields).to.match(/\r\nConnection: close\r\n/);
            expect(got.endsWith(body === '' ? '\r\n\r\n' : 'hello') || got.includes('hello'), got).to.equal(true);
            expect(paths(), fields).to.deep.equal(['/upgrade']);
          }
      });

      for (const [what, behind] of [
        ['CONNECT', CONNECT],
        ['CONNECT and bytes for its tunnel', CONNECT + 'x'.repeat(300_000)],
        ['a request for another protocol', get('last').replace('Host', 'Upgrade: h2c\r\nHost')],
      ] as const)
        it(`get all of a stream before ${what} closes the connection`, async () => {
          const stream = 's'.repeat(1_000_000);
          onRequest = ({ url }, response) => {
            if (url === '/last') response.end();
            else sendStream(stream, response);
          };
          const text = await received(await send(`${get(1)}${get(2)}${behind}`));
          expect(text.split(stream)).to.have.lengthOf(3);
        });

      describe('with CONNECT behind them', () => {
        const closed = () => until('the response is closed', () => begun[0]?.[1].closed);

        it('are closed if their client reads nothing', async () => {
          onRequest = (_request, response) => sendStream('s'.repeat(16_000_000), response);
          (await send(get(1) + get(2) + CONNECT, impatient)).pause();
          await untilBegun(1);
          await closed();
        });

        it('are closed if their client has ended the connection', async () => {
          const socket = await send(get(1) + CONNECT);
          await untilBegun(1);
          const [[request, response] = []] = begun;
          const ended = new Promise((resolve) => request?.socket.once('end', resolve));
          socket.end('for the tunnel');
          await ended;
          response?.write('late');
          await closed();
        });

        it('never begin if their client has disconnected', async () => {
          const socket = await send(get(1) + get(2) + CONNECT);
          await untilBegun(1);
          // A TLS socket cannot be reset.
          if (kind === 'TLS') socket.destroy();
          else socket.resetAndDestroy();
          await closed();
          expect(paths()).to.deep.equal(['/1']);
        });
      });

      it('are read only a few ahead, and all get a response', async () => {
        const many = 500;
        const socket = await send('');
        const body = 'x'.repeat(15_000);
        for (let index = 0; index < many; index++) socket.write(post(String(index), body.length) + body);
        socket.write(get('last').replace('Host', 'Connection: close\r\nHost'));
        const text = received(socket);
        await untilBegun(1);
        await sleep(500);
        expect(begun[0]?.[0].socket.bytesRead).to.be.below(1_000_000);
        onRequest = async (request, response) => response.end(`${(await request.toArray()).join('').length}.`);
        begun[0]?.[1].end();
        expect((await text).match(/15000\./g)).to.have.lengthOf(many - 1);
        expect(paths()).to.deep.equal([...Array(many).keys()].map((index) => `/${index}`).concat('/last'));
      });

      it('have the full request timeout from when they begin, and no more', async () => {
        const [ends, drips] = await Promise.all([1, 2].map(() => send(`${get('slow')}${post('waits', 5)}ab`, timed)));
        const [ended, dripped] = [received(ends as Socket, /read/), received(drips as Socket)];
        await untilBegun(2);
        // Longer than the request timeout and the interval at which the server checks it.
        await sleep(REQUEST_MS + 1_300);
        onRequest = (request, response) => request.resume().once('end', () => response.end('read'));
        for (const [, response] of begun) response.end();
        await untilBegun(4);
        ends?.write('cde');
        expect(statusesIn(await ended)).to.deep.equal(['200', '200']);
        expect(statusesIn(await dripped)).to.deep.equal(['200', '408 request_timeout']);
      });
    });
});
