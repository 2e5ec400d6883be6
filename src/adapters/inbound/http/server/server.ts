import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { type Socket, Server as TcpServer } from 'node:net';
import {
  isRequestTimeout,
  type ParserError,
  refuseTunnel,
  requestTimeout,
  respondToClientError,
} from './client-error.js';
import {
  acceptConnections,
  type Connection,
  type ConnectionLimits,
  coalesceChunks,
  connectionOf,
  connectionsOf,
  isChunked,
  limitConnections,
  type Progress,
} from './connection.js';
import { refusePlainHttp, type TlsIdentity, tlsOptions } from './tls.js';

/** The headers of every response that restrict what a browser does with it. The page at /docs overrides some. */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  // Opened as a page, a response runs nothing and loads nothing, and no other page can embed it.
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  // URLs contain search values, for example an e-mail address.
  'Referrer-Policy': 'no-referrer',
  // Keeps the bytes out of the process of pages of other origins. CORS takes precedence.
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/**
 * Makes browsers use only HTTPS for a year (RFC 6797 section 6.1). Subdomains may have another owner, so they are not
 * included.
 */
export const STRICT_TRANSPORT = { 'Strict-Transport-Security': 'max-age=31536000' };

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

// Stalled writes. By hand: when a socket times out during a write, Node compares the size of the write with what is left
// of it, and waits once more if they differ (`_onTimeout` in lib/net.js). With TLS they always differ at first, so a client
// that does not read is disconnected after twice the timeout. Delete this part when Node disconnects it after one.

/** How often a timeout is compared with the clock within its time. */
const CHECKS = 30;

/** What the check of stalled writes reads of a connection, and remembers in it. */
type Sender = Pick<Connection, 'socket'> & Partial<Pick<Connection, 'progress' | 'isWorking'>>;

/** The part of a socket that Node does not document. `_parent` is the TCP connection below TLS. */
interface Handle {
  readonly writeQueueSize?: number;
  readonly _parent?: Handle;
}

/**
 * Disconnects a client to which nothing could be sent, and which has sent nothing, for this time. The idle timeout of
 * Node applies while nothing waits to be sent.
 */
export function limitStalledWrites(server: TcpServer, open: Iterable<Sender>, silenceMs: number): void {
  const check = () => endStalled(open, silenceMs, performance.now());
  const timer = setInterval(check, silenceMs / CHECKS).unref();
  server.once('close', () => clearInterval(timer));
}

/** @param now milliseconds of a clock that never goes back */
export function endStalled(open: Iterable<Sender>, silenceMs: number, now: number): void {
  for (const connection of open) {
    const { socket, progress: last, isWorking } = connection;
    const progress = isWorking || socket.writableLength === 0 ? undefined : progressOf(socket, now);
    if (!last || !progress || hasMoved(last, progress)) connection.progress = progress;
    else if (now - last.since >= silenceMs) socket.destroy();
  }
}

function progressOf(socket: Socket, since: number): Progress {
  const { _handle: handle } = socket as unknown as { readonly _handle?: Handle | null };
  const unsent = (handle?._parent ?? handle)?.writeQueueSize ?? 0;
  return { since, read: socket.bytesRead, written: socket.bytesWritten, unsent };
}

function hasMoved(before: Progress, { read, written, unsent }: Progress): boolean {
  return read !== before.read || written !== before.written || unsent !== before.unsent;
}

// Draining.

/**
 * How long an idle connection stays open during a drain. A request may be on its way; its response closes the
 * connection (`Connection: close`), so a busy client never meets a closed one (RFC 9112 section 9.6).
 */
const IDLE_MS = 500;
/** How long a TLS handshake may still take during a drain. */
const HANDSHAKE_MS = 2_000;
const CHECK_MS = 50;

/**
 * Stops an HTTP or HTTPS server. Running requests are finished, then idle connections are closed, and after a deadline
 * all connections are closed. By hand: Node's `close` and `closeIdleConnections` can cut a response that is being sent.
 */
export class Drain {
  private isStarted = false;
  private readonly servers: TcpServer[];

  constructor(private readonly server: TcpServer) {
    this.servers = [server];
  }

  /** @param other passes its connections to the server */
  add(other: TcpServer): void {
    this.servers.push(other);
  }

  get isDraining(): boolean {
    return this.isStarted;
  }

  /** @returns whether all running requests were finished within `graceMs` */
  async drain(graceMs: number): Promise<boolean> {
    this.isStarted = true;
    const connections = connectionsOf(this.server);
    const startedAt = performance.now();
    // Not `close` of the HTTP server, which destroys connections on which a response is still being sent.
    const closed = Promise.all(
      this.servers.map(
        (server) =>
          new Promise<void>((resolve) => {
            TcpServer.prototype.close.call(server, () => resolve());
          }),
      ),
    );
    let isComplete = true;
    const timer = setInterval(() => {
      const now = performance.now();
      for (const connection of connections) {
        if (now - startedAt >= graceMs) {
          isComplete &&= connection.pipeline.idleSinceMs !== undefined;
          connection.socket.destroy();
        } else if (connection.isEstablished) closeIdle(connection, startedAt, now);
        else if (now - startedAt >= HANDSHAKE_MS) connection.socket.destroy();
      }
    }, CHECK_MS);
    await closed;
    clearInterval(timer);
    return isComplete;
  }
}

/** Ends an idle connection after everything that is still to be sent. A request that arrives later is not served. */
function closeIdle({ socket, pipeline }: Connection, drainSince: number, now: number): void {
  const { idleSinceMs = now } = pipeline;
  if (now - Math.max(idleSinceMs, drainSince) < IDLE_MS) return;
  if (!socket.writableEnded) socket.end();
  else if (socket.writableFinished) socket.destroy();
}
