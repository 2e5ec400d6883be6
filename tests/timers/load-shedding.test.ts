import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { listService } from '../support/middleware-harness.js';
import { until } from '../support/until.js';

/** As many as a turn of the event loop serves in any case, without an overload before it. */
const SERVED = 256;
const SPIN_MS = 0.3;
const ORIGIN = 'https://shop.example';
const LIST = 'GET /v1/products HTTP/1.1\r\nHost: x\r\n';

describe('a request that an overloaded service refuses', () => {
  const service = listService(ORIGIN);
  let sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    sockets = [];
  });

  const open = async (localAddress = '127.0.0.1') => {
    const { port } = service.client;
    const socket = connect({ port, host: '127.0.0.1', localAddress }).setEncoding('utf8');
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };

  /**
   * Waits, while the event loop stands still, until the kernel has bytes for this many connections of the service. A
   * busy kernel delivers them late and in any order, and the service would read them in several turns.
   */
  const awaitArrival = (count: number) => {
    if (process.platform !== 'linux') return;
    const port = service.client.port.toString(16).toUpperCase().padStart(4, '0');
    const unread = new RegExp(`^ *\\d+: [0-9A-F]{8}:${port} \\S+ 01 \\S+:(?!0{8})`, 'gm');
    const pause = new Int32Array(new SharedArrayBuffer(4));
    while ((readFileSync('/proc/net/tcp', 'latin1').match(unread) ?? []).length < count) Atomics.wait(pause, 0, 0, 1);
  };

  /** Sends as many requests as keep the service busy, and one behind them. @returns the response to that */
  const late = async (message: string, from?: string): Promise<[response: string, socket: Socket]> => {
    // Each request takes time without a pause.
    const begin = () => {
      for (const end = performance.now() + SPIN_MS; performance.now() < end; );
    };
    Object.assign(service.logger, { begin });
    const busy = await Promise.all(Array.from({ length: 2 * SERVED }, () => open()));
    const socket = await open(from);
    await until('all are accepted', () => service.connections.length === busy.length + 1);
    for (const other of busy) other.write(`${LIST}\r\n`);
    awaitArrival(busy.length);
    socket.write(message);
    awaitArrival(busy.length + 1);
    const [response] = await once(socket, 'data');
    return [response as string, socket];
  };

  it('gets 503 unavailable with Retry-After, and its id', async () => {
    const [response] = await late(`${LIST}X-Request-Id: mine\r\n\r\n`);
    expect(response).to.match(/^HTTP\/1\.1 503 /);
    for (const field of ['Retry-After: 1', 'Cache-Control: no-store', 'API-Version: 1', 'X-Request-Id: mine'])
      expect(response).to.include(`\r\n${field}\r\n`);
    expect(response).to.include('\r\nContent-Type: application/json\r\n');
    expect(Object.keys(JSON.parse(response.split('\r\n\r\n')[1] ?? ''))).to.deep.equal(['code', 'message', 'details']);
    expect(response).to.include('{"code":"unavailable"');
    const { details } = service.logger.lines.find(({ details: entry }) => entry['requestId'] === 'mine') ?? {};
    expect(details).to.include({ status: 503, errorCode: 'unavailable' });
  });

  for (const [what, fields, shown] of [
    [
      'a problem if its client prefers that',
      'Accept: application/problem+json',
      'Content-Type: application/problem+json',
    ],
    ['what scripts of an allowed origin can read', `Origin: ${ORIGIN}`, `Access-Control-Allow-Origin: ${ORIGIN}`],
  ])
    it(`gets ${what}`, async () => {
      const [response] = await late(`${LIST}${fields}\r\n\r\n`);
      expect(response).to.match(/^HTTP\/1\.1 503 /);
      expect(response).to.include(`\r\n${shown}\r\n`);
    });

  it('gets no body for HEAD', async () => {
    const [response] = await late(`${LIST.replace('GET', 'HEAD')}\r\n`);
    expect(response).to.match(/^HTTP\/1\.1 503 .*\r\n\r\n$/s);
  });

  it('loses its body, and the next request of the connection is served', async () => {
    const fields = 'Content-Type: application/json\r\nContent-Length: 10000\r\n\r\n';
    const [response, socket] = await late(`POST /v1/products HTTP/1.1\r\nHost: x\r\n${fields}${'x'.repeat(5_000)}`);
    expect(response).to.match(/^HTTP\/1\.1 503 /);
    socket.write(`${'x'.repeat(5_000)}${LIST}\r\n`);
    const [next] = await once(socket, 'data');
    expect(next).to.match(/^HTTP\/1\.1 200 /);
  });

  for (const [what, fields, status] of [
    [
      'whose client holds its body back',
      'Content-Type: application/json\r\nContent-Length: 5\r\nExpect: 100-continue',
      503,
    ],
    ['that is ambiguous', 'Transfer-Encoding:', 400],
  ])
    it(`${what} ends the connection`, async () => {
      const [response] = await late(`POST /v1/products HTTP/1.1\r\nHost: x\r\n${fields}\r\n\r\n`);
      expect(response).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(response).to.include('\r\nConnection: close\r\n');
    });

  it('is served if it comes from another address than the load', async () => {
    const [response] = await late(`${LIST}\r\n`, '127.0.0.2');
    expect(response).to.match(/^HTTP\/1\.1 200 /);
  });
});
