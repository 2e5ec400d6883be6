import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import {
  isRequestTimeout,
  type ParserError,
  refuseTunnel,
  requestTimeout,
  respondToClientError,
} from './client-error.js';
import {
  acceptConnections,
  type ConnectionLimits,
  coalesceChunks,
  connectionOf,
  connectionsOf,
  isChunked,
  limitConnections,
} from './connection.js';
import { SECURITY_HEADERS } from './security-headers.js';
import { type TlsIdentity, tlsOptions } from './tls-options.js';
import { refusePlainHttp } from './workarounds/plain-http.js';
import { limitStalledWrites } from './workarounds/stalled-writes.js';

const SECOND = 1_000;

export interface ServerTimeouts {
  readonly handshakeMs: number;
  readonly headersMs: number;
  /** From the first byte of a request to the last, unless the deadline is lifted. */
  readonly requestMs: number;
  /** How long a connection may have no byte in either direction. */
  readonly silenceMs: number;
}

const TIMEOUTS: ServerTimeouts = {
  handshakeMs: 10 * SECOND,
  headersMs: 10 * SECOND,
  requestMs: 30 * SECOND,
  silenceMs: 30 * SECOND,
};

/** A half-open connection costs about 50 KiB. */
const MAX_CONNECTIONS: ConnectionLimits = { max: 10_000, maxPerAddress: 2_000 };

export interface ServerOptions {
  /** The headers of every response, in addition to {@link SECURITY_HEADERS}. Also sent for malformed messages. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeouts?: ServerTimeouts;
  /** How long the service reads on after the last response of a connection; see `Connection.lingeringClose`. */
  readonly lingerMs?: number;
  readonly maxConnections?: ConnectionLimits;
  /** The URL that the response to plain HTTP on the TLS port names. Known once the server listens. */
  readonly publicUrl?: () => string;
}

/** @param listener called for each request in its turn */
export function createTlsServer(
  identity: TlsIdentity,
  listener: RequestListener,
  serverOptions: ServerOptions = {},
): HttpsServer {
  const { timeouts = TIMEOUTS, publicUrl = () => 'https://localhost' } = serverOptions;
  const options = {
    ...tlsOptions(identity),
    ...serverLimits(timeouts),
    handshakeTimeout: timeouts.handshakeMs,
    // A client that offers only HTTP/1.0 by ALPN (RFC 7301 section 3.2), such as `curl --http1.0`, is served too.
    ALPNProtocols: ['http/1.1', 'http/1.0'],
  };
  const server = createHttpsServer(options);
  refusePlainHttp(server, publicUrl);
  return serve(server, listener, serverOptions, 'secureConnection');
}

/**
 * A server without TLS, for a proxy that terminates TLS and for probes on the management port. It has no limit of
 * connections per address, because a proxy opens the connections of all its clients.
 */
export function createPlainServer(listener: RequestListener, serverOptions: ServerOptions = {}): HttpServer {
  const { max } = MAX_CONNECTIONS;
  const maxConnections = { max, maxPerAddress: max };
  const server = createHttpServer(serverLimits(serverOptions.timeouts ?? TIMEOUTS));
  return serve(server, listener, { maxConnections, ...serverOptions }, 'connection');
}

/** Changes the certificate of new connections. Existing connections are not affected. */
export function replaceIdentity(server: HttpsServer, identity: TlsIdentity): void {
  server.setSecureContext(tlsOptions(identity));
}

function serverLimits(timeouts: ServerTimeouts) {
  return {
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    connectionsCheckingInterval: SECOND,
    // Common proxies keep a connection for 60 s. The longer time lets the proxy close it.
    keepAliveTimeout: 65 * SECOND,
    // Above the limits of the application, which responds with 414 and 431 itself.
    maxHeaderSize: 64 * 1024,
    // The application responds with 400 itself.
    requireHostHeader: false,
  };
}

/** @param ready the event of a connection that is ready for requests */
function serve<Kind extends HttpServer | HttpsServer>(
  server: Kind,
  listener: RequestListener,
  { headers: ownHeaders, timeouts = TIMEOUTS, lingerMs, maxConnections = MAX_CONNECTIONS }: ServerOptions,
  ready: 'connection' | 'secureConnection',
): Kind {
  const headers = { ...SECURITY_HEADERS, ...ownHeaders };
  const headerEntries = Object.entries(headers);
  const begin = (request: IncomingMessage, response: ServerResponse) => {
    // Malformed bytes that arrived with the head have ended the connection.
    if (request.socket.writableEnded) return;
    connectionOf(request.socket).handled = request;
    listener(request, response);
  };
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    for (const [name, value] of headerEntries) response.setHeader(name, value);
    if (requestsUpgrade(request)) response.setHeader('Connection', 'close');
    const expire = () => respondToClientError(requestTimeout(), socket, headers);
    connectionOf(socket).deadline.startFor(request, timeouts.requestMs, expire);
    // The parser first reads what has arrived, so that a malformed body is rejected before the request is handled.
    if (isChunked(request)) queueMicrotask(() => begin(request, response));
    else begin(request, response);
  };
  acceptConnections(server, ready, { handle, lingerMs });
  limitConnections(server, maxConnections);
  limitStalledWrites(server, connectionsOf(server), timeouts.silenceMs);
  // More headers than fit into 16 KiB, so that Node never drops one of an accepted request.
  server.maxHeadersCount = 4_200;
  // Ends the connection of a client that neither sends nor reads. If its request is late as well, it gets the response
  // for that: Node looks for late requests once a second only.
  server.setTimeout(timeouts.silenceMs, (socket: Socket) => {
    const { pipeline, deadline, isWorking } = connectionOf(socket);
    const [oldest] = pipeline.responses;
    // The time counts in which the service waits for its client, not that in which the client waits.
    if (isWorking || (oldest?.req.complete && socket.writableLength === 0)) return;
    if (!oldest || oldest.req.complete || deadline.isLiftedFor(oldest.req)) socket.destroy();
    else respondToClientError(requestTimeout(), socket, headers);
  });
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      const connection = connectionOf(socket);
      connection.isUsed = true;
      // The service has already ended the connection, so no response can be sent.
      if (socket.writableEnded) {
        socket.destroy();
        return;
      }
      coalesceChunks(request, response);
      connection.pipeline.add(request, response);
    });
  }
  server.on('connect', (_request: IncomingMessage, socket: Socket) => refuseTunnel(socket, headers));
  server.on('clientError', (error: ParserError, socket: Socket) => {
    if (isRequestTimeout(error) && connectionOf(socket).deadline.replacesNodes) return;
    respondToClientError(error, socket, headers);
  });
  return server;
}

// Upgrades: after a request with `Upgrade` (RFC 9110 section 7.8), Node drops the bytes that arrived with it and parses
// on in the middle of a message (nodejs/node#60016). Delete this part when every supported Node has the fix.

const UPGRADE_OPTION = /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i;

/** Whether a request asks for another protocol. The service ignores that but must close the connection afterwards. */
function requestsUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined || UPGRADE_OPTION.test(headers.connection ?? '');
}
