/**
 * Up to 4,000 slow connections at a time: slow bodies and slow heads of slowhttptest, then slow readers, beside silent
 * TCP and silent TLS connections and exports that nobody reads. Each connection is closed at its limit, and another
 * client is served meanwhile. The log of the service shows how long it keeps an export that is not read: 30 seconds
 * from the last byte that the buffers of the kernel accept.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect as netConnect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as tlsConnect } from 'node:tls';
import { expect } from 'chai';
import { Latencies } from '../../scripts/statistics.js';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import { figuresOf } from '../../tests/support/figure.js';
import type { HttpClient } from '../../tests/support/http-client.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';
import { logged } from '../../tests/support/workers.js';
import type { Timed } from './hostile/bystander.js';
import { newKey, startBystander } from './hostile/hostile-service.js';

const figure = figuresOf('slow-clients');

const CONNECTIONS = 1_000;
/** So many handshakes at a time. */
const BATCH = 25;
/** The service accepts 2,000 connections of an address, which slowhttptest shares with this program. */
const LEAST_CONNECTED = 950;
const READERS = 32;
const READERS_PER_KEY = 8;
/** The limits of the contract: a handshake or a head, a request, a connection without a byte in either direction. */
const LIMIT_MS = { handshake: 10_000, headers: 10_000, request: 30_000, silence: 30_000 };
/** A guard: slowhttptest and this program give up after this time. */
const GIVE_UP_SECONDS = 300;
/** In this time slowhttptest opens its 1,000 connections. */
const ARRIVAL_MS = 6_000;
/** Each kind comes from an address of its own: the service accepts 2,000 connections of one. */
const FROM = {
  bystander: '127.0.0.5',
  tcp: '127.0.0.3',
  tls: '127.0.0.4',
  readers: '127.0.0.6',
  bodies: '127.0.0.7',
};
const ALONE_MS = 3_000;

interface Connection {
  readonly socket: Socket;
  /** When it was begun, by `performance.now()`. */
  readonly begin: number;
  /** What the service has sent. */
  readonly received: string;
}

/** A connection that the service closed. */
interface Closing {
  readonly ageMs: number;
  /** What the service sent. */
  readonly received: string;
  /** Whether a slow body that began before, and that has 30 seconds, was closed before. */
  readonly isLate: boolean;
}

