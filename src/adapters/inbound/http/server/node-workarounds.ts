/**
 * What the service needs of Node's HTTP server and does not get from it. Each part names the Node issue or the RFC,
 * and the condition on which it can be deleted. `pipelining.ts` is one too.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { yieldFairly } from '../../../../shared/event-loop.js';
import { networkOf, parseAddress } from './ip-address.js';

// Request deadlines: `server.requestTimeout` is one for all requests, and cannot be changed for a single one
// (nodejs/node#46574, nodejs/help#4120). Delete this part when a request can have its own timeout.

/** By connection, the request without a deadline. The next request can arrive before this one is closed. */
const lifted = new WeakMap<Socket, IncomingMessage>();
/** The timer of a request with a postponed deadline, from its start on. */
const postponed = new WeakMap<IncomingMessage, NodeJS.Timeout | undefined>();

/**
 * Lets a request take as long as its bytes keep coming; silence still ends it. When the server's `requestTimeout`
 * expires for this request, {@link isOfLiftedDeadline} recognises the error. Node reports it once per request.
 */
export function liftDeadline(request: IncomingMessage): void {
  clearTimeout(postponed.get(request));
  const { socket } = request;
  lifted.set(socket, request);
  request.once('close', () => {
    if (lifted.get(socket) === request) lifted.delete(socket);
  });
}

/** Starts the time of a request with {@link startPostponedDeadline}, instead of with its first byte. */
export function postponeDeadline(request: IncomingMessage): void {
  liftDeadline(request);
  postponed.set(request, undefined);
}

/**
 * Does nothing for a request whose deadline was not postponed.
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

export function isOfLiftedDeadline(error: NodeJS.ErrnoException, socket: Socket): boolean {
  return error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && lifted.get(socket)?.complete === false;
}

// Pausing a connection: Node pauses a socket, and its parser, while more is to be sent than the socket takes. A
// paused parser takes no byte and reports HPE_PAUSED (nodejs/node#3332). Delete this part when a server can pause a
// connection through a documented function.

/** Reads on from a paused socket, if Node itself does not hold it back; else when the socket has drained. */
export function resumeReading(socket: Socket): void {
  if (socket.writableNeedDrain) socket.once('drain', () => socket.resume());
  else socket.resume();
}

/**
 * Makes Node's parser read a connection through its stream. By default it reads below the stream, where a pause does
 * not stop what TLS has already decrypted. A later change can leave the connection paused, so this comes first, when
 * Node has just created the parser.
 */
export function readThroughStream(socket: Socket): void {
  socket.on('data', () => {});
}

// Chunks: Node hands over each chunk of a body (RFC 9112 section 7.1) by itself, at some 300 bytes and several calls,
// however small it is. Delete this part when Node joins the chunks of one read.

/** A read of 64 KiB brings four chunks of 16 KiB, or ten thousand of one byte, which take some 10 ms. */
const MANY_CHUNKS = 256;

/** Connections that are not read until their turn comes. */
const resting = new WeakSet<Socket>();

/**
 * Joins the chunks that one read of the socket brings. A connection that brings many chunks at once then waits for its
 * turn, with clients in rotation.
 */
export function coalesceChunks(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers['transfer-encoding'] === undefined) return;
  // Node's parser hands over each chunk by `push`.
  const push = request.push.bind(request);
  let chunks: Buffer[] = [];
  const give = () => {
    const given = chunks;
    if (given.length === 0) return;
    chunks = [];
    push(given.length === 1 ? given[0] : Buffer.concat(given));
    if (given.length > MANY_CHUNKS) rest(request.socket);
  };
  request.push = (chunk: Buffer | null) => {
    if (chunk === null) {
      give();
      return push(null);
    }
    // Microtasks run after everything that one read brought is parsed.
    if (chunks.push(chunk) === 1) queueMicrotask(give);
    return request.readableLength < request.readableHighWaterMark;
  };
  // A body that nobody reads is dropped here, or Node would drop it chunk by chunk.
  response.prependOnceListener('finish', () => {
    if (request.readableEnded) return;
    request.read(0);
    request.resume();
  });
}

function rest(socket: Socket): void {
  if (resting.has(socket)) return;
  resting.add(socket);
  socket.pause();
  // Node resumes a socket whenever a body is read.
  const pauseAgain = () => socket.pause();
  socket.on('resume', pauseAgain);
  void yieldFairly(networkOf(parseAddress(socket.remoteAddress))).then(() => {
    resting.delete(socket);
    socket.off('resume', pauseAgain);
    resumeReading(socket);
  });
}

// Upgrades: behind a request that asks for another protocol (RFC 9110 section 7.8), Node drops the bytes that came
// with it and parses on from the middle of what follows (see nodejs/node#60016). Delete this part when every
// supported Node has that fix.

const UPGRADE_OPTION = /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i;

/** Whether a client asks for another protocol. The service ignores that, but must read no further request behind it. */
export function requestsUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined || UPGRADE_OPTION.test(headers.connection ?? '');
}

// Plain HTTP on the TLS port: Node closes the connection without a response (nodejs/node#23331). Delete
// this part when Node reports such a client with a socket that can be written to.

/** The errors of OpenSSL when a peer begins with a method. It knows some, and takes the others for a version of TLS. */
const NOT_TLS = ['ERR_SSL_HTTP_REQUEST', 'ERR_SSL_HTTPS_PROXY_REQUEST', 'ERR_SSL_WRONG_VERSION_NUMBER'];

const TEXT = 'This port serves HTTPS alone: use https:// in the address.\n';
const RESPONSE = [
  'HTTP/1.1 400 Bad Request',
  'Content-Type: text/plain; charset=utf-8',
  `Content-Length: ${TEXT.length}`,
  'Connection: close',
  '',
  TEXT,
].join('\r\n');

/** Tells a client that speaks plain HTTP to use HTTPS, before Node closes its connection. */
export function refusePlainHttp(server: Server): void {
  /** TCP connections whose TLS handshake is not complete. */
  const handshakes = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const ends = endsOf(socket);
    handshakes.set(ends, socket);
    socket.once('close', () => handshakes.delete(ends));
  });
  server.on('secureConnection', (socket: TLSSocket) => handshakes.delete(endsOf(socket)));
  // Before Node's own listener, which closes the connection.
  server.prependListener('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    if (!NOT_TLS.includes(error.code ?? '')) return;
    // Writes to the TCP socket, not through TLS. The client may be gone already.
    handshakes
      .get(endsOf(socket))
      ?.on('error', () => {})
      .write(RESPONSE);
  });
}

/** A connection is the only one between its two ends. */
function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
