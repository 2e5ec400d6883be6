import type { Server } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { connectionOf } from '../connection.js';

/** The errors of OpenSSL for plain HTTP. It recognises some methods, and reads the others as a TLS version. */
const NOT_TLS = ['ERR_SSL_HTTP_REQUEST', 'ERR_SSL_HTTPS_PROXY_REQUEST', 'ERR_SSL_WRONG_VERSION_NUMBER'];

/**
 * Responds to plain HTTP on the TLS port. By hand: Node closes the connection without a response (nodejs/node#23331).
 * Delete this file when Node passes a writable socket to the listeners of such an error.
 */
export function refusePlainHttp(server: Server, publicUrl: () => string): void {
  // Runs before Node's own listener, which closes the connection.
  server.prependListener('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    if (!NOT_TLS.includes(error.code ?? '')) return;
    // Writes to the TCP socket, below TLS. The client may already have disconnected.
    connectionOf(socket)
      .tcp.on('error', () => {})
      .write(httpsMeant(publicUrl()));
  });
}

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
