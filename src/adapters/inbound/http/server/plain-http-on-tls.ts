import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

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
