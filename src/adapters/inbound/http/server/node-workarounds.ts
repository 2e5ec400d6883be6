/**
 * Workarounds for Node's HTTP server. Each part names the Node issue or the RFC, and says when it can be deleted.
 * `pipelining.ts` is another one.
 */
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { yieldFairly } from '../../../../shared/event-loop.js';
import { peerNetwork } from './ip-address.js';

// Request deadlines: `server.requestTimeout` applies to all requests and cannot be changed for one request
// (nodejs/node#46574, nodejs/help#4120). Delete this part when a request can have its own timeout.

/** The request without a deadline of each connection. The next request can arrive before this one is closed. */
const lifted = new WeakMap<Socket, IncomingMessage>();
/** The timer of each request with a postponed deadline; undefined until the request starts. */
const postponed = new WeakMap<IncomingMessage, NodeJS.Timeout | undefined>();

/**
 * Removes the deadline of a request. The timeout of idle connections still applies. When the server's `requestTimeout`
 * expires for this request, {@link isOfLiftedDeadline} recognises the error. Node reports it once per request.
 */
export function liftDeadline(request: IncomingMessage): void {
  clearTimeout(postponed.get(request));
  postponed.delete(request);
  const { socket } = request;
  lifted.set(socket, request);
  request.once('close', () => {
    if (lifted.get(socket) === request) lifted.delete(socket);
  });
}

/** Makes the deadline of a request count from {@link startPostponedDeadline} instead of from its first byte. */
export function postponeDeadline(request: IncomingMessage): void {
  liftDeadline(request);
  postponed.set(request, undefined);
}

/**
 * Starts a postponed deadline. Does nothing for other requests.
 * @param expire called if the request is not complete after this many milliseconds
 */
export function startPostponedDeadline(request: IncomingMessage, ms: number, expire: () => void): void {
  if (!postponed.has(request) || request.complete) return;
  const timer = setTimeout(() => {
    if (!request.complete) expire();
  }, ms);
  postponed.set(request, timer.unref());
  request.once('close', () => clearTimeout(timer));
}

/** Whether {@link liftDeadline} was called for a request that is not complete. */
export function isDeadlineLifted(request: IncomingMessage): boolean {
  return lifted.get(request.socket) === request && !postponed.has(request);
}

/** Whether an error is the timeout of a request whose deadline was lifted. */
export function isOfLiftedDeadline(error: NodeJS.ErrnoException, socket: Socket): boolean {
  return error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && lifted.get(socket)?.complete === false;
}

// Pausing a connection: Node pauses a socket and its parser while the socket cannot send more. A paused parser accepts
// no bytes and reports HPE_PAUSED (nodejs/node#3332). Delete this part when a documented function can pause a
// connection.

/** Resumes a paused socket: at once, or when it has drained if Node paused it too. */
export function resumeReading(socket: Socket): void {
  if (socket.writableNeedDrain) socket.once('drain', () => socket.resume());
  else socket.resume();
}

/**
 * Makes Node's parser read a connection through its stream, so that a pause also stops data that TLS has already
 * decrypted. Must be called as soon as Node has created the parser: later, a request that follows a large response can
 * stay unread, because the stream believes that it reads already.
 */
export function readThroughStream(socket: Socket): void {
  socket.on('data', () => {});
}

// Closing: after a response with `Connection: close`, Node closes the connection although the client may still send, such
// as the rest of a body or another request. That resets the connection, and the client can lose the response (RFC 9112
// section 9.6). Delete this part when Node reads on until the client has closed its side.

/** How long the input is read and dropped after the kernel has taken the last byte to the client. */
const LINGER_MS = 1_000;

/**
 * Ends a connection after what is still to be sent, and drops what the client still sends. The connection is closed when
 * the client closes its side, or `lingerMs` after the kernel has taken the last byte.
 */
export function closeInStages(socket: Socket, lingerMs = LINGER_MS): void {
  // Node's parser does not read what follows.
  socket.removeAllListeners('data').resume();
  socket.end();
  const close = () => {
    const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
    socket.once('close', () => clearTimeout(timer));
  };
  if (socket.writableFinished) close();
  else socket.once('finish', close);
}

/** Makes Node close a connection in stages after its last response. Call it for each new connection. */
export function closeInStagesAfterResponses(socket: Socket, lingerMs = LINGER_MS): void {
  let isClosing = false;
  socket.destroySoon = () => {
    if (!isClosing) closeInStages(socket, lingerMs);
    isClosing = true;
  };
}

