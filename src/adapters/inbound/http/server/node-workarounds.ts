import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { turnInLine } from '../../../../application/turns.js';
import { networkOf, parseAddress } from './ip-address.js';

/** Of a connection the request that has none; the one behind it may have come before this one is closed. */
const lifted = new WeakMap<Socket, IncomingMessage>();
/** The timer of a request whose deadline was postponed, once its time runs. */
const postponed = new WeakMap<IncomingMessage, NodeJS.Timeout | undefined>();

/**
 * Lets a request take as long as its bytes keep coming. The server's `requestTimeout` is one for all its requests: when it
 * runs out for this one, that is let pass; Node tells it once for a request. Silence ends it still.
 */
export function liftDeadline(request: IncomingMessage): void {
  clearTimeout(postponed.get(request));
  const { socket } = request;
  lifted.set(socket, request);
  request.once('close', () => {
    if (lifted.get(socket) === request) lifted.delete(socket);
  });
}

/** Has the time of a request run from {@link startPostponedDeadline} on, and not from its first byte. */
export function postponeDeadline(request: IncomingMessage): void {
  liftDeadline(request);
  postponed.set(request, undefined);
}

/**
 * Does nothing for a request whose deadline was not postponed.
 * @param expire called when the request is still not complete after so many milliseconds
 */
export function startPostponedDeadline(request: IncomingMessage, ms: number, expire: () => void): void {
  if (!postponed.has(request) || request.complete) return;
  const timer = setTimeout(() => {
    if (!request.complete) expire();
  }, ms);
  postponed.set(request, timer.unref());
  request.once('close', () => clearTimeout(timer));
}

/** Whether this error is of the deadline of a request that has none. */
export function isOfLiftedDeadline(error: NodeJS.ErrnoException, socket: Socket): boolean {
  return error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && lifted.get(socket)?.complete === false;
}

/**
 * Reads on from a socket that was paused. Node pauses it too, and its parser with it, while more is to be sent than the socket
 * takes; then it is read on when that has drained. A parser that is paused would take no byte, and report HPE_PAUSED.
 */
export function resumeReading(socket: Socket): void {
  if (socket.writableNeedDrain) socket.once('drain', () => socket.resume());
  else socket.resume();
}

/** A read of 64 KiB brings four chunks of 16 KiB, or ten thousand of one byte, which take some 10 ms. */
const MANY_CHUNKS = 256;

/** Connections that are not read until their turn comes. */
const resting = new WeakSet<Socket>();

/**
 * Gives on the chunks of a request (RFC 9112 section 7.1) in as many pieces as the socket is read, and not one by one: each
 * piece costs some 300 bytes and several calls, however small it is. A connection that brings many chunks at once then waits
 * for its turn, clients in rotation.
 */
export function gatherChunks(request: IncomingMessage, response: ServerResponse): void {
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
    // What one read brings is parsed in one go; microtasks come after it.
    if (chunks.push(chunk) === 1) queueMicrotask(give);
    return request.readableLength < request.readableHighWaterMark;
  };
  // What nobody reads is read and dropped here, or Node would drop it chunk by chunk.
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
  void turnInLine(networkOf(parseAddress(socket.remoteAddress))).then(() => {
    resting.delete(socket);
    socket.off('resume', pauseAgain);
    resumeReading(socket);
  });
}

const UPGRADE_OPTION = /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i;

/**
 * Whether a client asks to go on in another protocol (RFC 9110 section 7.8). The service ignores that, but nothing behind
 * such a request may be taken for a request: Node drops what came with it, and parses on from the middle of what follows.
 */
export function asksForUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined || UPGRADE_OPTION.test(headers.connection ?? '');
}

/** What OpenSSL finds where a peer begins with a method: some it knows, and takes the rest for a version of TLS. */
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

/** Tells a client that speaks plain HTTP that HTTPS is meant, before Node closes its connection. */
export function refusePlainHttp(server: Server): void {
  /** TCP connections on which TLS is not spoken yet. */
  const handshakes = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const ends = endsOf(socket);
    handshakes.set(ends, socket);
    socket.once('close', () => handshakes.delete(ends));
  });
  server.on('secureConnection', (socket: TLSSocket) => handshakes.delete(endsOf(socket)));
  // Before the listener of Node, with which the connection is gone.
  server.prependListener('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    if (!NOT_TLS.includes(error.code ?? '')) return;
    // Writes to the TCP socket, not through TLS. A client that is gone by now misses nothing.
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