describe('Slow and silent clients', () => {
  const folder = temporaryFolder();
  let service: ChildProcessService;
  let client: HttpClient;
  let authority: Buffer;
  const open: Socket[] = [];
  /** The connections that the service closed. */
  const closings: Record<'tcp' | 'tls' | 'heads', Closing[]> = { tcp: [], tls: [], heads: [] };
  let slow: Readonly<Record<'headers' | 'bodies' | 'reads', SlowTest>>;
  /** When clients connected: begins and ends, in milliseconds since 1970. */
  const arrivals: (readonly [number, number])[] = [];
  let isOver = false;
  /** Requests of another client that were not served. */
  const failures: string[] = [];
  const p99 = { alone: Number.NaN, arriving: Number.NaN, held: Number.NaN };

  before(async () => {
    service = new ChildProcessService(folder);
    client = await service.started();
    client.documented = undefined;
    authority = readFileSync(`${folder}/data/tls/ca.pem`);
    await fill(client);
    p99.alone = p99Of(await bystander(sleep(ALONE_MS)));
    const meanwhile = await bystander(slowClients());
    const isArriving = ({ begin, end }: Timed) => arrivals.some(([from, to]) => begin < to && end > from);
    p99.arriving = p99Of(meanwhile.filter(isArriving));
    p99.held = p99Of(meanwhile.filter((request) => !isArriving(request)));
  });
  after(async () => {
    isOver = true;
    for (const socket of open) socket.destroy();
    client.close();
    await service.stop('SIGKILL');
  });

  /** Most kinds at a time: the limit of a body alone takes half a minute. */
  async function slowClients(): Promise<void> {
    const url = (path: string) => `https://127.0.0.1:${client.port}${path}`;
    const [tcp, readers] = [silentTcp(), slowReaders()];
    const form = ['-f', 'application/x-www-form-urlencoded', '-s', '8192'];
    noteArrival();
    const bodies = slowHttpTest(folder, 'B', GIVE_UP_SECONDS, [
      ...form,
      '-i',
      '5',
      '-x',
      '10',
      '-u',
      url('/oauth/token'),
    ]);
    await sleep(4_000);
    const [tls, heads] = [silentTls(), slowHeads()];
    noteArrival();
    const headers = slowHttpTest(folder, 'H', GIVE_UP_SECONDS, ['-i', '5', '-x', '24', '-u', url('/v1/products')]);
    // slowhttptest has one address, whose connections those with slow bodies and slow headers are.
    const reads = headers.then(() => {
      noteArrival();
      const speed = ['-n', '5', '-z', '32', '-w', '10', '-y', '20'];
      return slowHttpTest(folder, 'X', 16, [...speed, '-u', url('/openapi.json')]);
    });
    slow = { headers: await headers, bodies: await bodies, reads: await reads };
    await Promise.all([tcp, tls, heads, readers]);
  }

  function noteArrival(): void {
    arrivals.push([Date.now(), Date.now() + ARRIVAL_MS]);
  }

  async function silentTcp(): Promise<void> {
    const body = await slowBody();
    const begin = performance.now();
    const sockets = Array.from({ length: CONNECTIONS }, () =>
      netConnect({ host: '127.0.0.1', port: client.port, localAddress: FROM.tcp }),
    );
    open.push(...sockets);
    for (const socket of sockets) socket.on('error', () => {}).resume();
    await Promise.all(sockets.map((socket) => untilClosed({ socket, begin, received: '' }, closings.tcp, body)));
  }

  async function silentTls(): Promise<void> {
    const closed: Promise<void>[] = [];
    const begin = Date.now();
    for (let at = 0; at < CONNECTIONS; at += BATCH) {
      const body = await slowBody();
      const some = await Promise.all(Array.from({ length: BATCH }, () => connected(FROM.tls)));
      closed.push(...some.map((one) => untilClosed(one, closings.tls, body)));
    }
    arrivals.push([begin, Date.now()]);
    await Promise.all(closed);
  }

  /** Beside those of slowhttptest, to see what the service sends. */
  async function slowHeads(): Promise<void> {
    const body = await slowBody();
    const some = await Promise.all(Array.from({ length: BATCH }, () => connected(FROM.readers)));
    for (const { socket } of some) socket.write('GET /v1/products HTTP/1.1\r\nHost: x\r\n');
    await Promise.all(some.map((one) => untilClosed(one, closings.heads, body)));
  }

  /** Sends a part of a form, to show when the time of a request is over. @returns its connection */
  async function slowBody(): Promise<Socket> {
    const { socket } = await connected(FROM.bodies);
    const type = 'Content-Type: application/x-www-form-urlencoded';
    socket.resume().write(`POST /oauth/token HTTP/1.1\r\nHost: x\r\n${type}\r\nContent-Length: 9\r\n\r\ngrant`);
    return socket;
  }

  /** Ask for exports and read nothing. The buffers of the kernel take a part. */
  async function slowReaders(): Promise<void> {
    const keys = await Promise.all(Array.from({ length: READERS / READERS_PER_KEY }, () => newKey(client)));
    await Promise.all(
      Array.from({ length: READERS }, async (_, at) => {
        const { socket } = await connected(FROM.readers);
        const accept = 'Accept: application/x-ndjson';
        const authorization = `Authorization: Bearer ${keys[Math.floor(at / READERS_PER_KEY)]?.key}`;
        socket.pause();
        socket.write(`GET /v1/products HTTP/1.1\r\nHost: x\r\n${accept}\r\n${authorization}\r\n\r\n`);
      }),
    );
    await until(
      'the service has cut off every export',
      async () => {
        await sleep(500);
        return unreadExports().length === READERS;
      },
      GIVE_UP_SECONDS * 1_000,
    );
  }

  /** The exports that the service has ended before their last byte. Nobody reads them. */
  const unreadExports = () =>
    logged(service, 'request').filter(
      ({ method, path, complete }) => method === 'GET' && path === '/v1/products' && complete === false,
    );

  /** Connects. A handshake that takes more than ten seconds, on a busy machine, begins again. */
  async function connected(localAddress: string): Promise<Connection> {
    for (;;) {
      if (isOver) throw new Error('The test is over.');
      const begin = performance.now();
      const raw = netConnect({ host: '127.0.0.1', port: client.port, localAddress }).on('error', () => {});
      const socket = tlsConnect({ socket: raw, ca: authority, servername: 'localhost' });
      open.push(socket);
      const isSecure = await new Promise<boolean>((resolve) => {
        socket
          .on('error', () => {})
          .once('secureConnect', () => resolve(true))
          .once('close', () => resolve(false));
      });
      if (!isSecure) continue;
      const connection = { socket, begin, received: '' };
      socket.on('data', (chunk: Buffer) => {
        connection.received += chunk.toString('latin1');
      });
      return connection;
    }
  }

  /** Notes how the service closes a connection. @param body a slow body that began before */
  async function untilClosed(connection: Connection, into: Closing[], body: Socket): Promise<void> {
    const { socket, begin } = connection;
    if (!socket.closed) await new Promise<void>((resolve) => socket.once('close', () => resolve()));
    into.push({ ageMs: performance.now() - begin, received: connection.received, isLate: body.closed });
  }

  /** @returns the requests of another client meanwhile, which has a thread of its own */
  async function bystander(work: Promise<unknown>): Promise<readonly Timed[]> {
    const [, managementPort] = await service.logs(/"port":(\d+)[^\n]*"msg":"management listening"/);
    const stop = await startBystander({
      port: client.port,
      managementPort: Number(managementPort),
      authorityFile: `${folder}/data/tls/ca.pem`,
      keys: { item: (await newKey(client)).key },
      from: FROM.bystander,
      pauseMs: 20,
    });
    await work;
    const [measured] = await stop();
    failures.push(...(measured?.failures ?? ['nothing was measured']));
    return measured?.requests ?? [];
  }

  it('others are served while the slow clients connect and are connected', () => {
    figure('p99 alone', p99.alone, 'ms');
    figure('p99 of others', p99.held, 'ms');
    figure('p99 of others while 4,000 connect', p99.arriving, 'ms');
    expect(failures).to.deep.equal([]);
  });

  for (const [kind, what, limit, sent] of [
    ['tcp', 'a connection without a handshake', LIMIT_MS.handshake, /^$/],
    ['tls', 'a connection without a request', LIMIT_MS.headers, /^HTTP\/1\.1 408 .*"request_timeout"/s],
    ['heads', 'a slow head', LIMIT_MS.headers, /^HTTP\/1\.1 408 .*"request_timeout"/s],
  ] as const)
    it(`${what} is closed after ${limit / 1_000} seconds, before a slow body is`, () => {
      const ages = closings[kind].map(({ ageMs }) => ageMs);
      figure(`${what}: longest`, Math.max(...ages) / 1_000, 's');
      expect(ages).to.have.length(kind === 'heads' ? BATCH : CONNECTIONS);
      expect(Math.min(...ages)).to.be.at.least(limit * 0.9);
      expect(closings[kind].filter(({ received }) => !sent.test(received))).to.deep.equal([]);
      expect(closings[kind].filter(({ isLate }) => isLate)).to.deep.equal([]);
    });

  it('an export that is not read is closed after 30 seconds', () => {
    const times = unreadExports().map(({ durationMs }) => Number(durationMs));
    figure('an export that is not read: shortest', Math.min(...times) / 1_000, 's');
    figure('an export that is not read: longest', Math.max(...times) / 1_000, 's');
    expect(times).to.have.length(READERS);
    expect(Math.min(...times)).to.be.at.least(LIMIT_MS.silence * 0.9);
  });

  it('1,000 slow heads are closed', () => expectClosed('headers', LIMIT_MS.headers));
  it('1,000 slow bodies are closed', () => expectClosed('bodies', LIMIT_MS.request));

  it('1,000 slow readers stay connected meanwhile, because their limit is later', () => {
    const { opened = 0, closed = 0 } = slow.reads.rows.at(-1) ?? {};
    figure('slow reads: connections', opened);
    expect(opened).to.be.greaterThan(0);
    expect(closed).to.equal(0);
  });

  function expectClosed(kind: 'headers' | 'bodies', limit: number): void {
    const { rows, hasEnded } = slow[kind];
    const at = (second: number) => rows.findLast((row) => row.second <= second) ?? { second, opened: 0, closed: 0 };
    const opened = Math.max(...rows.map((row) => row.opened));
    // slowhttptest counts at whole seconds, and the service looks for late requests once a second.
    const latest = limit / 1_000 + 3;
    const late = rows
      .filter(({ second }) => second + latest <= (rows.at(-1)?.second ?? 0))
      .map((row) => row.opened - at(row.second + latest).closed);
    figure(`slow ${kind}: connections`, opened);
    figure(`slow ${kind}: closed late`, Math.max(0, ...late));
    expect(opened).to.be.at.least(LEAST_CONNECTED);
    expect(hasEnded, 'all are closed in the end').to.equal(true);
  }
});