// Broken responses: Node closes the connection of a response that it destroys in order (FIN). Where only the end of the
// connection tells the length of a body, as in HTTP/1.0 (RFC 9112 section 6.3, the last rule), the client then takes it
// for complete. Delete this part when Node resets the connection.

/**
 * Resets the connection (RST, RFC 9293 section 3.5.2), without the `close_notify` of TLS, if it is destroyed before a
 * response has been passed on to its end. Call it for each new connection.
 * @param tcp the connection itself, or that below TLS
 * @param isIncomplete whether a response on the connection has begun and has not ended
 */
export function resetIfIncomplete(connection: Socket, tcp: Socket, isIncomplete: () => boolean): void {
  const destroy = connection.destroy.bind(connection);
  let isReset = false;
  connection.destroy = (...args) => {
    // A connection without a peer is closed already.
    if (!isReset && tcp.remoteAddress !== undefined && isIncomplete()) {
      isReset = true;
      tcp.resetAndDestroy();
    }
    // At once: `resetAndDestroy` alone would first send what waits, which a client that does not read prevents.
    return destroy(...args);
  };
}

// Idle connections: from Node 26.4 on, `closeIdleConnections` also closes connections whose first request is still on its
// way, also the one that is being accepted (nodejs/node#63470). Delete this part when Node can tell them apart.

/** Returns a function that closes the connections that wait for a further request, but not for their first one. */
export function closerOfIdleConnections(server: HttpServer | Server): () => void {
  const withoutRequest = new WeakSet<Socket>();
  let isClosing = false;
  const protect = (socket: Socket) => {
    withoutRequest.add(socket);
    const destroy = socket.destroy.bind(socket);
    socket.destroy = (...args) => (isClosing && withoutRequest.has(socket) ? socket : destroy(...args));
  };
  server.on('setSecureContext' in server ? 'secureConnection' : 'connection', protect);
  for (const event of ['request', 'checkContinue', 'checkExpectation'])
    server.prependListener(event, ({ socket }: IncomingMessage) => withoutRequest.delete(socket));
  return () => {
    isClosing = true;
    server.closeIdleConnections();
    isClosing = false;
  };
}

// Silence: when a socket times out during a write, Node compares the size of the write with what is left of it, and
// waits once more if they differ (`_onTimeout` in lib/net.js). With TLS they always differ at first, so a client that
// does not read is disconnected after twice the timeout. Delete this part when Node disconnects it after one.

/** How often a timeout is compared with the clock within its time. */
const CHECKS = 30;

/** What a socket has moved. A change of any number is a byte in one direction. */
interface Progress {
  readonly since: number;
  readonly read: number;
  readonly written: number;
  /** The bytes that the kernel has not accepted yet. */
  readonly unsent: number;
}

/** The part of a socket that Node does not document. `_parent` is the TCP connection below TLS. */
interface Handle {
  readonly writeQueueSize?: number;
  readonly _parent?: Handle;
}

/**
 * Disconnects a client to which nothing could be sent, and which has sent nothing, for this time. The idle timeout of
 * Node applies while nothing waits to be sent.
 */
export function limitStalledWrites(server: HttpServer | Server, connected: string, silenceMs: number): void {
  const writes = new StalledWrites(silenceMs);
  server.on(connected, (socket: Socket) => writes.watch(socket));
  const timer = setInterval(() => writes.check(performance.now()), silenceMs / CHECKS).unref();
  server.once('close', () => clearInterval(timer));
}

/** The sockets that {@link limitStalledWrites} watches. */
export class StalledWrites {
  private readonly open = new Set<Socket>();
  private readonly stalled = new WeakMap<Socket, Progress>();

  constructor(private readonly silenceMs: number) {}

  watch(socket: Socket): void {
    this.open.add(socket);
    socket.once('close', () => this.open.delete(socket));
  }

