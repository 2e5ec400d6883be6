import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as netConnect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { BODIES, FORMS, type HostileRequest, READS } from './requests.js';

/** Whom a flood is sent to, and as whom. */
export interface Target {
  readonly port: number;
  readonly authorityFile: string;
  /** The API key of the hostile client. */
  readonly key: string;
  /** An address of this machine for anonymous requests, so that each flood has a rate limit of its own. */
  readonly from: string;
  /** For how long a flood that sends or reads slowly goes on. */
  readonly holdSeconds: number;
}

export interface Flood {
  readonly name: string;
  /** What the bystander asks beside `live` and `item`. */
  readonly probes: readonly string[];
  /** Resolves when all that was to be sent has been answered; {@link Connections.close} ends it early. */
  run(connections: Connections): Promise<void>;
}

const HANDSHAKES_AT_ONCE = 25;

/** The connections of a hostile client. */
export class Connections {
  private readonly sockets = new Set<TLSSocket>();

  constructor(private readonly target: Target) {}

  get holdSeconds(): number {
    return this.target.holdSeconds;
  }

  /** Not all at once: what handshakes cost is no part of what is measured. */
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

  /** The head of a request; the last one of a connection asks for its end. */
  head(
    { method, path, headers, body, isAnonymous }: HostileRequest,
    isLast: boolean,
    missingBytes = 0,
  ): string {
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
    return socket;
  }
}

/** Sends `each` requests over each of `count` connections, all at once, and reads what comes. */
async function sendAll(
  connections: Connections,
  requests: readonly HostileRequest[],
  count: number,
  each: number,
) {
  const sockets = await connections.open(count);
  await Promise.all(
    sockets.map(async (socket, which) => {
      socket.resume();
      const closed = once(socket, 'close').catch(() => {});
      for (let at = 0; at < each && !socket.destroyed; at++) {
        const request = requests[(which * each + at) % requests.length];
        if (!request) return;
        socket.write(connections.head(request, at === each - 1));
        if (request.body !== undefined && !socket.write(request.body))
          await Promise.race([drained(socket), closed]);
      }
      await closed;
    }),
  );
}

function drained(socket: TLSSocket): Promise<void> {
  return new Promise((resolve) => socket.once('drain', resolve));
}

const [openApi, page] = READS as [HostileRequest, HostileRequest];
const pageOfLines: HostileRequest = {
  ...page,
  name: 'a page of lines',
  headers: { Accept: 'application/x-ndjson' },
};
const query = READS.find(({ name }) => name === 'an unindexed query') as HostileRequest;
const exporting = READS.find(({ name }) => name === 'an export') as HostileRequest;
const largestForm = FORMS[0] as HostileRequest;
const LINES = { 'Content-Type': 'application/x-ndjson', 'Transfer-Encoding': 'chunked' };

export const FLOODS: readonly Flood[] = [
  {
    name: '400 forms of 1 MiB at the token endpoint',
    probes: ['list'],
    run: (connections) => sendAll(connections, FORMS.slice(0, 3), 50, 8),
  },
  {
    name: '590 forms one byte short',
    probes: ['list'],
    run: (connections) => neverFinish(connections, largestForm, 590),
  },
  {
    name: '590 OpenAPI documents, br, in one pipeline',
    probes: ['list'],
    run: (connections) => sendAll(connections, [openApi], 1, 590),
  },
  {
    name: '590 OpenAPI documents, br, on 50 connections, not read',
    probes: ['list'],
    run: (connections) => neverRead(connections, openApi, 50, 11, 0),
  },
  {
    name: '550 pages of 4 MiB on 50 connections, read',
    probes: ['list'],
    run: (connections) => sendAll(connections, [page], 50, 11),
  },
  {
    name: '550 pages of 4 MiB on 50 connections, not read',
    probes: ['list'],
    run: (connections) => neverRead(connections, page, 50, 11, 0),
  },
  {
    name: '60 readers of 4 KiB a second of pages of 4 MiB',
    probes: ['list'],
    run: (connections) => neverRead(connections, page, 60, 1, 4_096),
  },
  {
    name: '550 pages of 4 MiB whose clients leave at once',
    probes: ['list'],
    run: (connections) => leaveAtOnce(connections, page, 50, 11),
  },
  {
    name: '60 readers of 4 KiB a second of pages of lines',
    probes: ['list'],
    run: (connections) => neverRead(connections, pageOfLines, 60, 1, 4_096),
  },
  {
    name: '150 bodies of 1 MiB',
    probes: ['list', 'create'],
    run: (connections) => sendAll(connections, BODIES, 50, 3),
  },
  {
    name: '150 bodies one byte short',
    probes: ['list', 'create'],
    run: (connections) => neverFinish(connections, BODIES[0] as HostileRequest, 150),
  },
  {
    name: '64 imports that send a byte at times',
    probes: ['import'],
    run: slowImports,
  },
  {
    name: '16 imports as fast as they are taken',
    probes: ['list', 'import'],
    run: (connections) => imports(connections, 16, RECORDS, true),
  },
  {
    name: '4 imports whose results are not read',
    probes: ['import'],
    run: (connections) => imports(connections, 4, BAD_LINES, false),
  },
  {
    name: '190 unindexed queries',
    probes: ['list', 'query'],
    run: (connections) => sendAll(connections, [query], 190, 1),
  },
  {
    name: '64 exports, not read',
    probes: ['list', 'export'],
    run: (connections) => neverRead(connections, exporting, 64, 1, 0),
  },
];

/** Hangs up while its requests are worked on. */
async function leaveAtOnce(
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

/** Leaves out the last byte of each body. */
async function neverFinish(connections: Connections, request: HostileRequest, count: number): Promise<void> {
  const sockets = await connections.open(count);
  for (const socket of sockets) {
    socket.resume();
    socket.write(connections.head(request, true, 1));
    socket.write(request.body ?? '');
  }
  await sleep(connections.holdSeconds * 1_000);
}

/** Takes so many bytes a second of each connection, or none. */
async function neverRead(
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

const IMPORT: HostileRequest = { name: 'import', method: 'POST', path: '/v1/products', headers: LINES };
const LINE_COUNT = 512;
/** A chunk of so many lines. */
const RECORDS = chunk(`{"name":"${'x'.repeat(60)}"}\n`.repeat(LINE_COUNT));
const BAD_LINES = chunk('{}\n'.repeat(LINE_COUNT * 16));

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

/** As fast as the service takes them. */
async function imports(
  connections: Connections,
  count: number,
  lines: string,
  isRead: boolean,
): Promise<void> {
  const sockets = await connections.open(count);
  const end = performance.now() + connections.holdSeconds * 1_000;
  const reading = (socket: TLSSocket) => (isRead ? socket.resume() : socket.pause());
  await Promise.all(sockets.map((socket) => sendUntil(end, connections, reading(socket), lines)));
}

async function sendUntil(
  end: number,
  connections: Connections,
  socket: TLSSocket,
  piece: string,
): Promise<void> {
  socket.write(connections.head(IMPORT, false));
  while (performance.now() < end && !socket.destroyed)
    if (!socket.write(piece)) await Promise.race([drained(socket), sleep(1_000)]);
}

async function slowImports(connections: Connections): Promise<void> {
  const sockets = await connections.open(64);
  for (const socket of sockets) {
    socket.resume();
    socket.write(`${connections.head(IMPORT, false)}1\r\n{\r\n`);
  }
  await sleep(connections.holdSeconds * 1_000);
}