function p99Of(requests: readonly Timed[]): number {
  const latencies = new Latencies();
  for (const { begin, end } of requests) latencies.add(end - begin);
  return latencies.quantile(0.99);
}

/** What slowhttptest saw. */
interface SlowTest {
  /** How many connections have been opened and closed until each second. */
  readonly rows: readonly { readonly second: number; readonly opened: number; readonly closed: number }[];
  /** Whether it ended because no connection was open any more. */
  readonly hasEnded: boolean;
}

/** @param seconds it gives up after this time */
async function slowHttpTest(folder: string, mode: string, seconds: number, args: readonly string[]): Promise<SlowTest> {
  const prefix = join(folder, `slow-${mode}`);
  const all = [`-${mode}`, '-c', `${CONNECTIONS}`, '-r', '400', '-l', `${seconds}`, '-g', '-o', prefix, ...args];
  // It polls its connections without a pause, and would take the cores from the service and from the others.
  const child = spawn('nice', ['-n', '19', 'slowhttptest', ...all], { stdio: 'ignore' });
  const [code] = await new Promise<readonly unknown[]>((resolve, reject) => {
    child.once('exit', (...exit) => resolve(exit));
    child.once('error', reject);
  });
  expect(code, 'slowhttptest is missing: apt-get install slowhttptest').to.not.equal(127);
  expect(code, `slowhttptest -${mode}`).to.be.a('number');
  const rows = readFileSync(`${prefix}.csv`, 'latin1')
    .split('\n')
    .slice(1)
    .filter(Boolean)
    .map((row) => row.split(',').map(Number))
    .map(([second = 0, closed = 0, , connected = 0]) => ({ second, closed, opened: closed + connected }));
  return { rows, hasEnded: (rows.at(-1)?.second ?? seconds) < seconds - 1 };
}

/** Products that an export of 20 MB has. */
async function fill(client: HttpClient): Promise<void> {
  const line = `${JSON.stringify({ name: 'Lamp', description: 'd'.repeat(4_000) })}\n`;
  const { text } = await client.post('/v1/products/imports', line.repeat(5_000), {
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  expect(text).to.include('"line":5000,"status":201');
}