  /** @param now milliseconds of a clock that never goes back */
  check(now: number): void {
    for (const socket of this.open) {
      if (socket.writableLength === 0) {
        this.stalled.delete(socket);
        continue;
      }
      const last = this.stalled.get(socket);
      const progress = progressOf(socket, now);
      if (!last || hasMoved(last, progress)) this.stalled.set(socket, progress);
      else if (now - last.since >= this.silenceMs) socket.destroy();
    }
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

// Chunks: Node passes on each chunk of a body (RFC 9112 section 7.1) separately. Even the smallest one costs about 300
// bytes and several calls. Delete this part when Node joins the chunks of one read.

/** A read of 64 KiB contains four chunks of 16 KiB, or ten thousand of one byte, which take about 10 ms. */
const MANY_CHUNKS = 256;

/** Connections that are paused until their turn comes. */
const waitingForTurn = new WeakSet<Socket>();

/** Whether the body has chunks, so that the parser can still find an error behind the headers. */
export function isChunked({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined;
}

/**
 * Joins the chunks of one read of the socket. If one read has many chunks, the connection then waits for its turn among
 * all clients.
 */
export function coalesceChunks(request: IncomingMessage, response: ServerResponse): void {
  if (!isChunked(request)) return;
  // Node's parser passes on each chunk by `push`.
  const push = request.push.bind(request);
  let chunks: Buffer[] = [];
  const flush = () => {
    const joined = chunks;
    if (joined.length === 0) return;
    chunks = [];
    push(joined.length === 1 ? joined[0] : Buffer.concat(joined));
    if (joined.length > MANY_CHUNKS) pauseUntilTurn(request.socket);
  };
  request.push = (chunk: Buffer | null) => {
    if (chunk === null) {
      flush();
      return push(null);
    }
    // Microtasks run after the parser has handled the whole read.
    if (chunks.push(chunk) === 1) queueMicrotask(flush);
    return request.readableLength < request.readableHighWaterMark;
  };
  // Drops a body that nobody reads. Otherwise Node would drop it chunk by chunk.
  response.prependOnceListener('finish', () => {
    if (request.readableEnded) return;
    request.read(0);
    request.resume();
  });
}

function pauseUntilTurn(socket: Socket): void {
  if (waitingForTurn.has(socket)) return;
  waitingForTurn.add(socket);
  socket.pause();
  // Node resumes a socket whenever a body is read.
  const pauseAgain = () => socket.pause();
  socket.on('resume', pauseAgain);
  void yieldFairly(peerNetwork(socket)).then(() => {
    waitingForTurn.delete(socket);
    socket.off('resume', pauseAgain);
    resumeReading(socket);
  });
}

// Upgrades: after a request with `Upgrade` (RFC 9110 section 7.8), Node drops the bytes that arrived with it and parses
// on in the middle of a message (nodejs/node#60016). Delete this part when every supported Node has the fix.

const UPGRADE_OPTION = /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i;

/** Whether a request asks for another protocol. The service ignores that but must close the connection afterwards. */
export function requestsUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined || UPGRADE_OPTION.test(headers.connection ?? '');
}

// Plain HTTP on the TLS port: Node closes the connection without a response (nodejs/node#23331). Delete this part when
// Node passes a writable socket to the listeners of such an error.

/** The errors of OpenSSL for plain HTTP. It recognises some methods, and reads the others as a TLS version. */
const NOT_TLS = ['ERR_SSL_HTTP_REQUEST', 'ERR_SSL_HTTPS_PROXY_REQUEST', 'ERR_SSL_WRONG_VERSION_NUMBER'];

/** @param url the public URL, in ASCII; never a text from the request */
function httpsMeant(url: string): string {
  const text = `This port serves HTTPS alone: use https:// in the address, as in ${url}\n`;
  return [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${text.length}`,
    'Connection: close',
    '',
    text,
  ].join('\r\n');
}

/** Finds the TCP connection below a TLS connection. */
export type TcpBelow = (connection: TLSSocket) => Socket | undefined;

/** Call it before other listeners of the server. */
export function tcpConnections(server: Server): TcpBelow {
  const open = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const key = connectionKey(socket);
    open.set(key, socket);
    socket.once('close', () => open.delete(key));
  });
  return (connection) => open.get(connectionKey(connection));
}

/** Responds to plain HTTP on the TLS port before Node closes the connection. */
export function refusePlainHttp(server: Server, tcpBelow: TcpBelow, publicUrl: () => string): void {
  // Runs before Node's own listener, which closes the connection.
  server.prependListener('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    if (!NOT_TLS.includes(error.code ?? '')) return;
    // Writes to the TCP socket, below TLS. The client may already have disconnected.
    tcpBelow(socket)
      ?.on('error', () => {})
      .write(httpsMeant(publicUrl()));
  });
}

/** Identifies a connection by the addresses and ports of both ends. */
function connectionKey({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
