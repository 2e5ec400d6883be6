import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { answerBrokenMessage, type ParserError, refuseTunnel, requestTimeout } from './client-error.js';
import { boundConnections, type ConnectionLimits } from './connection-limit.js';
import {
  asksForUpgrade,
  gatherChunks,
  isOfLiftedDeadline,
  postponeDeadline,
  readThroughStream,
  refusePlainHttp,
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
  /** Without a byte either way. */
  readonly silenceMs: number;
}

const TIMEOUTS: ServerTimeouts = {
  handshakeMs: 10 * SECOND,
  headersMs: 10 * SECOND,
  requestMs: 30 * SECOND,
  silenceMs: 30 * SECOND,
};

/** Half-open ones cost some 50 KiB each. */
const MAX_CONNECTIONS: ConnectionLimits = { most: 10_000, mostPerAddress: 2_000 };

export interface ServerOptions {
  /** What every answer carries beside {@link SECURITY_HEADERS}, one to a broken message too. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeouts?: ServerTimeouts;
  readonly maxConnections?: ConnectionLimits;
}

/** @param answer what Koa makes of the application */
export function createTlsServer(
  identity: TlsIdentity,
  answer: RequestListener,
  { timeouts = TIMEOUTS, ...rest }: ServerOptions = {},
): HttpsServer {
  const options = { ...tlsOptions(identity), ...bounds(timeouts), handshakeTimeout: timeouts.handshakeMs };
  const server = createHttpsServer(options);
  refusePlainHttp(server);
  server.on('secureConnection', readThroughStream);
  return serve(server, answer, { timeouts, ...rest });
}

/**
 * For those who need no TLS: a proxy that ends it, probes on the management port. The bounds are the same, but for that of
 * connections of one address: a proxy makes those of all its clients.
 */
export function createPlainServer(
  answer: RequestListener,
  { timeouts = TIMEOUTS, ...rest }: ServerOptions = {},
): HttpServer {
  const { most } = MAX_CONNECTIONS;
  const maxConnections = { most, mostPerAddress: most };
  const server = createHttpServer(bounds(timeouts));
  server.on('connection', readThroughStream);
  return serve(server, answer, { timeouts, maxConnections, ...rest });
}

/** Shows another certificate to whoever connects from now on; connections that stand are left alone. */
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
    // Above the application's own bounds, so that it can say 414 and 431 itself.
    maxHeaderSize: 64 * 1024,
    // The application says 400 itself.
    requireHostHeader: false,
  };
}

function serve<Kind extends HttpServer | HttpsServer>(
  server: Kind,
  answer: RequestListener,
  { headers: own, timeouts = TIMEOUTS, maxConnections = MAX_CONNECTIONS }: ServerOptions,
): Kind {
  const headers = { ...SECURITY_HEADERS, ...own };
  const fields = Object.entries(headers);
  boundConnections(server, maxConnections);
  // A client that neither sends nor reads is not waited for.
  server.setTimeout(timeouts.silenceMs);
  // Beyond 16 KiB whatever they hold, so that no header is dropped of a request that is served.
  server.maxHeadersCount = 4_200;
  const requests = new PipelinedRequests((request, response) => {
    for (const [name, value] of fields) response.setHeader(name, value);
    if (asksForUpgrade(request)) response.setHeader('Connection', 'close');
    startPostponedDeadline(request, timeouts.requestMs, () => refuse(requestTimeout(), request.socket));
    answer(request, response);
  }, postponeDeadline);
  const refuse = (error: ParserError, socket: Socket) =>
    answerBrokenMessage(error, socket, requests.responsesOn(socket), headers);
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      // Nothing is done for who could not be answered: the connection was closed from this side already.
      if (request.socket.writableEnded) {
        request.socket.destroy();
        return;
      }
      gatherChunks(request, response);
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
