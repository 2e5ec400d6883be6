import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as netConnect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { BODIES, FORMS, type HostileRequest, READS } from './requests.js';

/** The service that a flood is sent to, and the identity of its client. */
export interface Target {
  readonly port: number;
  readonly authorityFile: string;
  /** The API key of the hostile client. */
  readonly key: string;
  /** The local IP address of anonymous requests. Each flood has its own, and so its own rate limit. */
  readonly from: string;
  /** The duration of floods that send or read slowly. */
  readonly holdSeconds: number;
}

export interface Flood {
  readonly name: string;
  /**
   * At least so many requests of each status in the log of the service; `none` stands for those that end before they
   * have one. Or at least so many `requests` or `connections`. It shows that the flood reaches the code that it
   * should load.
   */
  readonly expected: Readonly<Record<string, number>>;
  /** The probes of the bystander, in addition to `live` and `item`. */
  readonly probes: readonly string[];
  /** Resolves when every request has its response; {@link Connections.close} ends it early. */
  run(connections: Connections): Promise<void>;
}

const HANDSHAKES_AT_ONCE = 25;

/** The connections of a hostile client. */
export class Connections {
  /** The number of handshakes. */
  opened = 0;
  private readonly sockets = new Set<TLSSocket>();

  constructor(private readonly target: Target) {}

  get holdSeconds(): number {
    return this.target.holdSeconds;
  }

  /** Opens connections, some at a time: the cost of handshakes is not measured. */
  async open(count: number): Promise<TLSSocket[]> {
    const sockets: TLSSocket[] = [];
    while (sockets.length < count) {
      const some = Math.min(HANDSHAKES_AT_ONCE, count - sockets.length);
      sockets.push(...(await Promise.all(Array.from({ length: some }, () => this.openOne()))));
    }
    return sockets;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** The head of a request. The last request of a connection has `Connection: close`. */
  head({ method, path, headers, body, isAnonymous }: HostileRequest, isLast: boolean, missingBytes = 0): string {
    const fields = {
      Host: 'localhost',
      ...(!isAnonymous && { Authorization: `Bearer ${this.target.key}` }),
      ...headers,
      ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body) + missingBytes) }),
      ...(isLast && { Connection: 'close' }),
    };
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
  }

  private async openOne(): Promise<TLSSocket> {
    const { port, authorityFile, from } = this.target;
    const ca = readFileSync(authorityFile);
    const connection = netConnect({ host: '127.0.0.1', port, localAddress: from });
    const socket = connect({ socket: connection, ca, servername: 'localhost' });
    connection.on('error', () => socket.destroy());
    this.sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => this.sockets.delete(socket));
    await once(socket, 'secureConnect');
    this.opened++;
    return socket;
  }
}

/** Sends `each` requests over each of `count` connections, all at once, and reads the responses. */
async function sendAll(connections: Connections, requests: readonly HostileRequest[], count: number, each: number) {
  const sockets = await connections.open(count);
  await Promise.all(
    sockets.map(async (socket, which) => {
      socket.resume();
      const closed = once(socket, 'close').catch(() => {});
      for (let at = 0; at < each && !socket.destroyed; at++) {
        const request = requests[(which * each + at) % requests.length];
        if (!request) return;
        socket.write(connections.head(request, at === each - 1));
        if (request.body !== undefined && !socket.write(request.body)) await Promise.race([drained(socket), closed]);
      }
      await closed;
    }),
  );
}

function drained(socket: TLSSocket): Promise<void> {
  return new Promise((resolve) => socket.once('drain', resolve));
}

const [openApi, page] = READS as [HostileRequest, HostileRequest];
const ndjsonPage: HostileRequest = {
  ...page,
  name: 'a page of NDJSON',
  headers: { Accept: 'application/x-ndjson' },
};
const query = READS.find(({ name }) => name === 'an unindexed query') as HostileRequest;
const exporting = READS.find(({ name }) => name === 'an export') as HostileRequest;
const item: HostileRequest = {
  name: 'an item',
  method: 'GET',
  path: '/v1/products/1?fields=id',
  headers: {},
};
const list: HostileRequest = { ...item, name: 'a list', path: '/v1/products?limit=100&fields=id' };
/** The largest form that the service does not refuse by its length. */
const servedForm = FORMS[3] as HostileRequest;
const NDJSON = { 'Content-Type': 'application/x-ndjson', 'Transfer-Encoding': 'chunked' };

