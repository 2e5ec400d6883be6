import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { getSystemErrorMap } from 'node:util';
import { answerBrokenMessage } from './broken-message.js';

/** TLS 1.3, and of TLS 1.2 only forward-secret suites with authenticated encryption. */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

const SECOND = 1_000;

export interface ServerTimeouts {
  readonly handshakeMs: number;
  readonly headersMs: number;
  /** From the first byte of a request to the last. */
  readonly requestMs: number;
}

const TIMEOUTS: ServerTimeouts = { handshakeMs: 10 * SECOND, headersMs: 10 * SECOND, requestMs: 30 * SECOND };

/** PEM texts. */
export interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
}

/** @param answer what Koa makes of the application */
export function createTlsServer(identity: TlsIdentity, answer: RequestListener, timeouts = TIMEOUTS): Server {
  const server = createServer({
    ...identity,
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    honorCipherOrder: true,
    handshakeTimeout: timeouts.handshakeMs,
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    connectionsCheckingInterval: SECOND,
    // Longer than the 60 s for which common proxies keep a connection, so that the proxy is the one to close it.
    keepAliveTimeout: 65 * SECOND,
    // Above the application's own bounds, so that it can say 414 and 431 itself.
    maxHeaderSize: 64 * 1024,
    // The application says 400 itself.
    requireHostHeader: false,
  });
  // 0: no header is dropped silently; their size is bounded anyway.
  server.maxHeadersCount = 0;
  const running = new WeakMap<object, ServerResponse[]>();
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      noteRunning(running, request.socket, response);
      answer(request, response);
    });
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    answerBrokenMessage(error, socket as Socket, running.get(socket) ?? []);
  });
  return server;
}

/**
 * @returns the port
 * @throws Error that tells a person why not, in the same words whether this process listens alone or shares the port
 */
export function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const [, why = error.message] = getSystemErrorMap().get(error.errno ?? 0) ?? [];
      reject(new Error(`It cannot listen on ${host}:${port}: ${why} (${error.code}).`, { cause: error }));
    });
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

function noteRunning(
  running: WeakMap<object, ServerResponse[]>,
  socket: Socket,
  response: ServerResponse,
): void {
  const responses = running.get(socket) ?? [];
  running.set(socket, responses);
  responses.push(response);
  response.once('close', () => responses.splice(responses.indexOf(response), 1));
}
