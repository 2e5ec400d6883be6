import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { type ParserError, refuseTunnel, requestTimeout, respondToClientError } from './client-error.js';
import { boundConnections, type ConnectionLimits } from './connection-limit.js';
import {
  coalesceChunks,
  isOfLiftedDeadline,
  postponeDeadline,
  readThroughStream,
  refusePlainHttp,
  requestsUpgrade,
  startPostponedDeadline,
} from './node-workarounds.js';
import { PipelinedRequests } from './pipelining.js';
import { SECURITY_HEADERS } from './security-headers.js';
import { type TlsIdentity, tlsOptions } from './tls-options.js';

const SECOND = 1_000;

export interface ServerTimeouts {
  readonly handshakeMs: number;
  readonly headersMs: number;
  /** From the first byte of a request to the last, unless its deadline is lifted. */
  readonly requestMs: number;
  /** Without a byte in either direction. */
  readonly silenceMs: number;
}

const TIMEOUTS: ServerTimeouts = {
  handshakeMs: 10 * SECOND,
  headersMs: 10 * SECOND,
  requestMs: 30 * SECOND,
  silenceMs: 30 * SECOND,
};

/** Half-open connections cost some 50 KiB each. */
const MAX_CONNECTIONS: ConnectionLimits = { most: 10_000, mostPerAddress: 2_000 };

export interface ServerOptions {
  /** The headers of every response, beside {@link SECURITY_HEADERS}, including responses to malformed messages. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeouts?: ServerTimeouts;
  readonly maxConnections?: ConnectionLimits;
}

/** @param answer Koa's callback */
export function createTlsServer(
  identity: TlsIdentity,
  listener: RequestListener,
  { timeouts = TIMEOUTS, ...rest }: ServerOptions = {},
): HttpsServer {
  const options = { ...tlsOptions(identity), ...bounds(timeouts), handshakeTimeout: timeouts.handshakeMs };
  const server = createHttpsServer(options);
  refusePlainHttp(server);
  server.on('secureConnection', readThroughStream);
  return serve(server, listener, { timeouts, ...rest });
}

/**
 * A server for clients that need no TLS: a proxy that ends it, and probes on the management port. The limits are the
 * same, except the one of connections per address, because a proxy opens those of all its clients.
 */
export function createPlainServer(
  listener: RequestListener,
  { timeouts = TIMEOUTS, ...rest }: ServerOptions = {},
): HttpServer {
  const { most } = MAX_CONNECTIONS;
  const maxConnections = { most, mostPerAddress: most };
  const server = createHttpServer(bounds(timeouts));
  server.on('connection', readThroughStream);
  return serve(server, listener, { timeouts, maxConnections, ...rest });
}

/** New connections get another certificate. Existing connections are not affected. */
export function replaceIdentity(server: HttpsServer, identity: TlsIdentity): void {
  server.setSecureContext(tlsOptions(identity));
}

function bounds(timeouts: ServerTimeouts) {
  return {
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    connectionsCheckingInterval: SECOND,
    // Longer than the 60 s for which common proxies keep a connection, so that the proxy is the one to close it.
    keepAliveTimeout: 65 * SECOND,
    // Above the limits of the application, so that it can respond with 414 and 431 itself.
    maxHeaderSize: 64 * 1024,
    // The application responds with 400 itself.
    requireHostHeader: false,
  };
}

function serve<Kind extends HttpServer | HttpsServer>(
  server: Kind,
  listener: RequestListener,
  { headers: own, timeouts = TIMEOUTS, maxConnections = MAX_CONNECTIONS }: ServerOptions,
): Kind {
  const headers = { ...SECURITY_HEADERS, ...own };
  const fields = Object.entries(headers);
  boundConnections(server, maxConnections);
  // Disconnects a client that neither sends nor reads.
  server.setTimeout(timeouts.silenceMs);
  // More fields than 16 KiB can hold, so that Node drops no header of a request that is served.
  server.maxHeadersCount = 4_200;
  const requests = new PipelinedRequests((request, response) => {
    for (const [name, value] of fields) response.setHeader(name, value);
    if (requestsUpgrade(request)) response.setHeader('Connection', 'close');
    startPostponedDeadline(request, timeouts.requestMs, () => refuse(requestTimeout(), request.socket));
    listener(request, response);
  }, postponeDeadline);
  const refuse = (error: ParserError, socket: Socket) =>
    respondToClientError(error, socket, requests.responsesOn(socket), headers);
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      // The service has closed the connection already, so no response could be sent.
      if (request.socket.writableEnded) {
        request.socket.destroy();
        return;
      }
      coalesceChunks(request, response);
      requests.add(request, response);
    });
  }
  server.on('connect', (_request: IncomingMessage, socket: Socket) =>
    refuseTunnel(socket, requests.responsesOn(socket), headers),
  );
  server.on('clientError', (error: ParserError, socket: Socket) => {
    if (!isOfLiftedDeadline(error, socket)) refuse(error, socket);
  });
  return server;
}