export const FLOODS: readonly Flood[] = [
  {
    name: '400 forms of 1 MiB at the token endpoint',
    expected: { 413: 200 },
    probes: ['list'],
    run: (connections) => sendAll(connections, FORMS.slice(0, 3), 50, 8),
  },
  {
    name: '200 forms of 16 KiB one byte short',
    expected: { none: 1 },
    probes: ['list'],
    run: (connections) => neverFinish(connections, servedForm, 200),
  },
  {
    name: '590 OpenAPI documents, br, in one pipeline',
    expected: { 200: 500 },
    probes: ['list'],
    run: (connections) => sendAll(connections, [openApi], 1, 590),
  },
  {
    name: '550 OpenAPI documents, br, on 50 connections, not read',
    expected: { 200: 50 },
    probes: ['list'],
    run: (connections) => readSlowly(connections, openApi, 50, 11, 0),
  },
  {
    name: '550 pages of 4 MiB on 50 connections, read',
    expected: { 200: 50 },
    probes: ['list'],
    run: (connections) => sendAll(connections, [page], 50, 11),
  },
  {
    name: '550 pages of 4 MiB on 50 connections, not read',
    expected: { none: 1 },
    probes: ['list'],
    run: (connections) => readSlowly(connections, page, 50, 11, 0),
  },
  {
    name: '60 readers of 4 KiB a second of pages of 4 MiB',
    expected: { none: 1 },
    probes: ['list'],
    run: (connections) => readSlowly(connections, page, 60, 1, 4_096),
  },
  {
    name: '550 pages of 4 MiB whose clients disconnect early',
    expected: { none: 1, requests: 100 },
    probes: ['list'],
    run: (connections) => disconnectEarly(connections, page, 50, 11),
  },
  {
    name: '60 readers of 4 KiB a second of pages of NDJSON',
    expected: { requests: 1 },
    probes: ['list'],
    run: (connections) => readSlowly(connections, ndjsonPage, 60, 1, 4_096),
  },
  {
    name: '150 bodies of 1 MiB',
    expected: { 400: 20, 413: 5 },
    probes: ['list', 'create'],
    run: (connections) => sendAll(connections, BODIES, 50, 3),
  },
  {
    name: '150 bodies one byte short',
    expected: { none: 1 },
    probes: ['list', 'create'],
    run: (connections) => neverFinish(connections, BODIES[0] as HostileRequest, 150),
  },
  {
    name: '64 imports that send one byte',
    expected: { none: 1 },
    probes: ['import'],
    run: slowImports,
  },
  {
    name: '16 imports as fast as the service reads them',
    expected: { 200: 1 },
    probes: ['list', 'import'],
    run: (connections) => imports(connections, 16, RECORDS, true),
  },
  {
    name: '4 imports whose results are not read',
    expected: { 200: 1 },
    probes: ['import'],
    run: (connections) => imports(connections, 4, BAD_LINES, false),
  },
  {
    name: '190 unindexed queries',
    expected: { 200: 1, requests: 190 },
    probes: ['list', 'query'],
    run: (connections) => sendAll(connections, [query], 190, 1),
  },
  {
    name: '64 exports, not read',
    expected: { 200: 1 },
    probes: ['list', 'export'],
    run: (connections) => readSlowly(connections, exporting, 64, 1, 0),
  },
  {
    name: '6,000 requests, ten times the limit, in pipelines',
    expected: { 200: 100, 429: 100 },
    probes: ['list', 'create'],
    run: (connections) => sendAll(connections, [item], 50, 120),
  },
  {
    name: '600 lists at the same moment, on 600 connections',
    expected: { 200: 1 },
    probes: ['list', 'create'],
    run: (connections) => sendAll(connections, [list], 600, 1),
  },
  {
    name: 'handshakes, 25 at a time',
    expected: { connections: 2 * HANDSHAKES_AT_ONCE },
    probes: ['list'],
    run: handshakes,
  },
];

/** Opens connections and disconnects. */
async function handshakes(connections: Connections): Promise<void> {
  const end = performance.now() + connections.holdSeconds * 1_000;
  while (performance.now() < end || connections.opened < 2 * HANDSHAKES_AT_ONCE)
    for (const socket of await connections.open(HANDSHAKES_AT_ONCE)) socket.destroy();
}

/** Disconnects while the service processes the requests. */
async function disconnectEarly(
  connections: Connections,
  request: HostileRequest,
  count: number,
  rounds: number,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const sockets = await connections.open(count);
    for (const socket of sockets) socket.write(connections.head(request, false));
    await sleep(30);
    for (const socket of sockets) socket.destroy();
  }
}

/** Sends each body without its last byte. */
async function neverFinish(connections: Connections, request: HostileRequest, count: number): Promise<void> {
  const sockets = await connections.open(count);
  for (const socket of sockets) {
    socket.resume();
    socket.write(connections.head(request, true, 1));
    socket.write(request.body ?? '');
  }
  await sleep(connections.holdSeconds * 1_000);
}

/** Reads at most `bytesPerSecond` from each connection. */
async function readSlowly(
  connections: Connections,
  request: HostileRequest,
  count: number,
  each: number,
  bytesPerSecond: number,
): Promise<void> {
  const sockets = await connections.open(count);
  for (const socket of sockets) {
    socket.pause();
    for (let at = 0; at < each; at++) socket.write(connections.head(request, at === each - 1));
  }
  for (let second = 0; second < connections.holdSeconds; second++) {
    await sleep(1_000);
    for (const socket of sockets) if (bytesPerSecond > 0) socket.read(bytesPerSecond);
  }
}

const IMPORT: HostileRequest = {
  name: 'import',
  method: 'POST',
  path: '/v1/products/imports',
  headers: NDJSON,
};
const LINE_COUNT = 512;
/** A chunk of {@link LINE_COUNT} lines. */
const RECORDS = chunk(`{"name":"${'x'.repeat(60)}"}\n`.repeat(LINE_COUNT));
const BAD_LINES = chunk('{}\n'.repeat(LINE_COUNT * 16));

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

/** Sends imports as fast as the service reads them. */
async function imports(connections: Connections, count: number, lines: string, isRead: boolean): Promise<void> {
  const sockets = await connections.open(count);
  const end = performance.now() + connections.holdSeconds * 1_000;
  const reading = (socket: TLSSocket) => (isRead ? socket.resume() : socket.pause());
  await Promise.all(sockets.map((socket) => sendUntil(end, connections, reading(socket), lines)));
}

async function sendUntil(end: number, connections: Connections, socket: TLSSocket, lines: string): Promise<void> {
  socket.write(connections.head(IMPORT, false));
  while (performance.now() < end && !socket.destroyed)
    if (!socket.write(lines)) await Promise.race([drained(socket), sleep(1_000)]);
}

async function slowImports(connections: Connections): Promise<void> {
  const sockets = await connections.open(64);
  for (const socket of sockets) {
    socket.resume();
    socket.write(`${connections.head(IMPORT, false)}1\r\n{\r\n`);
  }
  await sleep(connections.holdSeconds * 1_000);
}
